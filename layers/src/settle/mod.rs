//! What `catch` and `conform` share: a turn that ends with one terminal event, whatever
//! happens below.

mod fold;
mod service;
mod stream;

pub use self::stream::SettleStream;

pub(crate) use self::service::Settle;
