use std::sync::Arc;

use portcullis::{Failure, FailureCode};
use tokio::time::Instant;

use super::{
    Control,
    listen::Event,
    over::Over,
    run::Run,
    translate::{Breach, Translator, check_opening, complete},
    turn::Opening,
};
use crate::{
    model::{Error, ErrorKind, Message, Task, TaskState, TaskStatus},
    server::{
        EVENTS_EXTENSION, IdKind, Moment, Verdict, agent::failure_metadata, emission::Kind, verdict,
    },
};

/// What an event means for the task.
impl Run {
    pub(super) fn handle(&mut self, event: Event) -> Result<(), Over> {
        match event {
            Event::Emitted(Kind::Message(message)) => self.answer_with(message),
            Event::Emitted(Kind::Failed(failure)) => self.fail(&failure),
            Event::Emitted(kind) => {
                let is_state = matches!(kind, Kind::Status(_) | Kind::Task(_));
                let result = self.emit(kind);
                self.moment = Moment::AfterFirstEvent;
                self.signs.begin();
                if is_state {
                    let state = self.translator.state();
                    self.signs.ask(state.is_some_and(TaskState::is_interrupted));
                }
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

    /// Opens the task, if it is not there yet.
    pub(super) fn open(&mut self, task: Option<Task>) {
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
        if self.translator.is_open() {
            return self.translate(kind);
        }
        if let Kind::Task(task) = kind {
            check_opening(&self.cx, &task)?;
            self.open(Some(*task));
            return Ok(());
        }
        self.open(None);
        let translated = self.translate(kind);
        if translated.is_err() {
            // Nobody has seen it, so there is none.
            self.translator = Translator::new(None);
            self.opened = None;
            self.updates.clear();
        }
        translated
    }

    fn translate(&mut self, kind: Kind) -> Result<(), Breach> {
        self.translator
            .translate(&self.core, &self.cx, kind, &mut self.updates)
    }

    fn is_finished(&self) -> bool {
        self.translator.state().is_some_and(TaskState::is_terminal)
    }

    /// The executor answers with a message.
    fn answer_with(&mut self, mut message: Message) -> Result<(), Over> {
        if message.parts.is_empty() {
            return self.breach(&Breach("a message without parts"));
        }
        if !self.translator.is_open() {
            complete(&self.core, &self.cx, &mut message);
            // There is no task that it could belong to.
            message.task_id.clear();
            self.conclude(Ok(Opening::Message(message)));
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

    /// The executor broke the protocol (A2A-OP-44): a task that is there fails, and without one
    /// the operation is refused (A2A-OP-54).
    fn breach(&mut self, Breach(what): &Breach) -> Result<(), Over> {
        if self.translator.is_open() {
            return self.fail(&Failure::internal(format!("the executor emitted {what}")));
        }
        tracing::error!("an executor began with {what}");
        self.conclude(Err(ErrorKind::InvalidAgentResponse.into()));
        Err(Over::Settled)
    }

    /// The turn has failed (ruling 13).
    fn fail(&mut self, failure: &Failure) -> Result<(), Over> {
        let state = match verdict(failure, self.moment) {
            Verdict::Refused(kind) => {
                let refusal = Error::with_message(kind, failure.details().to_owned());
                self.conclude(Err(refusal.retry_after(failure.after())));
                // A task that was to be continued waits as before.
                self.releases = self.translator.is_open();
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
}
