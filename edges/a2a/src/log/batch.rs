use super::{Holder, Seq, TaskKey, Update};

/// Updates that are appended together, all or none.
///
/// `expected` is where the writer believes the log to end. If it ends elsewhere the batch
/// is refused, so a writer that slept through something cannot write over it. A new
/// task is expected at [`Seq::ZERO`] and its first update is [`Update::Opened`].
#[derive(Clone, Debug)]
#[must_use]
pub struct Batch {
    key: TaskKey,
    expected: Seq,
    updates: Vec<Update>,
    holder: Option<Holder>,
    releases: bool,
}

impl Batch {
    /// Nothing yet, behind `expected`.
    pub const fn new(key: TaskKey, expected: Seq) -> Self {
        Self {
            key,
            expected,
            updates: Vec::new(),
            holder: None,
            releases: false,
        }
    }

    /// Updates behind `expected`.
    pub const fn of(key: TaskKey, expected: Seq, updates: Vec<Update>) -> Self {
        Self {
            key,
            expected,
            updates,
            holder: None,
            releases: false,
        }
    }

    /// One more update.
    pub fn with(mut self, update: impl Into<Update>) -> Self {
        self.updates.push(update.into());
        self
    }

    /// Who writes: it comes to hold the task, and is refused if somebody else holds it.
    /// A batch without updates does just that.
    pub fn held_by(mut self, holder: Holder) -> Self {
        self.holder = Some(holder);
        self
    }

    /// Nobody holds the task afterwards. An update that finishes it implies this, and so
    /// does one that makes it wait for its user.
    pub const fn releasing(mut self) -> Self {
        self.releases = true;
        self
    }

    /// Which task.
    #[must_use]
    pub const fn key(&self) -> &TaskKey {
        &self.key
    }

    /// Where the log is believed to end.
    #[must_use]
    pub const fn expected(&self) -> Seq {
        self.expected
    }

    /// The updates, in order.
    #[must_use]
    pub fn updates(&self) -> &[Update] {
        &self.updates
    }

    /// Who writes.
    #[must_use]
    pub const fn holder(&self) -> Option<&Holder> {
        self.holder.as_ref()
    }

    /// Whether the task is released.
    #[must_use]
    pub const fn releases(&self) -> bool {
        self.releases
    }

    /// Whether an update before this one sends the artifact whole.
    pub(super) fn sends_artifact_before(&self, index: usize, artifact_id: &str) -> bool {
        self.updates[..index].iter().any(|update| match update {
            Update::Opened(task) => task
                .artifacts
                .iter()
                .any(|artifact| artifact.artifact_id == artifact_id),
            Update::Artifact(chunk) => chunk.event().artifact.artifact_id == artifact_id,
            Update::Status(_) | Update::Message(_) => false,
        })
    }

    /// The updates, to fold them without a copy.
    #[must_use]
    pub fn into_updates(self) -> Vec<Update> {
        self.updates
    }
}
