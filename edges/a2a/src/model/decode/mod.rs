//! Reading ProtoJSON in one pass, noting every fault on the way.
//!
//! Derived decoders stop at the first fault and know neither aliases that exclude one
//! another nor where they are; this one goes on, with the path at hand.

#[macro_use]
mod message;
mod context;
mod depth;
mod kind;
mod object;
mod scalar;
mod text;
mod wire;

use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::value::RawValue;

use super::{Bounds, Invalid};

#[cfg(feature = "grpc")]
pub(crate) use self::text::string_of;
pub(super) use self::{
    context::Context,
    kind::{Id, Kind, Length, PageSize, PageToken, Plain, WebhookUrl},
    object::{Field, Object, read_object, read_slot},
    scalar::{Bytes, decode_base64, read_raw},
    text::one_line,
    wire::{Blank, Member, Read, Wire},
};

/// What [`decode_request`] and [`decode_response`] read: every type of the model. Sealed.
pub trait Decode: sealed::Sealed + Sized {
    #[doc(hidden)]
    fn decode(text: &str, bounds: Option<&Bounds>) -> Result<Self, Invalid>;
}

mod sealed {
    pub trait Sealed {}
    impl<T: super::Wire> Sealed for T {}
}

/// Reads what a client sent: strictly, within the default [`Bounds`].
///
/// # Errors
/// When the text is not JSON, or anything in it is not as the protocol has it; all faults
/// that were found at once.
pub fn decode_request<T: Decode>(text: &str) -> Result<T, Invalid> {
    decode_request_within(text, &Bounds::default())
}

/// Reads what a client sent: strictly, within bounds.
///
/// # Errors
/// As [`decode_request`].
pub fn decode_request_within<T: Decode>(text: &str, bounds: &Bounds) -> Result<T, Invalid> {
    T::decode(text, Some(bounds))
}

/// Reads what a server sent or a store kept: leniently.
///
/// # Errors
/// When the text is not JSON, or has something of a wrong type, or lacks what gives it a
/// meaning.
pub fn decode_response<T: Decode>(text: &str) -> Result<T, Invalid> {
    T::decode(text, None)
}

impl<T: Wire> Decode for T {
    fn decode(text: &str, bounds: Option<&Bounds>) -> Result<T, Invalid> {
        if !depth::is_within(text, bounds.copied().unwrap_or_default().depth) {
            return Err(Invalid::one("", "nests too deep"));
        }
        let mut cx = Context::new(bounds.copied());
        let mut deserializer = serde_json::Deserializer::from_str(text);
        let read = T::read(&mut cx, &mut deserializer)
            .and_then(|read| deserializer.end().map(|()| read))
            .map_err(|error| Invalid::one("", format!("not JSON: {error}")))?;
        match read {
            Read::Value(value) if cx.is_clean() => Ok(value),
            Read::Unset => Err(Invalid::one("", "must not be null")),
            Read::Value(_) | Read::Wrong => Err(cx.into_invalid()),
        }
    }
}

/// `Deserialize` of every type of the model.
pub(super) fn deserialize<'de, D: Deserializer<'de>, T: Wire>(
    deserializer: D,
) -> Result<T, D::Error> {
    let raw = Box::<RawValue>::deserialize(deserializer)?;
    decode_response(raw.get()).map_err(D::Error::custom)
}
