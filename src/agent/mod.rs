//! What an agent is, and how it is called.

mod agent_fn;
mod boxed;
mod emitter;
mod ext;
mod invoke;
mod message;

use std::convert::Infallible;

use futures_core::Stream;
use tower_service::Service;

use crate::{AgentEvent, Prompt, Scope};

pub use self::{
    agent_fn::{AgentFn, AgentFnStream, AgentFnWith, agent_fn, agent_fn_with},
    boxed::{BoxAgent, BoxEventStream},
    emitter::{Emit, Emitter, Emitting, Step, emitting},
    ext::AgentExt,
    invoke::Invoke,
};

/// A [`Service`] that takes a [`Scope`] and a [`Prompt`] and answers with a stream of
/// [`AgentEvent`]s.
///
/// This is a name for those bounds: every service that fits has it, and nobody
/// implements it. The error is [`Infallible`], since a failure is the last event of a
/// turn and never a second channel (Agent Handler, MUST 2).
///
/// The types cannot say the rest of the contract; the suites of the feature
/// `conformance` check it:
///
/// 1. A stream that is read to its end ends with exactly one terminal event.
/// 2. A failure is a `failed` event: neither the call nor the stream panics.
/// 3. Dropping the call or the stream stops the work before `drop` returns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an agent",
    label = "not a `Service<(Scope, Prompt)>` with a stream of `AgentEvent` and no error",
    note = "an agent is a `tower::Service<(Scope, Prompt)>` whose response is a `Stream<Item = AgentEvent>` and whose error is `Infallible`",
    note = "to write one as an async function, use `portcullis::agent_fn`",
    note = "if the error is another type, put `CatchLayer` of `portcullis-layers` around the service: it turns errors into `failed` events",
    note = "if the stream yields something else, map its items to `AgentEvent`"
)]
pub trait Agent:
    Service<(Scope, Prompt), Response: Stream<Item = AgentEvent>, Error = Infallible>
{
}

impl<S> Agent for S
where
    S: Service<(Scope, Prompt), Error: message::NoError>,
    S: Service<(Scope, Prompt), Error = Infallible>,
    S::Response: Stream<Item: message::Event>,
    S::Response: Stream<Item = AgentEvent>,
{
}
