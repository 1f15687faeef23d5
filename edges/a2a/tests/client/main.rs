//! The client against servers that misbehave in every known way.

mod card;
mod framing;
mod replies;
mod requests;
mod rest;
mod support;
