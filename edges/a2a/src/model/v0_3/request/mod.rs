//! What clients of version 0.3 send, read strictly, with its own names in whatever is wrong.

mod configuration;
mod message;
mod part;
mod proto;
mod role;
mod rpc;
mod webhook;

pub(crate) use self::{
    proto::{decode_create, decode_send},
    rpc::decode_params,
};
