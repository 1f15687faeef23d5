//! One agent made of many like it: each turn goes to one that has less to do.
//!
//! # When
//!
//! In front of replicas: several model endpoints, several remote agents.
//!
//! # Where
//!
//! In the place of the agent, below every layer that is for all replicas together. A layer
//! that is for each replica, a limit on its turns for instance, goes around that replica.
//!
//! Of two replicas that are picked at random, the one with fewer running turns gets the
//! turn. A turn runs until it *ends*, whatever ends it.
//!
//! # Cousins
//!
//! tower's `Balance` takes its load from the services. Its `PendingRequests` counts a
//! request until its response is there, which is where a turn begins. It also keeps
//! replicas ready while nobody calls them; here readiness is awaited within the turn, so a
//! replica that is not ready holds up the turns that were given to it, and no others.
//!
//! # MUST 6
//!
//! Portable if the replicas are. The counts are those of this process.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentEvent, AgentExt, BoxAgent, Emitter, Failure, Prompt, Scope, agent_fn_with, collect};
//! use portcullis_layers::balance::Balance;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! async fn say(name: &str, _: Scope, _: Prompt, out: Emitter) -> Result<(), Failure> {
//!     out.emit(AgentEvent::text(name)).await;
//!     Ok(())
//! }
//! let replica = |name: &'static str| BoxAgent::new(agent_fn_with(name, say));
//! let agent = Balance::new([replica("a"), replica("b")])?;
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("who are you?"))).await?;
//! assert!(["a", "b"].contains(&answer.text.as_str()));
//! assert_eq!(agent.running(), [0, 0]);
//! # Ok(())
//! # }
//! ```

mod place;
mod service;

pub use self::{
    place::Place,
    service::{Balance, NoAgents},
};
