//! Bindings of the operations to wires.
//!
//! A binding decodes, calls and encodes; every check that is the same on all wires sits in the
//! server. [`JsonRpc`] is JSON-RPC 2.0 over HTTP with event streams, and serves the card:
//!
//! ```
//! # use portcullis_a2a::{binding::JsonRpc, server::Server};
//! fn app(server: Server) -> JsonRpc {
//!     JsonRpc::new(server).path("/agent")
//! }
//! ```
//!
//! It is a `tower` service of HTTP requests with any body, so it mounts in axum
//! (`Router::fallback_service`), hyper (`TowerToHyperService`) and tonic
//! (`Routes::from(router)`) alike; `examples/src/bin` has one program for each.
//!
//! # Who calls
//!
//! A layer in front authenticates and puts a [`Principal`](portcullis::Principal) into the
//! extensions of the request. Nothing in a body or another header makes one.

mod body;
mod card;
mod envelope;
mod error;
mod json_rpc;
mod media_type;
mod parameters;
mod read;
mod reply;
mod settings;
mod sse;

pub use self::{
    body::ResponseBody,
    json_rpc::{JsonRpc, ResponseFuture},
};
