//! The log of a task: its truth, from which the task is folded.
//!
//! Every update of a task is appended to its log before anybody sees it, and the task is
//! the fold of its log. A watcher is a [`Snapshot`] and the updates behind it. So no
//! watcher misses the first event or the last one, all of them see the same ones in the
//! same order, a slow one reads later and loses nothing, and what a stream has told a
//! `GetTask` never takes back (O-L06, O-L15, A2A-OP-66, A2A-OP-71).
//!
//! # The record
//!
//! - A log belongs to a [`TaskKey`]: an [`Owner`] – tenant and principal – and an id. What
//!   belongs to another owner is not there.
//! - A [`Batch`] of [`Update`]s is appended whole or not at all, and only if the log ends
//!   where the writer believes it to ([`Seq`]). This fences a writer that slept, and makes
//!   cancel against completion one step.
//! - [`Update::Opened`] comes first, and nothing follows a terminal status.
//! - A [`Record`] is an update as JSON, encoded once: stores keep it, streams send it.
//! - Only artifact updates that the agent adapter made by coalescing text are
//!   [merging](Chunk::merging); what an executor emits stays in as many parts as it had.
//!
//! # Who runs a task
//!
//! A [`Holder`] is a process. It says from time to time that it [lives](TaskLog::renew)
//! and holds what its batches [say](Batch::held_by). What dead holders leave behind is
//! handed to whoever asks for [orphans](TaskLog::orphans): an untouched one may be run
//! again, every other one has to be failed, so that no task stays WORKING without anybody
//! who works (A2A-OP-117).
//!
//! # What is kept
//!
//! Of a task that is not finished, everything; [`Limits`] bound how much that can be.
//! Finished tasks go by age and by number, see [`Retention`].
//!
//! # Backends
//!
//! [`MemoryLog`] is the one for tests. A backend implements [`TaskLog`], judges batches
//! with [`Head::admit`], rings its [`Bells`], and proves itself with
//! [`task_log_suite!`](crate::task_log_suite) (feature `testing`).
//!
//! ```
//! # #[cfg(feature = "server")]
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use portcullis_a2a::{
//!     log::{Batch, MemoryLog, Owner, Seq, TaskKey, TaskLog},
//!     model::{
//!         Artifact, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent,
//!         Timestamp,
//!     },
//! };
//!
//! let log = MemoryLog::new();
//! let key = TaskKey::new(Owner::ANONYMOUS, "t-1");
//! let status = |state| TaskStatus::new(state, Timestamp::now());
//!
//! let opening = Batch::new(key.clone(), Seq::ZERO)
//!     .with(Task::new("t-1", "c-1", status(TaskState::Submitted)))
//!     .with(TaskStatusUpdateEvent::new("t-1", "c-1", status(TaskState::Working)));
//! let end = log.append(opening).await?;
//! let artifact = Artifact::text("a-1", "forty-two");
//! let answer = Batch::new(key.clone(), end)
//!     .with(TaskArtifactUpdateEvent::new("t-1", "c-1", artifact))
//!     .with(TaskStatusUpdateEvent::new("t-1", "c-1", status(TaskState::Completed)));
//! log.append(answer).await?;
//!
//! let snapshot = log.snapshot(&key).await?.expect("it was opened above");
//! assert_eq!(snapshot.seq(), Seq::new(4));
//! assert_eq!(snapshot.task().status.state, TaskState::Completed);
//! let records = log.read(&key, end, 100).await?.expect("it was opened above");
//! assert!(records[0].json().starts_with(r#"{"artifactUpdate":{"taskId":"t-1""#));
//! # Ok(()) }
//! # #[cfg(not(feature = "server"))]
//! # fn main() {}
//! ```

mod fold;
mod update;

#[cfg(feature = "server")]
mod batch;
#[cfg(feature = "server")]
mod bell;
#[cfg(feature = "server")]
mod error;
#[cfg(feature = "server")]
mod hash;
#[cfg(feature = "server")]
mod head;
#[cfg(feature = "server")]
mod key;
#[cfg(feature = "server")]
mod lease;
#[cfg(feature = "server")]
mod list;
#[cfg(feature = "server")]
mod memory;
#[cfg(feature = "server")]
mod record;
#[cfg(feature = "server")]
mod reply;
#[cfg(feature = "server")]
mod retention;
#[cfg(feature = "server")]
mod seq;
#[cfg(feature = "server")]
mod snapshot;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod suite;
#[cfg(feature = "server")]
mod task_log;

#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub use self::fold::fold;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub use self::{
    batch::Batch,
    bell::{Bell, Bells},
    error::{AppendError, Unavailable},
    head::Head,
    key::{Owner, TaskKey},
    lease::{Holder, Orphan},
    list::{Cursor, ListPage, ListQuery, status_millis},
    memory::MemoryLog,
    record::{Record, RecordKind},
    reply::Reply,
    retention::{Limits, Retention},
    seq::Seq,
    snapshot::Snapshot,
    task_log::TaskLog,
};
pub use self::{
    fold::apply,
    update::{Chunk, Update},
};
