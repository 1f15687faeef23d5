//! Where webhooks and their cursors live.

mod memory;
mod port;
#[cfg(feature = "testing")]
pub mod suite;

pub use self::{
    memory::MemoryPushStore,
    port::{PushStore, PutError, Registration, Retired},
};
