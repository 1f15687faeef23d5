//! One turn a session, and a way to reach it while it runs: steer it, queue a follow-up, stop it,
//! look at it.
//!
//! # When
//!
//! Behind a chat, where people write before the answer is complete; and in front of any engine whose
//! sessions do not bear two turns at once.
//!
//! # Two layers over one desk
//!
//! A [`SessionDesk`] is the [`SessionControl`](portcullis::SessionControl) of the turns that run
//! through its window. It has two layers, since they belong in two places:
//!
//! ```text
//! session gate      a turn that waits for its session takes no place of other sessions
//!   rate_limit, concurrency, budget, timeout (total)
//!     session window    a follow-up is another run of the same turn: it renews none of these
//!       structured, guard, retry, timeout (first, idle), conform, agent
//! ```
//!
//! # The gate
//!
//! [`GateLayer`] gives a session to one turn at a time. Another one is refused with
//! `failed{session_busy, retryable}`; with [`queue`](GateLayer::queue) it waits, first come, first
//! served, up to a number and a time, and never past its scope's deadline. A turn that waits takes
//! nothing below, and one that is dropped leaves the queue. The session is free at the terminal event, at a bare
//! end, at a panic and at a drop, each time after everything below is gone.
//!
//! Who holds what is kept behind a port, [`SessionLock`]. A turn whose hold is lost while it runs, since its
//! lease ran out, fails with `unavailable`, as soon as it has nothing to say.
//!
//! # The window
//!
//! [`WindowLayer`] opens a window when a turn begins and closes it when that ends. While it is open:
//!
//! - [`steer`](portcullis::SessionControl::steer) puts a prompt into the [`Inbox`](portcullis::Inbox) of the run, if the engine
//!   took it; only then the capability is there. What a run has not read when it completes, another run
//!   begins with, as if it had been a follow-up.
//! - [`follow_up`](portcullis::SessionControl::follow_up) queues a prompt. When a run completes, the next begins with it; to take the next
//!   prompt or to close is one step, so none is accepted and forgotten.
//! - [`abort`](portcullis::SessionControl::abort) drops the run; the turn fails with `aborted`. Nothing of the run is waited for.
//! - [`events`](portcullis::SessionControl::events) shows what the caller sees, from then on. Observers have no effect on the
//!   run: it keeps the last events, within [`Limits::observed`], for all of them together, and one that is slower
//!   finds a [`lagged`](portcullis::views::Lagged) event where some are missing.
//! - [`state`](portcullis::SessionControl::state) tells what became of each accepted prompt: a run took it, or the turn ended first.
//!
//! Between two runs stands one [`follow_up`](portcullis::views::FollowUp) event, with the data of the run that has ended; its
//! terminal event is withheld. The ids of usage records begin with `2/` in the second run, and so on. The run is
//! gone before the next begins.
//!
//! A run that fails, or ends bare, ends the turn, as does a drop or a panic: the window closes, and
//! prompts that wait are [`Dropped`](portcullis::Fate::Dropped), never silently. A turn closes its own window only, however
//! late it is dropped. Two turns of one session, where no gate is, have a window each; the one that opened last is reached.
//!
//! Refusals have stable codes: `not_running` without a turn (or before its window is open, or when it is being
//! stopped), `unsupported` for a steer that no engine would read, `queue_full`.
//!
//! # Cousins
//!
//! tower has none. Its `Buffer` is a queue that reads ahead of its service; the gate's holds the turns themselves, and
//! none of them has begun.
//!
//! # MUST 6
//!
//! The gate holds for one process, and for all replicas with a lock that they share: portable with a shared
//! lock. The window is not portable: it reaches the turns of its process. A turn runs the same on any.
//!
//! # Cost
//!
//! The gate is free for an event. The window withholds terminal events, so it cannot hand over: about seventy
//! nanoseconds an event, without an allocation; one clone more while somebody observes.
//!
//! # Examples
//!
//! ```
//! use futures_util::StreamExt;
//! use portcullis::{AgentEvent, AgentExt, Prompt, Scope, SessionControl, agent_fn};
//! use portcullis_layers::session::SessionDesk;
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let desk = SessionDesk::new();
//! let echo = agent_fn(async |_scope, prompt: Prompt, out| {
//!     out.emit(AgentEvent::text(prompt.as_text())).await;
//!     Ok(())
//! });
//! let agent = ServiceBuilder::new().layer(desk.gate()).layer(desk.window()).service(echo);
//!
//! let mut turn = Box::pin(agent.invoke(Scope::new("s"), Prompt::text("one")));
//! assert_eq!(turn.next().await, Some(AgentEvent::text("one")));
//! desk.follow_up("s", Prompt::text("two")).await.expect("a turn runs");
//! let rest: Vec<_> = turn.map(|event| event.type_name().to_owned()).collect().await;
//! assert_eq!(rest, ["follow_up", "text", "completed"]);
//! # }
//! ```
//!
//! With a queue at the gate, and no steering:
//!
//! ```
//! use std::time::Duration;
//! use portcullis_layers::session::{Limits, SessionDesk};
//!
//! let desk = SessionDesk::with_limits(Limits::new().follow_ups(4).steers(0))?;
//! let gate = desk.gate().queue(8, Duration::from_secs(30))?;
//! # let _ = gate;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod admit;
mod book;
mod desk;
mod gate;
mod limits;
mod live;
mod lock;
mod ring;
mod window;

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::lock::assert_session_lock;
pub use self::{
    admit::{GateAdmit, Gated},
    desk::SessionDesk,
    gate::{Gate, GateLayer, InvalidQueue},
    limits::{InvalidLimits, Limits},
    lock::{Held, MemoryAcquire, MemoryHeld, MemoryLock, NotAcquired, SessionLock},
    window::{Window, WindowLayer},
};
