//! What a file has to be, and what is said of one that is not.
#![cfg(feature = "a2a")]

use std::{error::Error, fs, path::Path, time::SystemTime};

use portcullis_a2a::{
    log::{Batch, Holder, Limits, Owner, Retention, Seq, TaskKey, TaskLog},
    model::{Task, TaskState, TaskStatus, Timestamp},
};
use portcullis_sqlite::{Database, OpenError, SqliteLog, SqliteOptions};
use rusqlite::Connection;

fn key() -> TaskKey {
    TaskKey::new(Owner::ANONYMOUS, "t-1")
}

fn opening() -> Batch {
    let status = TaskStatus::new(TaskState::Submitted, Timestamp::now());
    Batch::new(key(), Seq::ZERO).with(Task::new("t-1", "c-1", status))
}

fn refused(file: &Path) -> OpenError {
    SqliteLog::open(file).expect_err("the file is no store of ours")
}

#[tokio::test]
async fn what_one_process_wrote_the_next_one_reads() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let log = SqliteLog::open(&file).unwrap();
    // Nobody waits for it: dropping the log writes what is queued all the same.
    drop(log.append(opening().held_by(Holder::new("first"))));
    drop(log);
    assert!(
        !directory.path().join("tasks.db-wal").exists(),
        "closed cleanly"
    );

    let log = SqliteLog::open(&file).unwrap();
    let snapshot = log
        .snapshot(&key())
        .await
        .unwrap()
        .expect("it was appended");
    assert_eq!(snapshot.seq(), Seq::new(1));
    // The first holder cannot live, for it does not have the file.
    let heir = Holder::new("second");
    let orphans = log
        .orphans(&heir, SystemTime::UNIX_EPOCH, 10)
        .await
        .unwrap();
    assert_eq!(orphans.len(), 1);
    assert!(orphans[0].is_untouched());
}

/// A bell rings in one process only, so the file is refused to a second one.
#[test]
fn a_file_in_use_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let log = SqliteLog::open(&file).unwrap();
    let clone = log.clone();
    let error = refused(&file);
    assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .ends_with("tasks.db is in use by another process")
    );
    drop(log);
    assert!(
        matches!(refused(&file), OpenError::InUse { .. }),
        "a clone has it"
    );
    drop(clone);
    SqliteLog::open(&file).unwrap();
}

#[test]
fn a_place_that_is_none_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let nowhere = directory.path().join("no/such/tasks.db");
    let error = refused(&nowhere);
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
    assert!(error.source().is_some());
    let inside = directory.path().join("directory");
    fs::create_dir(&inside).unwrap();
    let error = refused(&inside);
    assert!(matches!(error, OpenError::Unreachable { .. }), "{error:?}");
}

#[test]
fn a_file_that_is_something_else_is_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("notes.txt");
    let content = "These are notes, and not a database at all. ".repeat(100);
    fs::write(&text, &content).unwrap();
    let error = refused(&text);
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read_to_string(&text).unwrap(), content);

    let other = directory.path().join("other.db");
    let connection = Connection::open(&other).unwrap();
    connection
        .execute_batch("CREATE TABLE tasks (name TEXT)")
        .unwrap();
    drop(connection);
    let before = fs::read(&other).unwrap();
    let error = refused(&other);
    assert!(matches!(error, OpenError::Foreign { .. }), "{error:?}");
    assert_eq!(fs::read(&other).unwrap(), before);
}

#[test]
fn a_file_of_a_later_version_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    drop(SqliteLog::open(&file).unwrap());
    let connection = Connection::open(&file).unwrap();
    connection
        .pragma_update(None, "user_version", 1_000)
        .unwrap();
    drop(connection);
    let error = refused(&file);
    let OpenError::Newer {
        found: 1_000,
        known,
        ..
    } = error
    else {
        panic!("{error:?}");
    };
    assert!((1..1_000).contains(&known));
    let text = error.to_string();
    let said = format!("was written by a later version (schema 1000, this program knows {known})");
    assert!(text.ends_with(&said), "{text}");
}

#[test]
fn a_file_that_may_not_be_written_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    drop(SqliteLog::open(&file).unwrap());
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    if fs::OpenOptions::new().append(true).open(&file).is_ok() {
        // The superuser may write whatever the permissions are.
        SqliteLog::open(&file).unwrap();
        return;
    }
    let error = refused(&file);
    assert!(matches!(error, OpenError::ReadOnly { .. }), "{error:?}");
}

