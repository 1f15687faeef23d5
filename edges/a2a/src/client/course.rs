use std::sync::Arc;

use super::error::CallError;
use crate::model::StreamResponse;

/// What a stream has told so far, and whether it may end here.
#[derive(Debug, Default)]
pub(super) struct Course {
    task_id: Option<String>,
    last_event_id: Option<Arc<str>>,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Running,
    /// The task waits for somebody: the stream may end, or go on.
    Resting,
    /// Nothing more is to come.
    Over,
}

impl Course {
    /// Of a task that is known before.
    pub(super) fn of_task(task_id: &str) -> Self {
        Self {
            task_id: Some(task_id.to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn task_id(&self) -> Option<&str> {
        self.task_id.as_deref()
    }

    pub(super) fn last_event_id(&self) -> Option<&str> {
        self.last_event_id.as_deref()
    }

    pub(super) fn is_over(&self) -> bool {
        self.stage == Stage::Over
    }

    /// Whether the event is one for the caller.
    ///
    /// After the last one only the whole task may come again (A2A-OP-57); what else a server still
    /// says changes nothing any more.
    ///
    /// # Errors
    /// The event is of another task.
    pub(super) fn take(
        &mut self,
        response: &StreamResponse,
        id: Option<&Arc<str>>,
    ) -> Result<bool, CallError> {
        let (task_id, state) = match response {
            StreamResponse::Message(_) => ("", None),
            StreamResponse::Task(task) => (&*task.id, Some(&task.status.state)),
            StreamResponse::StatusUpdate(update) => (&*update.task_id, Some(&update.status.state)),
            StreamResponse::ArtifactUpdate(update) => (&*update.task_id, None),
        };
        let is_whole = matches!(response, StreamResponse::Task(_));
        if self.is_over() && !(is_whole && state.is_some_and(|state| state.is_terminal())) {
            tracing::debug!("an event after the end of the stream is left out");
            return Ok(false);
        }
        match &self.task_id {
            Some(ours) if !task_id.is_empty() && ours != task_id => {
                return Err(CallError::protocol(format!(
                    "an event is of task {task_id:?}, not of {ours:?}"
                )));
            }
            Some(_) => {}
            None if task_id.is_empty() => {}
            None => self.task_id = Some(task_id.to_owned()),
        }
        self.last_event_id = id.cloned();
        self.stage = match state {
            Some(state) if state.is_terminal() => Stage::Over,
            Some(state) if state.is_interrupted() => Stage::Resting,
            Some(_) => Stage::Running,
            // A message alone is an answer; beside a task it is none.
            None if self.task_id.is_none() => Stage::Over,
            None => self.stage,
        };
        Ok(true)
    }

    /// The stream is at its end: well, or not.
    pub(super) fn end(&self) -> Result<(), CallError> {
        match self.stage {
            Stage::Resting | Stage::Over => Ok(()),
            Stage::Running => Err(CallError::Cut {
                task_id: self.task_id.clone(),
                last_event_id: self.last_event_id.as_deref().map(str::to_owned),
            }),
        }
    }
}
