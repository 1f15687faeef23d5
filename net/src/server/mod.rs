//! Serves one service on one listener, and ends when it is told to.

mod bind;
mod body;
mod connection;
mod executor;
mod listener;
mod serve;

pub use self::{
    bind::{BindError, bind},
    body::StreamBody,
    connection::Peer,
    listener::Listener,
    serve::{Server, Stopped},
};
