use std::sync::Arc;

use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot, watch},
    time::Instant,
};

use super::{
    Control, NotTaken, Signs,
    listen::Event,
    over::Over,
    repair::fail_at_log,
    translate::Translator,
    turn::{Opening, Opens, Resumption, Turn},
};
use crate::{
    log::{Seq, TaskKey, Update},
    model::{Error, Message, Task},
    server::{
        IdKind, Moment, RequestContext, admission::Admission, core::Core, emission::Kind,
        executor::Emissions,
    },
};

/// A turn that runs.
pub(super) struct Run {
    pub(super) core: Arc<Core>,
    pub(super) key: TaskKey,
    pub(super) cx: RequestContext,
    /// `None` once the turn is dropped.
    pub(super) emissions: Option<Emissions>,
    /// Held as long as the turn lives: whoever hears that it has ended finds a seat.
    pub(super) seat: Option<OwnedSemaphorePermit>,
    pub(super) commands: mpsc::Receiver<Control>,
    /// When a turn that nobody reaches any more has to be gone.
    pub(super) lingers_until: Option<Instant>,
    pub(super) translator: Translator,
    pub(super) seq: Seq,
    pub(super) resumption: Option<Box<Resumption>>,
    pub(super) updates: Vec<Update>,
    pub(super) opens: Opens,
    /// What the caller is told as soon as it is stored.
    pub(super) opened: Option<(Seq, Arc<Task>)>,
    pub(super) opening: Option<oneshot::Sender<Result<Opening, Error>>>,
    pub(super) admission: Option<Admission>,
    pub(super) inbox: Option<mpsc::Sender<Message>>,
    pub(super) moment: Moment,
    pub(super) last_event: Instant,
    /// The task waits for its caller and for nobody here, so this process may go.
    pub(super) releases: bool,
    /// Who is told when the next append is done.
    pub(super) canceled: Vec<oneshot::Sender<()>>,
    pub(super) logged: Vec<oneshot::Sender<Result<(), NotTaken>>>,
    pub(super) lost: watch::Sender<bool>,
    pub(super) signs: Arc<Signs>,
}

impl Run {
    pub(super) fn new(
        core: Arc<Core>,
        turn: Turn,
        seat: OwnedSemaphorePermit,
        commands: mpsc::Receiver<Control>,
        lost: watch::Sender<bool>,
        signs: Arc<Signs>,
    ) -> Self {
        let seq = turn.existing.as_ref().map_or(Seq::ZERO, |(seq, _)| *seq);
        let moment = if turn.opens == Opens::AtOnce {
            Moment::BeforeFirstEvent
        } else {
            Moment::AtOnce
        };
        Self {
            core,
            key: turn.key,
            cx: turn.cx,
            emissions: Some(turn.emissions),
            seat: Some(seat),
            commands,
            lingers_until: None,
            translator: Translator::new(turn.existing.as_ref().map(|(_, task)| &**task)),
            seq,
            resumption: turn.resumption,
            updates: Vec::new(),
            opens: turn.opens,
            opened: turn.existing,
            opening: Some(turn.opening),
            admission: turn.admission,
            inbox: turn.inbox,
            moment,
            last_event: Instant::now(),
            releases: false,
            canceled: Vec::new(),
            logged: Vec::new(),
            lost,
            signs,
        }
    }

    /// Runs the turn to its end. The log says how it ended, whatever that was.
    pub(super) async fn drive(mut self) {
        let over = self.turn().await;
        // First the work, then the word that it is over.
        self.drop_turn();
        match over {
            Over::Settled => {}
            Over::Fenced => {
                tracing::debug!(task = self.key.id(), "a turn was overtaken and is dropped");
                self.answer(Err(Error::internal("the task was taken over")));
            }
            Over::Broken => {
                let reference = self.core.ids.next(IdKind::Reference);
                tracing::error!(task = self.key.id(), %reference, "a turn cannot be stored and is dropped");
                let error = Error::internal("the log takes no updates");
                self.answer(Err(error.with_reference(reference)));
                let text = "The task could not be stored.";
                if !fail_at_log(&self.core, &self.key, text).await {
                    // Told to those who watch now, and tried again later (O-L15).
                    self.lost.send_replace(true);
                    self.core.leave_behind(self.key.clone());
                }
            }
        }
    }

    async fn turn(&mut self) -> Over {
        let mut next = self.poll_once().await;
        let is_message = matches!(next, Some(Event::Emitted(Kind::Message(_))));
        let opens = match self.opens {
            Opens::AtFirstEmission => false,
            Opens::AfterFirstPoll => next.is_none(),
            // A message needs no task, whether or not the caller waits (A2A-OP-31).
            Opens::AtOnce => !is_message,
        };
        if opens {
            self.open(None);
        }
        loop {
            let event = match next.take() {
                Some(event) => event,
                None => {
                    if let Err(over) = self.append().await {
                        return over;
                    }
                    if self.moment == Moment::AtOnce {
                        self.moment = Moment::BeforeFirstEvent;
                    }
                    self.next().await
                }
            };
            self.last_event = Instant::now();
            if let Event::Asked(Control::Message {
                message,
                to,
                logged,
            }) = event
            {
                self.take(*message, to, logged).await;
            } else if let Err(over) = self.handle(event) {
                // What is over does not run while its end is stored.
                self.drop_turn();
                return match self.append().await {
                    Ok(()) => over,
                    Err(failed) => failed,
                };
            }
            if self.updates.len() >= self.core.limits.batch {
                if let Err(over) = self.append().await {
                    return over;
                }
                tokio::task::consume_budget().await;
                continue;
            }
            next = self.poll_once().await;
        }
    }

    /// Nothing comes of the turn but this answer. First the work ends, then the word goes out.
    pub(super) fn conclude(&mut self, opening: Result<Opening, Error>) {
        self.drop_turn();
        self.answer(opening);
    }

    pub(super) fn answer(&mut self, opening: Result<Opening, Error>) {
        // What is stored counts by itself from now on, before anybody can act on the answer.
        self.admission = None;
        if let Some(waiting) = self.opening.take() {
            // A caller that has left does not stop the turn.
            let _left = waiting.send(opening);
        }
    }
}
