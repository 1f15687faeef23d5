//! The server, over in-process requests on a paused clock, and over sockets.

mod bounds;
mod detached;
mod ends;
mod refusals;
mod scope;
mod sockets;
mod streams;
mod support;
