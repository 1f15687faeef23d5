//! Bindings of the operations to wires.

mod body;
mod card;
mod envelope;
mod error;
mod media_type;
mod parameters;
mod read;
mod reply;
mod sse;

pub use self::body::ResponseBody;
