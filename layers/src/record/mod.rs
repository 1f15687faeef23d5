//! Writes a turn down, as lines of JSON.
//!
//! # When
//!
//! To look at later what an agent said and when (audits, bug reports), and to play it again as an
//! agent: see [`replay`](crate::replay).
//!
//! # Where
//!
//! Beside [`trace`](crate::trace), where it sees what the caller sees: retries announced, cuts, masks. Just above
//! the engine it sees what the engine said instead, secrets that a guard would mask included.
//!
//! # The lines
//!
//! ```json
//! {"turn":"8c1f…-1","at":0,"begin":{"version":1,"scope":{"session":"s"},"prompt":{"text":"hello"}}}
//! {"turn":"8c1f…-1","at":1250,"event":{"type":"text","delta":"Good morning."}}
//! {"turn":"8c1f…-1","at":2100,"event":{"type":"completed"}}
//! {"turn":"8c1f…-1","at":2100,"end":"completed"}
//! ```
//!
//! `at` is the time since the turn began, in microseconds. An event stands there with all its tokens. The end is one of
//! `completed`, `failed`, `cancelled`, `truncated`, `panicked`. Lines of turns that run at once
//! stand among each other; `turn` tells them apart, and no two have the same, other processes'
//! included. Scope and prompt stand there as they would go over a wire, so without principal and
//! tenant; [`without_request`](RecordLayer::without_request) leaves them out. **Events hold what people
//! wrote and what the agent answered: a recording is as secret as they are.**
//!
//! # What is lost
//!
//! The turn never waits for its recording. A [`LineSink`] takes a line at once or refuses it; after a refusal
//! no more events of that turn are written, since a gap would be a lie, and the end says
//! `"incomplete":true` if it is taken. The log says so once. [`FileSink`] writes on a thread of its own, from a buffer
//! that has a bound.
//!
//! # Ends
//!
//! Each of the five is written. It changes nothing, and holds nothing but its buffer: a drop is
//! written inside `drop`, which takes one line to be copied.
//!
//! # Cost
//!
//! An event is written as JSON into a buffer that the turn keeps, and given to the sink: no allocation for an
//! event once the buffer has its size.
//!
//! # MUST 6
//!
//! Portable: it keeps nothing that an answer depends on.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::record::{MemorySink, RecordLayer};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lines = MemorySink::new(1 << 20);
//! let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     out.emit(AgentEvent::text("Good morning.")).await;
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new()
//!     .layer(RecordLayer::new(lines.clone()))
//!     .service(engine);
//! collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await?;
//! assert_eq!(lines.text().lines().count(), 4);
//! # Ok(())
//! # }
//! ```
//!
//! Into a file, without who asked what:
//!
//! ```no_run
//! use portcullis_layers::record::{FileSink, RecordLayer};
//!
//! let file = FileSink::append("turns.jsonl")?;
//! let layer = RecordLayer::new(file).without_request();
//! # let _ = layer;
//! # Ok::<(), std::io::Error>(())
//! ```

mod file;
mod layer;
mod line;
mod memory;
mod sink;
mod turn;

pub use self::{
    file::FileSink,
    layer::{Record, RecordLayer},
    memory::MemorySink,
    sink::{LineSink, Refused},
    turn::RecordTurn,
};
