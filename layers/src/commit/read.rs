use std::{future::poll_fn, pin::Pin};

use futures_core::Stream;
use portcullis::{Agent, AgentEvent, Completed, Emitter, Failure, Run};

use super::{Held, Rule};

/// What a run came to before anybody saw anything of it.
pub(crate) enum Attempt<S: Agent> {
    /// Something was shown: there is no way back.
    Shown(Run<S>),
    /// It is over, and all of it was shown.
    Completed(Completed),
    /// It failed; what is held is not shown yet.
    Failed(Failure),
    /// The stream just ended; what is held is not shown yet.
    Bare(Run<S>),
}

impl<S: Agent> Attempt<S> {
    pub(crate) const fn failure(&self) -> Option<&Failure> {
        match self {
            Self::Failed(failure) => Some(failure),
            _ => None,
        }
    }
}

/// Forwards what is not visible, and stops at the commit point, behind which nothing may
/// begin again. With a buffer there is none until that is full.
pub(crate) async fn read<S: Agent>(
    mut run: Run<S>,
    out: &Emitter,
    visible: &Rule<AgentEvent>,
    mut held: Option<&mut Held>,
) -> Attempt<S> {
    loop {
        let event = match poll_fn(|cx| Pin::new(&mut run).poll_next(cx)).await {
            None => return Attempt::Bare(run),
            Some(AgentEvent::Failed(failure)) => return Attempt::Failed(failure),
            Some(AgentEvent::Completed(completed)) => {
                // What it holds is free before the caller reads the rest.
                drop(run);
                if let Some(held) = held {
                    held.show(out).await;
                }
                return Attempt::Completed(completed);
            }
            Some(event) => event,
        };
        if !visible.ask(&event) {
            out.emit(event).await;
            continue;
        }
        let event = match &mut held {
            Some(held) => match held.keep(event) {
                Ok(()) => continue,
                Err(event) => {
                    held.show(out).await;
                    event
                }
            },
            None => event,
        };
        out.emit(event).await;
        return Attempt::Shown(run);
    }
}
