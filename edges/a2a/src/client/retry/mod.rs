//! Trying calls again that may be.

mod budget;
mod retries;
mod unsent;

pub(super) use self::retries::Attempts;
pub use self::{retries::Retries, unsent::Unsent};
