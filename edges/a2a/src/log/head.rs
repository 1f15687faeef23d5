use super::{AppendError, Batch, Holder, Limits, Record, Seq, Update};
use crate::model::TaskState;

/// Where the log of a task ends: all that a backend has to know to judge a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    seq: Seq,
    state: TaskState,
    bytes: u64,
    holder: Option<Holder>,
}

impl Head {
    /// What a backend stored: the last number, the state, the bytes of JSON so far, and
    /// who holds the task.
    #[must_use]
    pub const fn new(seq: Seq, state: TaskState, bytes: u64, holder: Option<Holder>) -> Self {
        Self {
            seq,
            state,
            bytes,
            holder,
        }
    }

    /// The number of the last update.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// The state of the task.
    #[must_use]
    pub const fn state(&self) -> TaskState {
        self.state
    }

    /// The bytes of JSON in its log.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Who holds the task.
    #[must_use]
    pub const fn holder(&self) -> Option<&Holder> {
        self.holder.as_ref()
    }

    /// Whether nobody runs the task any more, given who lives. A task that waits for its user or for
    /// a credential needs nobody; but where it has a holder it was answered, or goes on by itself,
    /// and is lost with it.
    #[must_use]
    pub fn is_orphan(&self, lives: impl FnOnce(&Holder) -> bool) -> bool {
        match self.state {
            state if state.is_terminal() => false,
            state if state.is_interrupted() => {
                self.holder.as_ref().is_some_and(|holder| !lives(holder))
            }
            _ => self.holder.as_ref().is_none_or(|holder| !lives(holder)),
        }
    }

    /// The task is now this holder's.
    pub fn hand_over(&mut self, holder: &Holder) {
        self.holder = Some(holder.clone());
    }

    /// Judges a batch: the one place for the rules of an append, used by every backend.
    /// `head` is `None` where there is no such task, `records` are the encoded updates,
    /// and `has_artifact` says whether the task has an artifact of this id.
    ///
    /// Answers where the log will end.
    ///
    /// # Errors
    /// Says which rule the batch breaks.
    pub fn admit(
        head: Option<&Self>,
        batch: &Batch,
        records: &[Record],
        limits: &Limits,
        has_artifact: impl FnMut(&str) -> bool,
    ) -> Result<Self, AppendError> {
        let opens = matches!(batch.updates().first(), Some(Update::Opened(_)));
        let Some(head) = head else {
            return match (batch.expected(), opens) {
                (Seq::ZERO, true) => Self::advance(None, batch, records, limits, has_artifact),
                (Seq::ZERO, false) if !batch.updates().is_empty() => Err(AppendError::Misplaced),
                _ => Err(AppendError::NotFound),
            };
        };
        if batch.expected() != Seq::ZERO && head.state.is_terminal() {
            return Err(AppendError::Finished);
        }
        if batch.expected() != head.seq {
            return Err(AppendError::Conflict { actual: head.seq });
        }
        if opens {
            return Err(AppendError::Misplaced);
        }
        if let (Some(writer), Some(holder)) = (&batch.holder(), &head.holder)
            && *writer != holder
        {
            return Err(AppendError::Held);
        }
        Self::advance(Some(head), batch, records, limits, has_artifact)
    }

    fn advance(
        head: Option<&Self>,
        batch: &Batch,
        records: &[Record],
        limits: &Limits,
        mut has_artifact: impl FnMut(&str) -> bool,
    ) -> Result<Self, AppendError> {
        let mut state = head.map_or(TaskState::Submitted, |head| head.state);
        let mut finished = false;
        // Whoever waits for its user needs nobody, and whoever answers may be served by
        // another process.
        let mut waits = false;
        for (index, update) in batch.updates().iter().enumerate() {
            if finished {
                return Err(AppendError::Finished);
            }
            match update {
                Update::Opened(task) if index == 0 => state = task.status.state,
                Update::Opened(_) => return Err(AppendError::Misplaced),
                Update::Status(event) => state = event.status.state,
                Update::Artifact(chunk) if chunk.event().append => {
                    let id = &chunk.event().artifact.artifact_id;
                    if !batch.sends_artifact_before(index, id) && !has_artifact(id) {
                        return Err(AppendError::UnknownArtifact {
                            artifact_id: id.clone(),
                        });
                    }
                }
                Update::Artifact(_) | Update::Message(_) => {}
            }
            finished = state.is_terminal();
            if matches!(update, Update::Opened(_) | Update::Status(_)) {
                waits = state == TaskState::InputRequired;
            }
        }
        let seq = batch.expected().plus(records.len());
        let grown: u64 = records
            .iter()
            .map(|record| record.json().len() as u64)
            .sum();
        let bytes = head.map_or(0, |head| head.bytes).saturating_add(grown);
        if !finished && (seq.number() > limits.max_updates() || bytes > limits.max_bytes()) {
            return Err(AppendError::Full);
        }
        let holder = if finished || waits || batch.releases() {
            None
        } else {
            batch
                .holder()
                .or_else(|| head.and_then(Self::holder))
                .cloned()
        };
        Ok(Self {
            seq,
            state,
            bytes,
            holder,
        })
    }
}
