//! JSON-RPC 2.0 over HTTP: one endpoint, every call a POST.

mod envelope;
mod error;
mod reply;
mod service;
#[cfg(feature = "v0_3")]
mod v0_3;

pub use self::service::JsonRpc;
