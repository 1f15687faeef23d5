//! The server, over in-process requests on a paused clock, and over sockets.

mod bounds;
mod detached;
mod ends;
mod refusals;
mod requests;
mod scope;
mod sockets;
mod streams;
mod support;
mod visits;

#[expect(dead_code, reason = "bodies hold no events")]
#[path = "../../../../tests/wire_props/arbitrary.rs"]
mod arbitrary;
#[path = "../../../../fuzz/src/turn_request.rs"]
mod turn_request;
