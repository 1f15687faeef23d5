use std::{
    future::{pending, poll_fn},
    panic::{AssertUnwindSafe, catch_unwind},
    pin::pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

use portcullis::{
    ControlRefusal, Failure, FailureCode, Panicked, Prompt, RefusalCode, SessionControl,
};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::{Instant, sleep_until, timeout},
};

use super::{
    Control, NotTaken, Recipient,
    repair::fail_at_log,
    translate::{Breach, Translator, complete},
};
use crate::{
    log::{AppendError, Batch, Seq, TaskKey, Update},
    model::{Error, Message, Task, TaskState, TaskStatus},
    server::{
        EVENTS_EXTENSION, IdKind, Moment, RequestContext, Verdict,
        agent::{failure_metadata, prompt_of},
        core::Core,
        emission::{Emission, Kind},
        executor::Emissions,
        verdict,
    },
};

/// A turn to be run.
pub(in crate::server) struct Turn {
    pub(in crate::server) key: TaskKey,
    pub(in crate::server) cx: RequestContext,
    pub(in crate::server) emissions: Emissions,
    /// The task that is continued, with the message in its history.
    pub(in crate::server) existing: Option<(Seq, Arc<Task>)>,
    /// Whether the task opens although nothing was emitted yet.
    pub(in crate::server) opens: Opens,
    /// Who waits for the task to be there, or for a refusal.
    pub(in crate::server) opening: oneshot::Sender<Result<Opening, Error>>,
    /// Where messages to the running task go.
    pub(in crate::server) inbox: Option<mpsc::Sender<Message>>,
}

/// When a task opens by itself (ruling 13).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum Opens {
    /// At the first emission that is not a message.
    AtFirstEmission,
    /// When the first poll of the turn has brought nothing: an agent's.
    AfterFirstPoll,
    /// Whatever the first poll brings, unless it is a message: the caller does not wait.
    AtOnce,
}

/// What a turn began with.
#[derive(Debug)]
pub(in crate::server) enum Opening {
    /// A task, as it was at a place.
    Task(Seq, Arc<Task>),
    /// A message, which is the whole answer.
    Message(Message),
}

/// A turn that runs.
pub(super) struct Run {
    core: Arc<Core>,
    key: TaskKey,
    cx: RequestContext,
    /// `None` once the turn is dropped.
    emissions: Option<Emissions>,
    commands: mpsc::Receiver<Control>,
    /// When a turn that nobody reaches any more has to be gone.
    lingers_until: Option<Instant>,
    translator: Translator,
    seq: Seq,
    updates: Vec<Update>,
    opens: Opens,
    /// What the caller is told as soon as it is stored.
    opened: Option<(Seq, Arc<Task>)>,
    opening: Option<oneshot::Sender<Result<Opening, Error>>>,
    inbox: Option<mpsc::Sender<Message>>,
    moment: Moment,
    last_event: Instant,
    /// The task waits for its caller and for nobody here, so this process may go.
    releases: bool,
    /// Who is told when the next append is done.
    canceled: Vec<oneshot::Sender<()>>,
    logged: Vec<oneshot::Sender<Result<(), NotTaken>>>,
    lost: watch::Sender<bool>,
    begun: Arc<AtomicBool>,
}

/// What the turn met.
#[expect(
    clippy::large_enum_variant,
    reason = "one lives at a time, and most are emissions"
)]
enum Event {
    Emitted(Kind),
    Ended,
    Panicked(Panicked),
    Asked(Control),
    /// A later turn of this task runs.
    Superseded,
    Silent,
}

/// The turn is over.
enum Over {
    /// The log says how it ended, once what is left is appended.
    Settled,
    /// Somebody else has written to the log: a cancel, a later turn, another process.
    Fenced,
    /// The log failed.
    Broken,
}

