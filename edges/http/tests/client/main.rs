//! The client against the server and against whatever else may answer, in one process and over sockets.

mod bridge;
mod chains;
mod hops;
mod misbehaviour;
mod resuming;
mod suite;
mod support;

#[path = "../../../../tests/wire_props/arbitrary.rs"]
mod arbitrary;
#[expect(dead_code, reason = "only the comparison is used here")]
#[path = "../../../../fuzz/src/wire.rs"]
mod wire;
