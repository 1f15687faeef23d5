//! Bounds that only exist for their messages: the compiler says no more than "type
//! mismatch" of an associated type, and not what to do about it.

use std::convert::Infallible;

use crate::AgentEvent;

#[diagnostic::on_unimplemented(
    message = "an agent has no error beside its stream, and this service has `{Self}`",
    label = "the error of this service has to be `Infallible`",
    note = "put `CatchLayer` of `portcullis-layers` around the service: it turns errors into `failed` events",
    note = "or answer with a stream that ends with `AgentEvent::Failed`, and let the error be `Infallible`"
)]
pub trait NoError {}

impl NoError for Infallible {}

#[diagnostic::on_unimplemented(
    message = "an agent answers with a stream of `AgentEvent`, and this stream yields `{Self}`",
    label = "the items of its stream have to be `AgentEvent`",
    note = "map the items, as with `stream.map(AgentEvent::text)`, and end with `AgentEvent::completed()`"
)]
pub trait Event {}

impl Event for AgentEvent {}
