//! Webhooks: the updates of a task, posted to whoever asked for them (section 4.3).
//!
//! A webhook is one more reader of a task's log, with a cursor that is stored: nothing of it
//! is on the way of an update. Each one has a courier, which reads what comes after the
//! cursor, delivers it, and moves the cursor. So a webhook gets every update, in order, at
//! least once, whatever fails in between: the receiver, this process, or the call that asked.
//!
//! What is delivered, and when it is given up, is up to the [`PushLimits`] among the [`Limits`](super::Limits). Where it may go is decided
//! twice: at registration by what the URL says ([`Screening`]), and at delivery by whoever
//! dials, since a name may have moved ([`is_public_address`] is there for that).

mod address;
mod config;
mod courier;
mod couriers;
mod deliver;
#[cfg(feature = "push")]
mod http;
mod limits;
mod screening;
mod stats;
mod store;

pub(super) use self::couriers::Couriers;
#[cfg(feature = "push")]
pub use self::http::HttpDelivery;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::store::suite;
pub use self::{
    address::is_public_address,
    config::Push,
    deliver::{Deliver, Delivery, DeliveryFuture, Outcome},
    limits::PushLimits,
    screening::Screening,
    stats::PushStats,
    store::{MemoryPushStore, PushStore, PutError, Registration, Retired},
};
