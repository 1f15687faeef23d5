//! The suites that prove an agent, a consumer or a layer right.
//!
//! They run in your tests, on tokio's paused clock. Each drives turns by hand, one poll at
//! a time, and returns a [`Report`]; [`Report::assert`] panics and says which [`Check`]
//! failed, in which state, and at which event.
//!
//! | suite | proves | of |
//! |---|---|---|
//! | [`suite::agent`] | MUST 1, 2 and 3 | an agent |
//! | [`suite::portable`] | MUST 6 | an agent over a store |
//! | [`suite::consumer`] | MUST 4 | who reads a turn to its result |
//! | [`suite::layer`] | MUST 5, and all that a stack relies on | a layer, or a stack of them |
//! | [`suite::matrix`] | the same, in every ordered pair | a table of layers |
//!
//! [`ProbeAgent`] is the agent that the layer suite puts below. Use it in your own tests
//! too: it does what it is told, and its [`ProbeLog`] counts what is done to it.
//! [`drop_at_every_poll`] drops turns in every state that they have. [`FakeSessionControl`]
//! stands in for a session layer where an edge takes one.
//!
//! # A layer
//!
//! ```
//! use portcullis::{
//!     AgentEvent, Failure, Flow, Outbox, Turn, TurnLayer,
//!     conformance::{LayerOptions, suite},
//! };
//!
//! /// Cuts the answer after so many words.
//! struct Words(usize);
//!
//! impl Turn for Words {
//!     fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
//!         if let AgentEvent::Text(text) = event {
//!             match self.0.checked_sub(text.delta().split_whitespace().count()) {
//!                 Some(left) => self.0 = left,
//!                 None => out.fail(Failure::new("too many words")),
//!             }
//!         }
//!         Flow::Forward
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! // In a test: #[tokio::test(start_paused = true)]
//! let layer = || TurnLayer::new(|_: &mut _, _: &mut _| Words(20));
//! suite::layer(layer, LayerOptions::new().ends_turns()).await.assert();
//! # }
//! ```
//!
//! # An agent
//!
//! ```
//! use portcullis::{AgentEvent, Prompt, agent_fn, conformance::suite};
//!
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() {
//! let make_agent = || {
//!     agent_fn(async |_scope, prompt: Prompt, out| {
//!         out.emit(AgentEvent::text(prompt.as_text())).await;
//!         Ok(())
//!     })
//! };
//! suite::agent(make_agent, ["hello", ""]).await.assert();
//! # }
//! ```

mod check;
mod clock;
mod control;
mod drive;
mod pair;
mod probe;
mod report;
mod subject;
mod unknown;

pub mod suite;

pub use self::{
    check::Check,
    control::{FakeSessionControl, FakeTurn},
    drive::{Place, drop_at_every_poll},
    pair::{AnyLayer, pair},
    probe::{ProbeAgent, ProbeFuture, ProbeLog, ProbeStream, Taking},
    report::{Breach, Report},
    suite::LayerOptions,
};
