//! The model as gRPC has it.
//!
//! The messages are generated from `proto/a2a.proto`. Into them go values of the model
//! ([`Proto`]); out of them comes the JSON of the protocol ([`json`]), which the one decoder of the
//! model then reads. So what is required, how large things may be and how a fault is named is the
//! same on every wire (A2A-GRPC-8, O-G04). Nothing of JSON-RPC ever comes through here.
//!
//! What protobuf cannot hold: a number of metadata or data is a 64-bit float, so integers beyond
//! 2^53 are rounded and `1.0` is `1` (A2A-DATA-11); a number beyond all floats is the largest one.
//! Members of such objects are sorted by name. Readers of protobuf follow about 30 levels of JSON,
//! ours too, where JSON may have 144.

#[macro_use]
mod map;
mod card;
mod codec;
mod generated;
mod part;
mod push;
mod request;
mod status;
mod task;
mod text;
#[cfg(feature = "client")]
mod told;
mod value;

#[cfg(test)]
mod tests;

#[cfg(feature = "client")]
pub(crate) use self::told::error_of;
pub(crate) use self::{
    codec::Codec,
    generated::{a2a, rpc},
    map::Proto,
    status::status_of,
    text::{Text, json},
};