impl Run {
    pub(super) fn new(
        core: Arc<Core>,
        turn: Turn,
        commands: mpsc::Receiver<Control>,
        lost: watch::Sender<bool>,
        begun: Arc<AtomicBool>,
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
            commands,
            lingers_until: None,
            translator: Translator::new(turn.existing.as_ref().map(|(_, task)| &**task)),
            seq,
            updates: Vec::new(),
            opens: turn.opens,
            opened: turn.existing,
            opening: Some(turn.opening),
            inbox: turn.inbox,
            moment,
            last_event: Instant::now(),
            releases: false,
            canceled: Vec::new(),
            logged: Vec::new(),
            lost,
            begun,
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
                self.answer(Err(Error::internal("the log takes no updates")));
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

    fn handle(&mut self, event: Event) -> Result<(), Over> {
        match event {
            Event::Emitted(Kind::Message(message)) => self.answer_with(message),
            Event::Emitted(Kind::Failed(failure)) => self.fail(&failure),
            Event::Emitted(kind) => {
                let result = self.emit(kind);
                self.moment = Moment::AfterFirstEvent;
                self.begun.store(true, Ordering::Relaxed);
                match result {
                    Ok(()) if self.is_finished() => Err(Over::Settled),
                    Ok(()) => Ok(()),
                    Err(breach) => self.breach(&breach),
                }
            }
            Event::Ended => self.ended(),
            Event::Panicked(panicked) => self.fail(&Failure::internal(panicked)),
            Event::Superseded => {
                // It may clean up for a while (O-L11). Its next update is refused.
                self.lingers_until = Some(Instant::now() + self.core.limits.cancel_wait);
                Ok(())
            }
            Event::Silent if self.lingers_until.is_some() => Err(Over::Fenced),
            Event::Silent => self.fail(&Failure::with_code(
                FailureCode::TIMEOUT,
                "The agent was silent for too long.",
            )),
            Event::Asked(control) => self.obey(control),
        }
    }

    fn obey(&mut self, control: Control) -> Result<(), Over> {
        match control {
            Control::Cancel(reply) => {
                self.canceled.push(reply);
                let canceled =
                    self.translator
                        .settle(&self.core, &self.cx, TaskState::Canceled, None);
                self.updates.push(canceled.into());
                Err(Over::Settled)
            }
            Control::ShutDown => self.fail(&Failure::with_code(
                FailureCode::UNAVAILABLE,
                "The server was shut down.",
            )),
            Control::Message { .. } => unreachable!("taken before, since that may wait"),
        }
    }

    /// A message to this turn. The turn is not polled meanwhile: what it makes of the message comes
    /// after it in the log.
    async fn take(
        &mut self,
        message: Message,
        to: Recipient,
        logged: oneshot::Sender<Result<(), NotTaken>>,
    ) {
        let taken = match to {
            Recipient::Executor => match &self.inbox {
                Some(inbox) => inbox
                    .try_send(message.clone())
                    .map_err(|error| match error {
                        mpsc::error::TrySendError::Full(_) => NotTaken::Full,
                        mpsc::error::TrySendError::Closed(_) => NotTaken::Busy,
                    }),
                None => Err(NotTaken::Busy),
            },
            Recipient::Session(control) => {
                let said = say(&*control, self.cx.session(), prompt_of(&message));
                // A control plane in this process answers at once.
                match timeout(self.core.limits.cancel_wait, said).await {
                    Ok(said) => said.map_err(|refusal| self.not_taken(&refusal)),
                    Err(_) => Err(NotTaken::Busy),
                }
            }
        };
        match taken {
            Ok(()) => {
                self.updates.push(Update::Message(message));
                self.logged.push(logged);
            }
            Err(_) => {
                // Nobody waits any more if this fails.
                let _gone = logged.send(taken);
            }
        }
    }

    fn not_taken(&self, refusal: &ControlRefusal) -> NotTaken {
        tracing::debug!(%refusal, code = %refusal.code(), task = self.key.id(), "a running turn takes no message");
        match refusal.code() {
            RefusalCode::QueueFull => NotTaken::Full,
            _ => NotTaken::Busy,
        }
    }

    /// Opens the task, if it is not there yet.
    fn open(&mut self, task: Option<Task>) {
        if self.translator.is_open() {
            return;
        }
        let task = task.unwrap_or_else(|| {
            let status = TaskStatus {
                state: TaskState::Submitted,
                message: None,
                timestamp: None,
            };
            Task::new("", "", status)
        });
        let task = self.translator.open(&self.core, &self.cx, task);
        self.opened = Some((self.seq.plus(1), Arc::new(task.clone())));
        self.updates.push(task.into());
    }

    fn emit(&mut self, kind: Kind) -> Result<(), Breach> {
        if !self.translator.is_open() {
            if let Kind::Task(task) = kind {
                self.open(Some(*task));
                return Ok(());
            }
            self.open(None);
        }
        self.translator
            .translate(&self.core, &self.cx, kind, &mut self.updates)
    }

    fn is_finished(&self) -> bool {
        self.translator.state().is_some_and(TaskState::is_terminal)
    }

    /// The executor answers with a message.
    fn answer_with(&mut self, mut message: Message) -> Result<(), Over> {
        if !self.translator.is_open() {
            complete(&self.core, &self.cx, &mut message);
            // There is no task that it could belong to.
            message.task_id.clear();
            self.answer(Ok(Opening::Message(message)));
            return Err(Over::Settled);
        }
        if self.moment == Moment::AfterFirstEvent || self.cx.task().is_some() {
            return self.breach(&Breach("a message after the task was opened"));
        }
        // The task is open only because the caller did not wait for its answer.
        let mut event = self.cx.status(TaskState::Completed);
        event.status.message = Some(message);
        match self.emit(Kind::Status(event)) {
            Ok(()) => Err(Over::Settled),
            Err(breach) => self.breach(&breach),
        }
    }

    fn ended(&mut self) -> Result<(), Over> {
        let waits = self.moment == Moment::AfterFirstEvent
            && self
                .translator
                .state()
                .is_some_and(TaskState::is_interrupted);
        if waits {
            self.releases = true;
            return Err(Over::Settled);
        }
        self.fail(&Failure::with_code(
            FailureCode::CONTRACT_VIOLATION,
            "The agent ended without a result.",
        ))
    }

    /// The executor broke the protocol (A2A-OP-44).
    fn breach(&mut self, Breach(what): &Breach) -> Result<(), Over> {
        self.fail(&Failure::internal(format!("the executor emitted {what}")))
    }

    /// The turn has failed (ruling 13).
    fn fail(&mut self, failure: &Failure) -> Result<(), Over> {
        let state = match verdict(failure, self.moment) {
            Verdict::Refused(kind) => {
                let refusal = Error::with_message(kind, failure.details().to_owned());
                self.answer(Err(refusal.retry_after(failure.after())));
                return Err(Over::Settled);
            }
            Verdict::Rejected => TaskState::Rejected,
            Verdict::Canceled => TaskState::Canceled,
            Verdict::Failed => TaskState::Failed,
        };
        self.open(None);
        let text = self.text_of(failure);
        let mut event = self
            .translator
            .settle(&self.core, &self.cx, state, Some(text));
        if self.cx.is_active(EVENTS_EXTENSION) {
            event.metadata = failure_metadata(failure);
        }
        self.updates.push(event.into());
        Err(Over::Settled)
    }

    /// What the caller reads: what the agent says, but nothing internal (ruling 9).
    fn text_of(&self, failure: &Failure) -> String {
        if !failure.is(&FailureCode::INTERNAL) && !failure.details().is_empty() {
            return failure.details().to_owned();
        }
        let reference = self.core.ids.next(IdKind::Reference);
        let source: &dyn std::error::Error = failure;
        tracing::error!(
            task = self.key.id(),
            %reference,
            details = failure.details(),
            source = source.source().map(tracing::field::display),
            "a turn failed"
        );
        format!("The agent failed. Reference: {reference}")
    }

    fn answer(&mut self, opening: Result<Opening, Error>) {
        if let Some(waiting) = self.opening.take() {
            // A caller that has left does not stop the turn.
            let _left = waiting.send(opening);
        }
    }

    /// Stores what is left to store, then tells those who wait for it.
    async fn append(&mut self) -> Result<(), Over> {
        if !self.updates.is_empty() || self.releases {
            let batch = self.batch();
            match self.core.log.append(batch).await {
                Err(AppendError::Full) => {
                    let failed = self.translator.settle(
                        &self.core,
                        &self.cx,
                        TaskState::Failed,
                        Some("The task has become too long.".to_owned()),
                    );
                    self.drop_turn();
                    self.updates.push(failed.into());
                    let batch = self.batch();
                    self.seq = self.core.log.append(batch).await.map_err(over)?;
                    return Err(Over::Settled);
                }
                stored => self.seq = stored.map_err(over)?,
            }
        }
        if let Some((seq, task)) = self.opened.take() {
            self.answer(Ok(Opening::Task(seq, task)));
        }
        for canceled in self.canceled.drain(..) {
            let _gone = canceled.send(());
        }
        for logged in self.logged.drain(..) {
            let _gone = logged.send(Ok(()));
        }
        Ok(())
    }

    /// What is to be stored, in the name of this process.
    fn batch(&mut self) -> Batch {
        let updates = std::mem::take(&mut self.updates);
        let batch = Batch::of(self.key.clone(), self.seq, updates);
        if self.releases {
            batch.releasing()
        } else {
            batch.held_by(self.core.holder.clone())
        }
    }

    /// What the turn has to say at once, if anything.
    async fn poll_once(&mut self) -> Option<Event> {
        poll_fn(|cx| {
            Poll::Ready(match self.poll_emission(cx) {
                Poll::Ready(event) => Some(event),
                Poll::Pending => None,
            })
        })
        .await
    }

    /// What comes next: an order, an event, or the end of a patience.
    async fn next(&mut self) -> Event {
        let deadline = self.deadline();
        let mut alarm = pin!(async move {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        });
        poll_fn(|cx| {
            if self.lingers_until.is_none() {
                match self.commands.poll_recv(cx) {
                    Poll::Ready(Some(control)) => return Poll::Ready(Event::Asked(control)),
                    Poll::Ready(None) => return Poll::Ready(Event::Superseded),
                    Poll::Pending => {}
                }
            }
            if let Poll::Ready(event) = self.poll_emission(cx) {
                return Poll::Ready(event);
            }
            alarm.as_mut().poll(cx).map(|()| Event::Silent)
        })
        .await
    }

    /// When the silence of the turn has lasted too long (O-L18).
    fn deadline(&self) -> Option<Instant> {
        let waits = self
            .translator
            .state()
            .is_some_and(TaskState::is_interrupted);
        let silent = self.core.limits.inactivity.filter(|_| !waits);
        self.lingers_until
            .or_else(|| silent.map(|silent| self.last_event + silent))
    }

    fn poll_emission(&mut self, cx: &mut Context<'_>) -> Poll<Event> {
        let Some(emissions) = &mut self.emissions else {
            return Poll::Pending;
        };
        // A panic of the executor is its own: the task fails, nothing else (O-J08).
        match catch_unwind(AssertUnwindSafe(|| emissions.as_mut().poll_next(cx))) {
            Ok(Poll::Ready(Some(Emission(kind)))) => Poll::Ready(Event::Emitted(kind)),
            Ok(Poll::Ready(None)) => {
                self.drop_turn();
                Poll::Ready(Event::Ended)
            }
            Ok(Poll::Pending) => Poll::Pending,
            Err(panic) => {
                self.drop_turn();
                Poll::Ready(Event::Panicked(Panicked::new(&*panic)))
            }
        }
    }

    fn drop_turn(&mut self) {
        let emissions = self.emissions.take();
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(emissions))) {
            let panicked = Panicked::new(&*panic);
            tracing::error!(task = self.key.id(), %panicked, "a turn panicked while it was dropped");
        }
    }
}

/// A steer where the run that is under way reads prompts, else a follow-up.
async fn say(
    control: &dyn SessionControl,
    session: &str,
    prompt: Prompt,
) -> Result<(), ControlRefusal> {
    if control.capabilities(session).await.steer {
        match control.steer(session, prompt.clone()).await {
            // The run has ended, or reads no more, since it was asked.
            Err(refusal) if refusal.code() == RefusalCode::Unsupported => {}
            said => return said.map(drop),
        }
    }
    control.follow_up(session, prompt).await.map(drop)
}

fn over(error: AppendError) -> Over {
    match error {
        AppendError::Conflict { .. }
        | AppendError::Finished
        | AppendError::Held
        | AppendError::NotFound => Over::Fenced,
        error => {
            tracing::error!(%error, "an update could not be stored");
            Over::Broken
        }
    }
}
