//! An agent as a service of HTTP requests.
//!
//! [`TurnService`] has no path and no socket of its own: it answers wherever the host mounts it.
//! What binds a turn, such as limits and budgets, are layers around the agent; who may call is an
//! HTTP layer in front, which leaves a [`Principal`](portcullis::Principal) in the extensions of the
//! request, and a [`Peer`](portcullis::Peer) if it knows from where.
//!
//! ```
//! use bytes::Bytes;
//! use http::Request;
//! use http_body_util::{BodyExt, Full};
//! use portcullis::{AgentEvent, Emitter, Prompt, Scope, agent_fn};
//! use portcullis_http::server::TurnService;
//! use tower::ServiceExt;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = agent_fn(async |_: Scope, prompt: Prompt, out: Emitter| {
//!     out.emit(AgentEvent::text(prompt.as_text())).await;
//!     Ok(())
//! });
//! let service = TurnService::new(echo);
//!
//! let request = Request::post("/v1/turns")
//!     .header("content-type", "application/json")
//!     .header("accept", "application/x-ndjson")
//!     .body(Full::<Bytes>::from(r#"{"scope":{"session":"s-1"},"prompt":{"text":"hello"}}"#))?;
//! let response = service.oneshot(request).await?;
//! assert_eq!(response.status(), 200);
//! let body = response.into_body().collect().await?.to_bytes();
//! assert_eq!(
//!     body,
//!     "{\"type\":\"text\",\"delta\":\"hello\"}\n{\"type\":\"completed\"}\n",
//! );
//! # Ok(())
//! # }
//! ```
//!
//! # Ends
//!
//! | what happens | what the caller reads |
//! |---|---|
//! | the agent ends with a terminal event | that event, and the end of the body |
//! | it ends without one | `failed`, `contract_violation` |
//! | it panics | `failed`, `internal`: a reference, and the text is in the log |
//! | the deadline passes | `failed`, `timeout` |
//! | it emits an event over the limit | `failed`, `invalid_output` |
//! | the caller goes away | nothing: the turn is dropped with the response |
//!
//! # Turns that outlive their connection
//!
//! With [`TurnService::detach`], a caller that says `?detach`, or `?detach=SECONDS` for less than the policy allows, has
//! so long to come back after it was cut:
//!
//! | request | response |
//! |---|---|
//! | `POST …?detach` | `content-location: ?turn=ID`, and the events, numbered as always |
//! | `GET …?turn=ID`, with `last-event-id: N` | the events after that one, from the first without it. Who reads takes the place of whoever read before. 204 when the turn is over and there are none |
//! | `DELETE …?turn=ID` | 204, and the turn is cancelled |
//! | any of these, another owner or no such turn | 404 |
//! | the events after that one are not kept any more | 410 |
//!
//! Among JSON lines, which have no ids, the line says its number by its place. While somebody reads, the
//! turn runs no further than the reader; while nobody does, until the [room](Detach::room) is full of what
//! nobody has read. So nothing is lost that somebody may still come back for.
//!
//! A caller that stays and does not read holds the turn where it is, until whoever serves the socket gives
//! up on it, as `portcullis-net` does after a while.

mod accept;
mod answer;
mod body;
mod detach;
mod line;
mod lines;
mod query;
mod read;
mod refusal;
mod request;
mod service;
mod settings;
mod turn;

pub use self::{
    body::ResponseBody,
    detach::Detach,
    service::{ResponseFuture, TurnService},
};
pub use crate::wire::Format;
