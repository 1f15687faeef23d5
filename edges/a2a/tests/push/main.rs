//! Webhooks: what is registered, what is delivered, in which order, how often, and when it ends.
//!
//! The receiver is a script, time is paused, and the server is the real one.

mod delivery;
mod leaving;
mod registration;
mod support;
mod wire;
