//! Taking a stream up again that was cut.

mod content;
mod policy;
mod recovery;
mod seen;
mod stream;

pub use self::{policy::Resume, stream::ResumedStream};
