//! The JSON-RPC binding, called as a service.

mod envelope;
mod flaky_log;
mod gate;
mod golden;
mod names;
mod streams;
mod support;
mod trace;