/// A full disk is an error of the append that met it, and what was acknowledged stays.
#[tokio::test]
async fn a_full_file_refuses_and_stays_whole() {
    use portcullis_a2a::{log::AppendError, model::Message};

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let options = SqliteOptions::new().max_size(512 << 10);
    let open = || {
        let database = Database::open_with(&file, &options)?;
        SqliteLog::new(database, Retention::default(), Limits::default())
    };
    let log = open().unwrap();
    let mut seq = log.append(opening()).await.unwrap();
    let error = loop {
        let message = Message::agent_text("x".repeat(10_000));
        match log.append(Batch::new(key(), seq).with(message)).await {
            Ok(end) => seq = end,
            Err(error) => break error,
        }
        assert!(seq.number() < 100, "it never became full");
    };
    assert!(matches!(error, AppendError::Unavailable(_)), "{error:?}");
    let mut causes = Vec::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        causes.push(error.to_string());
        cause = error.source();
    }
    assert!(
        causes.iter().any(|cause| cause.contains("full")),
        "{causes:?}"
    );
    let records = log.read(&key(), Seq::ZERO, 1_000).await.unwrap().unwrap();
    assert_eq!(
        records.len() as u64,
        seq.number(),
        "nothing of the refused one"
    );

    drop(log);
    let log = open().unwrap();
    let records = log.read(&key(), Seq::ZERO, 1_000).await.unwrap().unwrap();
    assert_eq!(records.len() as u64, seq.number());
}

/// A log that is long is not folded from its beginning each time, and folds to the same.
#[tokio::test]
async fn the_fold_of_a_long_task_is_kept() {
    use portcullis_a2a::{
        log::{Update, fold},
        model::{Artifact, TaskArtifactUpdateEvent},
    };

    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("tasks.db");
    let log = SqliteLog::open(&file).unwrap();
    let mut seq = log.append(opening()).await.unwrap();
    let kept = |log: &SqliteLog| {
        // A write that is acknowledged comes after the writes before it.
        let settled = log.renew(&Holder::new("h"), SystemTime::now());
        let file = file.clone();
        async move {
            settled.await.unwrap();
            let connection = Connection::open(file).unwrap();
            connection
                .query_row("SELECT max(seq) FROM folds", [], |row| {
                    row.get::<_, Option<i64>>(0)
                })
                .unwrap()
        }
    };
    for round in 0..6_u64 {
        let updates: Vec<Update> = (0..40)
            .map(|number| {
                let artifact = Artifact::text("a-1", "y".repeat(1_000));
                let mut event = TaskArtifactUpdateEvent::new("t-1", "c-1", artifact);
                event.append = round > 0 || number > 0;
                event.into()
            })
            .collect();
        seq = log.append(Batch::of(key(), seq, updates)).await.unwrap();
        let snapshot = log.snapshot(&key()).await.unwrap().unwrap();
        assert_eq!(snapshot.seq(), seq);
        assert_eq!(
            snapshot.task().artifacts[0].parts.len() as u64,
            40 * (round + 1)
        );
        let records = log
            .read(&key(), Seq::ZERO, usize::MAX)
            .await
            .unwrap()
            .unwrap();
        let whole = fold(None, records).unwrap().unwrap();
        assert_eq!(*snapshot.task(), whole);
        // What is kept keeps up, but not with every read.
        let kept = kept(&log).await;
        match round {
            0 => assert_eq!(kept, None, "a short log is folded as it is"),
            1 => assert_eq!(kept, Some(81)),
            _ => assert!(kept >= Some(81) && kept <= Some(161), "{kept:?}"),
        }
    }
    // 240 KB went in: at 41 and 81 KB, then when it had doubled.
    assert_eq!(kept(&log).await, Some(161));
}

/// Two logs of one file would have bells of their own, and watchers of one would miss what the other
/// appends.
#[tokio::test]
async fn a_database_has_one_task_log() {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path().join("one.db")).unwrap();
    let log = |database: &Database| {
        SqliteLog::new(database.clone(), Retention::default(), Limits::default())
    };
    let first = log(&database).unwrap();
    let error = log(&database).unwrap_err();
    assert!(matches!(error, OpenError::Taken { .. }), "{error:?}");
    assert!(error.to_string().contains("task log"), "{error}");
    first.clone().append(opening()).await.unwrap();
}
