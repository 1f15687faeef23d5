//! The bindings, called as services.

mod bodies;
mod both;
mod breaches;
mod content;
mod cutting;
mod envelope;
mod flaky_log;
mod gate;
mod golden;
mod grpc;
mod limits;
mod metadata;
mod names;
mod operations;
mod peer;
mod rest;
mod rest_golden;
mod resume;
mod shape;
mod streams;
mod support;
mod trace;
#[cfg(feature = "v0_3")]
mod v0_3;
mod webhooks;
mod wires;
