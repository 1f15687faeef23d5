//! The data model of version 0.3, as far as it differs: read into and written from the one model.
//!
//! It has two JSON forms, which bindings choose by a [`Form`]. What does not survive the way
//! (A2A-COMPAT-5): the tenant is dropped, of several `schemes` of a webhook the first stays, a text
//! loses its media type, and data that is no object is wrapped and marked.

mod artifact;
mod card;
mod error;
mod event;
mod form;
mod message;
mod method;
mod part;
mod push;
mod request;
mod security;
mod state;
mod task;

pub(crate) use self::{
    card::hybrid,
    error::ErrorObject,
    event::ends_stream,
    form::{Form, Written},
    method::{method, operation},
    request::{decode_create, decode_params, decode_send},
};
