//! A served agent as an agent.
//!
//! [`HttpAgent`] asks a [`TurnService`](crate::server::TurnService) over any `tower::Service` of HTTP
//! requests; credentials, tracing and retries of connections are layers around that service.
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, Emitter, Prompt, Scope, agent_fn, collect};
//! use portcullis_http::{client::HttpAgent, server::TurnService};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = agent_fn(async |_: Scope, prompt: Prompt, out: Emitter| {
//!     out.emit(AgentEvent::text(prompt.as_text())).await;
//!     Ok(())
//! });
//! // Over sockets it is `portcullis_net::HttpClient`, or any other client that is a service.
//! let transport = TurnService::new(echo);
//! let agent = HttpAgent::new(transport, "http://127.0.0.1:8080/v1/turns".parse()?);
//!
//! let answer = collect(agent.invoke(Scope::new("s-1"), Prompt::text("hello"))).await?;
//! assert_eq!(answer.text, "hello");
//! # Ok(())
//! # }
//! ```
//!
//! The server is told what may go over a wire of the scope, `traceparent` and `tracestate`, and nothing
//! of who asks or what is granted.
//!
//! # Ends
//!
//! | what happens | the last event |
//! |---|---|
//! | a terminal event comes | that event; what follows it is not read |
//! | a status, and problem details with a failure | that failure, with the hint of `retry-after` |
//! | another status | a `failed` with the code that it stands for |
//! | no connection, or the body ends before the turn | `failed`, `unavailable`, retryable |
//! | nothing comes for too long, not even a comment | `failed`, `timeout`, retryable |
//! | the deadline of the scope passes | `failed`, `timeout` |
//! | an event over the limit, something that is no event, one that comes twice or is missing | `failed`, `contract_violation` |
//!
//! Dropping the turn closes the connection, and that cancels it at the server. An agent that is
//! [`resuming`](HttpAgent::resuming) takes up again what was cut.

mod agent;
mod events;
mod failure;
mod farewell;
mod lines;
mod place;
mod transport;
mod turn;

pub use self::{
    agent::{HttpAgent, HttpStream},
    transport::Transport,
};
pub use crate::wire::Format;
