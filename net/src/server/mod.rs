//! Serves one service on one listener, and ends when it is told to.

mod bind;
mod body;
mod connection;
mod executor;
mod listener;
mod serve;
mod stall;
#[cfg(feature = "tls")]
mod tls;

#[cfg(feature = "tls")]
pub use self::tls::{Tls, TlsError};
pub use self::{
    bind::{BindError, bind},
    body::StreamBody,
    connection::Peer,
    listener::Listener,
    serve::{Server, Stopped},
};
