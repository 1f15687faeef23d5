//! An agent as a service of HTTP requests.
//!
//! [`TurnService`] has no path and no socket of its own: it answers wherever the host mounts it.
//! What binds a turn, such as limits and budgets, are layers around the agent; who may call is an
//! HTTP layer in front, which leaves a [`Principal`](portcullis::Principal) in the extensions of the
//! request.
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
//! A caller that stays and does not read holds the turn where it is, until whoever serves the socket gives
//! up on it, as `portcullis-net` does after a while.

mod accept;
mod answer;
mod body;
mod line;
mod read;
mod refusal;
mod request;
mod service;
mod settings;
mod turn;

pub use self::{
    body::ResponseBody,
    service::{ResponseFuture, TurnService},
};
pub use crate::wire::Format;
