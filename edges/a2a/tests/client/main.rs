//! The client against servers that misbehave in every known way.

mod bad_server;
mod card;
mod credentials;
mod discovery;
mod errors;
mod framing;
mod pages;
mod raw;
mod replies;
mod requests;
mod rest;
mod resume;
mod retry;
mod scripted;
#[cfg(feature = "sign")]
mod signed_cards;
mod site;
mod support;
