//! The log in SQLite keeps what every log keeps.
#![cfg(feature = "a2a")]

use portcullis_a2a::{
    log::{Limits, Retention, suite::Fixture},
    task_log_suite,
};
use portcullis_sqlite::{Database, SqliteLog};

fn open(retention: Retention, limits: Limits) -> Fixture {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let log = SqliteLog::new(Database::open(file).unwrap(), retention, limits).unwrap();
    Fixture::new(log).keeping(directory)
}

task_log_suite!(open);
