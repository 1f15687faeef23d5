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
//! # Replicas that fail
//!
//! With [`ejecting`](Balance::ejecting), each replica has a [breaker](crate::breaker) of its own: one
//! that fails gets no turns for a while, then one as a probe, and all of its share when that has
//! succeeded. A turn that fails at a replica has failed: [`retry`](crate::retry) above asks again, and
//! most likely another one. When no replica takes turns, they are `failed{unavailable, retryable}` with
//! `retry_after`, the time until the first probe, and nobody is called.
//!
//! # Sessions
//!
//! With [`sticky_by`](Balance::sticky_by), turns of one key go to one replica, such as those of a session to
//! the one that has its context in memory. Which one follows from the key and the names
//! (rendezvous hashing): it is the same in each process, and while a replica is out only its own keys
//! go elsewhere, each to its second choice.
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

//!
//! Three remote agents, by name, each left alone while it fails, and a session always at the same:
//!
//! ```
//! # use portcullis::{AgentEvent, AgentExt, BoxAgent, Emitter, Failure, Prompt, Scope, agent_fn_with, collect};
//! use portcullis_layers::{balance::Balance, breaker::{BreakerLayer, Settings}};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # async fn say(name: &str, _: Scope, _: Prompt, out: Emitter) -> Result<(), Failure> {
//! #     out.emit(AgentEvent::text(name)).await;
//! #     Ok(())
//! # }
//! # let remote = |name: &'static str| (name, BoxAgent::new(agent_fn_with(name, say)));
//! let breaker = BreakerLayer::of_replicas(Settings::new())?
//!     .on_change(|name, change| println!("{name}: {change:?}"));
//! let agent = Balance::named([remote("eu-1"), remote("eu-2"), remote("us-1")])?
//!     .ejecting(breaker)
//!     .sticky_by(|scope| Some(scope.session().to_owned()));
//! let mut answers = Vec::new();
//! for _ in 0..3 {
//!     let turn = agent.invoke(Scope::new("session-7"), Prompt::text("who are you?"));
//!     answers.push(collect(turn).await?.text);
//! }
//! answers.dedup();
//! assert_eq!(answers.len(), 1);
//! # Ok(())
//! # }
//! ```

mod place;
mod replica;
mod service;
mod stream;

pub use self::{
    place::Place,
    service::{Balance, InvalidBalance},
    stream::BalanceStream,
};
