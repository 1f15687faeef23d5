use std::time::SystemTime;

use super::{
    AppendError, Batch, Bell, Holder, ListPage, ListQuery, Orphan, Record, Reply, Seq, Snapshot,
    TaskKey, Unavailable,
};

/// The port to where tasks live: one log a task.
///
/// Used as `Arc<dyn TaskLog>`. The work of each method begins when it is called, whether
/// or not its reply is awaited. What every backend promises is what
/// [`task_log_suite!`](crate::task_log_suite) checks:
///
/// - A batch is appended whole or not at all, and is stored before anybody can read it.
/// - Numbers begin at 1 and have no gap; `expected` fences.
/// - Nothing follows a terminal status.
/// - A key of another owner answers as one that never existed.
/// - A snapshot is not changed by what comes later.
/// - The log of a task that is not finished is never trimmed.
pub trait TaskLog: Send + Sync + 'static {
    /// Appends a batch, and answers where the log ends now. Once the reply says so, the
    /// batch is as durable as the backend can make it, and every bell has rung.
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>>;

    /// Reads up to `limit` updates behind `after`. No update means that there is none
    /// yet; `None` that there is no such task.
    fn read(
        &self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Reply<Result<Option<Vec<Record>>, Unavailable>>;

    /// The task as it is now. `None` if there is no such task.
    fn snapshot(&self, key: &TaskKey) -> Reply<Result<Option<Snapshot>, Unavailable>>;

    /// The tasks of one owner.
    fn list(&self, query: ListQuery) -> Reply<Result<ListPage, Unavailable>>;

    /// A bell that rings when the log of this task grows or goes. Taking one creates no
    /// task.
    fn bell(&self, key: &TaskKey) -> Bell;

    /// How many bells are held.
    fn bells(&self) -> usize;

    /// The holder lives at least until then. A holder that never said so is dead.
    fn renew(&self, holder: &Holder, until: SystemTime) -> Reply<Result<(), Unavailable>>;

    /// Takes over up to `limit` tasks of its [namespace](Holder::in_namespace) that nobody runs, for
    /// `holder`: those of holders
    /// that are dead at `now`, and those in [`Submitted`] or [`Working`] that nobody
    /// holds. A task that waits for its user ([`InputRequired`]) and that nobody holds needs nobody;
    /// one that was answered is held.
    ///
    /// [`Submitted`]: crate::model::TaskState::Submitted
    /// [`Working`]: crate::model::TaskState::Working
    /// [`InputRequired`]: crate::model::TaskState::InputRequired
    fn orphans(
        &self,
        holder: &Holder,
        now: SystemTime,
        limit: usize,
    ) -> Reply<Result<Vec<Orphan>, Unavailable>>;

    /// Lets go of finished tasks as the [retention](super::Retention) of the backend
    /// says, and answers how many. Backends keep to its number by themselves; its age
    /// needs this call from time to time.
    fn retain(&self, now: SystemTime) -> Reply<Result<usize, Unavailable>>;
}
