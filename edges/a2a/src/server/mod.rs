//! The operations of a server, without any wire.
//!
//! A [`Server`] puts an [`Executor`], or an agent, behind the eleven operations of A2A.
//! A binding gives it a [`Caller`] and a [`Request`] and encodes the [`Response`].
//!
//! - An executor says what happens; the server turns that into a task, stores each update
//!   before anybody sees it, and shows the same to every watcher.
//! - Each turn runs in a tokio task that the server owns. Callers and watchers come and
//!   go; only `CancelTask`, the executor, a limit or a shutdown end a turn.
//! - Every check stands in one place and one order, so that all bindings refuse alike.
//! - Tasks belong to (tenant, principal). What belongs to somebody else does not exist.
//!
//! ```
//! use portcullis::{AgentEvent, Prompt, agent_fn};
//! use portcullis_a2a::{
//!     model::{AgentCard, AgentInterface},
//!     server::{Answer, Caller, Response, Server},
//! };
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = agent_fn(async |_scope, prompt: Prompt, out| {
//!     out.emit(AgentEvent::text(prompt.as_text())).await;
//!     Ok(())
//! });
//! let interface = AgentInterface::json_rpc("https://agent.example.com/");
//! let server = Server::agent(echo, AgentCard::new("Echo", "Repeats it.", interface));
//!
//! let params = r#"{"message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}"#;
//! let response = server.handle(&Caller::new(), "SendMessage", Some(params)).await?;
//! let Response::Answer(answer) = response else { unreachable!("it answers once") };
//! assert!(serde_json::to_string(&answer)?.contains(r#""state":"TASK_STATE_COMPLETED""#));
//! # Ok(()) }
//! ```

mod admission;
mod agent;
mod build_error;
mod builder;
mod caller;
mod check;
mod clock;
mod context;
mod core;
mod emission;
mod executor;
mod failure;
mod frame;
mod ids;
mod limits;
mod media_type;
mod operations;
mod others;
mod page_token;
pub mod push;
mod response;
mod runner;
#[expect(clippy::module_inception, reason = "the server of the server side")]
mod server;
mod streams;
mod upkeep;
mod version;
mod watch;

pub use self::{
    agent::{AgentEmissions, AgentExecutor, Coalescing, EVENTS_EXTENSION, Reducer},
    build_error::BuildError,
    builder::ServerBuilder,
    caller::Caller,
    clock::{Clock, StepClock, SystemClock},
    context::RequestContext,
    emission::{Emission, EmissionView},
    executor::{Executor, ExecutorFn, ExecutorFnStream, Outcome, executor_fn},
    failure::{Moment, Verdict, verdict},
    frame::Frame,
    ids::{IdKind, IdSource, RandomIds, SequentialIds},
    limits::Limits,
    response::{Answer, Response},
    server::{Server, Tenants},
    version::ProtocolVersion,
    watch::Frames,
};
pub use crate::model::{Operation, Request};

#[cfg(feature = "remote")]
pub(crate) use self::agent::prompt_of;
#[cfg(any(feature = "jsonrpc", feature = "rest", feature = "grpc"))]
pub(crate) use self::version::built;
