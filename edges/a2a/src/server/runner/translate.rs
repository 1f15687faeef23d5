//! From what an executor emits to what stands in the log: fills in what it left out and
//! refuses what cannot be completed (A2A-OP-43, A2A-OP-44).

use std::collections::HashSet;

use crate::{
    log::{Chunk, Update},
    model::{
        Message, Role, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
        Timestamp,
    },
    server::{
        EVENTS_EXTENSION, IdKind, RequestContext, agent::task_metadata, core::Core, emission::Kind,
    },
};

use super::repair::next_time;

/// What is known of the task while it is written.
pub(super) struct Translator {
    /// `None` until the task is opened.
    state: Option<TaskState>,
    last_time: Option<Timestamp>,
    artifacts: HashSet<String>,
}

/// What an executor said against the protocol.
#[derive(Debug)]
pub(super) struct Breach(pub(super) &'static str);

impl Translator {
    /// For a task that is there, or for one that is not yet.
    pub(super) fn new(task: Option<&Task>) -> Self {
        Self {
            state: task.map(|task| task.status.state),
            last_time: task.and_then(|task| task.status.timestamp),
            artifacts: task
                .into_iter()
                .flat_map(|task| &task.artifacts)
                .map(|artifact| artifact.artifact_id.clone())
                .collect(),
        }
    }

    pub(super) const fn is_open(&self) -> bool {
        self.state.is_some()
    }

    pub(super) const fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// The task as it begins: SUBMITTED, with what the user said (A2A-OP-42, A2A-OP-56).
    pub(super) fn open(&mut self, core: &Core, cx: &RequestContext, mut task: Task) -> Task {
        cx.task_id().clone_into(&mut task.id);
        cx.context_id().clone_into(&mut task.context_id);
        if task.status.state == TaskState::Unknown {
            task.status.state = TaskState::Submitted;
        }
        task.status.timestamp = Some(self.time(core));
        task.status.message = completed(core, cx, task.status.message);
        // The history is the server's (O-H07).
        task.history = vec![cx.message().clone()];
        if cx.is_active(EVENTS_EXTENSION) {
            task.metadata.merge(task_metadata());
        }
        self.state = Some(task.status.state);
        for artifact in &mut task.artifacts {
            if artifact.artifact_id.is_empty() {
                artifact.artifact_id = self.next_artifact_id();
            }
            self.artifacts.insert(artifact.artifact_id.clone());
        }
        task
    }

    /// The updates that an emission stands for.
    pub(super) fn translate(
        &mut self,
        core: &Core,
        cx: &RequestContext,
        kind: Kind,
        updates: &mut Vec<Update>,
    ) -> Result<(), Breach> {
        match kind {
            Kind::Status(event) => updates.push(self.status(core, cx, event)?.into()),
            Kind::Artifact(chunk) => updates.push(Update::Artifact(self.chunk(cx, chunk)?)),
            Kind::Task(task) => {
                belongs(cx, &task.id, &task.context_id)?;
                // The task is there, so what the executor shows are its differences.
                for artifact in task.artifacts {
                    let event = TaskArtifactUpdateEvent::new("", "", artifact);
                    let chunk = self.chunk(cx, Chunk::new(event))?;
                    updates.push(Update::Artifact(chunk));
                }
                if task.status.state != TaskState::Unknown {
                    let mut event = TaskStatusUpdateEvent::new(task.id, "", task.status);
                    event.metadata = task.metadata;
                    updates.push(self.status(core, cx, event)?.into());
                }
            }
            Kind::Message(_) => return Err(Breach("a message after the task was opened")),
            Kind::Failed(_) => unreachable!("judged before it is translated"),
        }
        Ok(())
    }

    /// A status of the server's own.
    pub(super) fn settle(
        &mut self,
        core: &Core,
        cx: &RequestContext,
        state: TaskState,
        text: Option<String>,
    ) -> TaskStatusUpdateEvent {
        let mut status = TaskStatus::new(state, self.time(core));
        if let Some(text) = text {
            let mut message = Message::agent_text(text);
            complete(core, cx, &mut message);
            status = status.with_message(message);
        }
        self.state = Some(state);
        TaskStatusUpdateEvent::new(cx.task_id(), cx.context_id(), status)
    }

    fn status(
        &mut self,
        core: &Core,
        cx: &RequestContext,
        mut event: TaskStatusUpdateEvent,
    ) -> Result<TaskStatusUpdateEvent, Breach> {
        belongs(cx, &event.task_id, &event.context_id)?;
        cx.task_id().clone_into(&mut event.task_id);
        cx.context_id().clone_into(&mut event.context_id);
        match (self.state, event.status.state) {
            (_, TaskState::Unknown) => return Err(Breach("a status without a state")),
            (Some(state), _) if state.is_terminal() => {
                return Err(Breach("a status after the end of the task"));
            }
            // Nothing goes back to SUBMITTED (A2A-OP-116).
            (Some(state), TaskState::Submitted) if state != TaskState::Submitted => {
                return Err(Breach("a task that is under way cannot be submitted again"));
            }
            (_, state) => self.state = Some(state),
        }
        event.status.timestamp = Some(self.time(core));
        event.status.message = completed(core, cx, event.status.message);
        Ok(event)
    }

    fn chunk(&mut self, cx: &RequestContext, chunk: Chunk) -> Result<Chunk, Breach> {
        let merges = chunk.merges();
        let mut event = chunk.into_event();
        belongs(cx, &event.task_id, &event.context_id)?;
        cx.task_id().clone_into(&mut event.task_id);
        cx.context_id().clone_into(&mut event.context_id);
        if self.state.is_some_and(TaskState::is_terminal) {
            return Err(Breach("an artifact after the end of the task"));
        }
        if event.artifact.parts.is_empty() {
            return Err(WITHOUT_PARTS);
        }
        if event.artifact.artifact_id.is_empty() {
            if event.append {
                return Err(Breach("more of an artifact that is not named"));
            }
            event.artifact.artifact_id = self.next_artifact_id();
        }
        let id = &event.artifact.artifact_id;
        if !self.artifacts.contains(id) {
            // The log would refuse it too, with all that stands in the same batch
            // (O-L09).
            if event.append {
                return Err(Breach("more of an artifact that was never begun"));
            }
            self.artifacts.insert(id.clone());
        }
        Ok(if merges {
            Chunk::merging(event)
        } else {
            Chunk::new(event)
        })
    }

    fn next_artifact_id(&self) -> String {
        format!("a-{}", self.artifacts.len() + 1)
    }

    fn time(&mut self, core: &Core) -> Timestamp {
        let time = next_time(core, self.last_time);
        self.last_time = Some(time);
        time
    }
}

fn belongs(cx: &RequestContext, task_id: &str, context_id: &str) -> Result<(), Breach> {
    let is = |id: &str, own: &str| id.is_empty() || id == own;
    if is(task_id, cx.task_id()) && is(context_id, cx.context_id()) {
        Ok(())
    } else {
        Err(Breach("an event of another task"))
    }
}

/// What an executor may not open a task with (A2A-OP-44).
pub(super) fn check_opening(cx: &RequestContext, task: &Task) -> Result<(), Breach> {
    belongs(cx, &task.id, &task.context_id)?;
    if task
        .artifacts
        .iter()
        .any(|artifact| artifact.parts.is_empty())
    {
        return Err(WITHOUT_PARTS);
    }
    Ok(())
}

/// The message of a status. One without parts says nothing, and is none.
fn completed(core: &Core, cx: &RequestContext, message: Option<Message>) -> Option<Message> {
    let mut message = message.filter(|message| !message.parts.is_empty())?;
    complete(core, cx, &mut message);
    Some(message)
}

/// Fills in what executors forget (A2A-OP-43).
pub(super) fn complete(core: &Core, cx: &RequestContext, message: &mut Message) {
    if message.message_id.is_empty() {
        message.message_id = core.ids.next(IdKind::Message);
    }
    cx.task_id().clone_into(&mut message.task_id);
    cx.context_id().clone_into(&mut message.context_id);
    message.role = Role::Agent;
}

const WITHOUT_PARTS: Breach = Breach("an artifact without parts");
