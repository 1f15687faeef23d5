//! The JSON-RPC binding, called as a service.

mod envelope;
mod golden;
mod names;
mod streams;
mod support;
