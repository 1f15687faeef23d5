//! Serving and calling, over pipes where time matters and over loopback where sockets do.

mod client;
mod server;
mod support;
mod tls;
