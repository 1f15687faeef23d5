//! SQLite implementations of the stores of Portcullis: one file, nothing to install.
//!
//! | feature | what it adds |
//! |---|---|
//! | `bundled` (default) | SQLite itself, compiled in; without it the system's library is linked |
//! | `a2a` | [`SqliteLog`] and [`SqlitePushStore`]: the task log of `portcullis-a2a`, and its webhooks |
//! | `ledger` | [`SqliteLedger`]: the budgets of `portcullis-layers` |
//! | `sessions` | [`SqliteSessions`]: what engines remember of their sessions |
//!
#![cfg_attr(
    feature = "a2a",
    doc = r#"
```no_run
use std::sync::Arc;
use portcullis_a2a::{model::{AgentCard, TaskState}, server::{Server, executor_fn}};
use portcullis_sqlite::SqliteLog;

# async fn doc(card: AgentCard) -> Result<(), Box<dyn std::error::Error>> {
# let executor = executor_fn(async |ctx, out| out.emit(ctx.status(TaskState::Completed)).await);
let log = Arc::new(SqliteLog::open("tasks.sqlite")?);
let server = Server::builder(executor, card).log(log).build();
// Takes up what an earlier process has left: once, before the first call.
let taken_up = server.recover().await?;
# let _ = taken_up;
# Ok(())
# }
```
"#
)]
//!
//! A [`Database`] is the file; several stores can live in it side by side.
//!
//! # What is on disk when
//!
//! One thread writes. It takes all that waits, in order, as one transaction, and
//! acknowledges each after its commit, so that a thousand writers share a few syncs a
//! second. The file is in WAL mode with `synchronous=FULL`: a commit returns after the
//! log of the file has been synced. What was acknowledged survives the process and, as far as
//! the disk keeps its word, the machine. A few other threads read, and never wait for
//! the writer.
//!
//! One process has the file at a time, see [`OpenError::InUse`]. A process that was killed
//! leaves nothing to repair: the next one opens the file and continues.
//!
//! Dropping the last handle writes what still waits, then joins the threads.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(
    not(feature = "a2a"),
    allow(dead_code, reason = "each store uses its part of the machinery")
)]

#[cfg(feature = "a2a")]
mod a2a;
mod database;
mod file;
#[cfg(feature = "ledger")]
mod ledger;
mod migration;
mod open_error;
#[cfg(feature = "a2a")]
mod push;
mod readers;
#[cfg(feature = "sessions")]
mod sessions;
mod writer;

#[cfg(feature = "ledger")]
#[cfg_attr(docsrs, doc(cfg(feature = "ledger")))]
pub use self::ledger::{SqliteLedger, SqliteReservation};
#[cfg(feature = "sessions")]
#[cfg_attr(docsrs, doc(cfg(feature = "sessions")))]
pub use self::sessions::{SessionError, SqliteSessions};
#[cfg(feature = "a2a")]
#[cfg_attr(docsrs, doc(cfg(feature = "a2a")))]
pub use self::{a2a::SqliteLog, push::SqlitePushStore};
pub use self::{database::Database, file::SqliteOptions, open_error::OpenError};
