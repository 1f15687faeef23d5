//! What engines remember of their sessions.

use portcullis_sqlite::{Database, SessionError, SqliteSessions};

fn open(directory: &tempfile::TempDir) -> SqliteSessions {
    SqliteSessions::new(Database::open(directory.path().join("state.db")).unwrap())
}

/// MUST 6: what one instance remembered, the next one over the same file knows.
#[tokio::test]
async fn the_next_process_knows_what_was_remembered() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = open(&directory);
    sessions.remember("a", "one").await.unwrap();
    sessions.remember("a", "two").await.unwrap();
    sessions.remember("b", "").await.unwrap();
    drop(sessions);

    let sessions = open(&directory);
    assert_eq!(sessions.recall("a").await.unwrap().as_deref(), Some("two"));
    assert_eq!(sessions.recall("b").await.unwrap().as_deref(), Some(""));
    assert_eq!(sessions.recall("c").await.unwrap(), None);
    sessions.forget("a").await.unwrap();
    sessions.forget("a").await.unwrap();
    assert_eq!(sessions.recall("a").await.unwrap(), None);
}

/// The number of sessions is bounded; those used last stay.
#[tokio::test]
async fn the_least_recently_used_are_forgotten() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = open(&directory).max_sessions(3);
    for key in ["a", "b", "c", "a", "d"] {
        sessions.remember(key, "x").await.unwrap();
    }
    let mut kept = Vec::new();
    for key in ["a", "b", "c", "d"] {
        if sessions.recall(key).await.unwrap().is_some() {
            kept.push(key);
        }
    }
    assert_eq!(kept, ["a", "c", "d"]);
}

#[tokio::test]
async fn what_is_too_long_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let sessions = open(&directory);
    let key = "k".repeat(SqliteSessions::MAX_KEY + 1);
    let note = "n".repeat(SqliteSessions::MAX_NOTE + 1);
    for error in [
        sessions.remember(&key, "").await.unwrap_err(),
        sessions.recall(&key).await.unwrap_err(),
        sessions.forget(&key).await.unwrap_err(),
        sessions.remember("k", &note).await.unwrap_err(),
    ] {
        assert!(matches!(error, SessionError::TooLong { .. }), "{error:?}");
    }
    sessions.remember(&key[1..], &note[1..]).await.unwrap();
}
