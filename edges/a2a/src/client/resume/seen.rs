use std::collections::HashMap;

use super::content::Content;
use crate::model::{
    StreamResponse, Task, TaskArtifactUpdateEvent, TaskStatus, TaskStatusUpdateEvent,
};

/// What of a task the caller has been told.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    status: Option<TaskStatus>,
    artifacts: HashMap<String, Content>,
}

impl Seen {
    /// An event goes to the caller.
    pub(super) fn note(&mut self, response: &StreamResponse) {
        match response {
            StreamResponse::Message(_) => {}
            StreamResponse::Task(task) => {
                self.status = Some(task.status.clone());
                self.artifacts.clear();
                for artifact in &task.artifacts {
                    let content = Content::of(&artifact.parts);
                    self.artifacts.insert(artifact.artifact_id.clone(), content);
                }
            }
            StreamResponse::StatusUpdate(update) => self.status = Some(update.status.clone()),
            StreamResponse::ArtifactUpdate(update) => self.note_artifact(update),
        }
    }

    fn note_artifact(&mut self, update: &TaskArtifactUpdateEvent) {
        let id = update.artifact.artifact_id.clone();
        let content = self.artifacts.entry(id).or_default();
        if !update.append {
            *content = Content::default();
        }
        content.push(&update.artifact.parts);
    }

    /// What the caller has to be told to know the task as it is now: nothing twice, and what an
    /// artifact has more of as more of it. Only an artifact that was replaced comes whole.
    pub(super) fn missing_in(&self, task: Task) -> Vec<StreamResponse> {
        let Some(status) = &self.status else {
            return vec![StreamResponse::Task(task)];
        };
        let mut missing = Vec::new();
        for mut artifact in task.artifacts {
            let known = self.artifacts.get(&artifact.artifact_id);
            let rest = known.and_then(|known| known.rest_of(&artifact.parts));
            let appends = rest.is_some();
            match rest {
                Some(rest) if rest.is_empty() => continue,
                Some(rest) => artifact.parts = rest,
                None => {}
            }
            let mut update = TaskArtifactUpdateEvent::new(&*task.id, &*task.context_id, artifact);
            update.append = appends;
            missing.push(StreamResponse::ArtifactUpdate(update));
        }
        if *status != task.status {
            let update = TaskStatusUpdateEvent::new(task.id, task.context_id, task.status);
            missing.push(StreamResponse::StatusUpdate(
                update.with_metadata(task.metadata),
            ));
        }
        missing
    }
}
