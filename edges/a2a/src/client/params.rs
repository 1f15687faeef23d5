//! What calls take and give, in the form of each wire.

#[cfg(not(feature = "grpc"))]
mod json {
    use serde::Serialize;

    use crate::model::Decode;

    /// What a call takes.
    pub(in crate::client) trait Params: Serialize {}

    impl<T: Serialize> Params for T {}

    /// What it gives.
    pub(in crate::client) trait Answer: Decode {}

    impl<T: Decode> Answer for T {}
}

#[cfg(not(feature = "grpc"))]
pub(super) use self::json::{Answer, Params};
#[cfg(feature = "grpc")]
pub(super) use super::grpc::{Answer, Params};
