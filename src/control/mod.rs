//! The session control plane: how somebody outside a turn reaches it while it runs.
//!
//! These are ports. A session layer implements [`SessionControl`], an edge takes one,
//! and an engine that can be steered takes an [`Inbox`] out of its scope.

mod inbox;
mod refusal;
mod state;

use std::pin::Pin;

use crate::{BoxEventStream, Prompt};

pub use self::{
    inbox::{Inbox, InboxSender, inbox},
    refusal::{ControlRefusal, RefusalCode},
    state::{Accepted, ControlCapabilities, Fate, SessionState},
};

/// What a [`SessionControl`] answers with.
pub type ControlFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Reaches the running turn of a session.
///
/// Acceptance is not outcome: an accepted prompt will be taken up by the turn that runs,
/// unless that ends first; [`state`](Self::state) tells what became of it.
pub trait SessionControl: Send + Sync {
    /// What the session's turn can take now. Steering needs an engine that took its
    /// [`Inbox`].
    fn capabilities<'a>(&'a self, session: &'a str) -> ControlFuture<'a, ControlCapabilities>;

    /// Puts a prompt into the run that is under way.
    ///
    /// # Errors
    ///
    /// When no turn runs, or its engine cannot be steered, or too much waits already.
    fn steer<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>>;

    /// Queues a prompt for another run within the turn that is under way.
    ///
    /// # Errors
    ///
    /// When no turn runs, or it takes no follow-ups, or too much waits already.
    fn follow_up<'a>(
        &'a self,
        session: &'a str,
        prompt: Prompt,
    ) -> ControlFuture<'a, Result<Accepted, ControlRefusal>>;

    /// Stops the turn that is under way. It fails with the code `aborted`.
    ///
    /// # Errors
    ///
    /// When no turn runs.
    fn abort<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Result<(), ControlRefusal>>;

    /// What the session does now.
    fn state<'a>(&'a self, session: &'a str) -> ControlFuture<'a, SessionState>;

    /// The events of the turn that is under way, from here on, or `None` if none is. An
    /// observer has no effect on the run, however slow it is.
    fn events<'a>(&'a self, session: &'a str) -> ControlFuture<'a, Option<BoxEventStream>>;
}
