//! JSON-RPC 2.0 over HTTP: one endpoint, every call a POST.

mod envelope;
mod error;
mod reply;
mod service;

pub use self::service::JsonRpc;
