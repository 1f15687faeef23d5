use rusqlite::{Connection, OptionalExtension};

use super::SessionError;
use crate::Database;

/// What engines remember of their sessions: one text a key, the last one written.
///
/// An engine that keeps its state here and nowhere else is portable (MUST 6): the next turn of a
/// session may run in another instance over the same store. Turns of one session have to
/// come one after the other, which is what a session gate is for; of two that overlap, the one
/// that writes last wins.
///
/// Cloning shares the store. The sessions that were used least recently are forgotten
/// beyond [`max_sessions`](Self::max_sessions).
///
/// ```
/// use portcullis_sqlite::{Database, SqliteSessions};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// # let file = directory.path().join("state.db");
/// let sessions = SqliteSessions::new(Database::open(file)?);
/// sessions.remember("ann/1", r#"{"said":1}"#).await?;
/// assert_eq!(sessions.recall("ann/1").await?.as_deref(), Some(r#"{"said":1}"#));
/// assert_eq!(sessions.recall("bob/1").await?, None);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SqliteSessions {
    database: Database,
    max_sessions: u32,
}

impl SqliteSessions {
    /// The longest key, in bytes.
    pub const MAX_KEY: usize = 4 << 10;
    /// The longest note, in bytes.
    pub const MAX_NOTE: usize = 1 << 20;

    /// The sessions of a database: the last 100,000.
    #[must_use]
    pub const fn new(database: Database) -> Self {
        Self {
            database,
            max_sessions: 100_000,
        }
    }

    /// How many sessions are kept; at least one is.
    #[must_use]
    pub const fn max_sessions(mut self, most: u32) -> Self {
        self.max_sessions = if most == 0 { 1 } else { most };
        self
    }

    /// What was remembered last.
    ///
    /// # Errors
    /// When the key is too long, or the database fails.
    pub async fn recall(&self, key: &str) -> Result<Option<String>, SessionError> {
        within("key", key, Self::MAX_KEY)?;
        let key = key.to_owned();
        let found = self.database.read(move |connection| {
            connection
                .prepare_cached("SELECT note FROM sessions WHERE key = ?1")?
                .query_row([&key], |row| row.get(0))
                .optional()
        });
        Ok(found.await?)
    }

    /// Remembers this, and nothing that was remembered before. When it returns, the note is on disk.
    ///
    /// # Errors
    /// When the key or the note is too long, or the database fails.
    ///
    /// # Cancel safety
    /// The note is written even if the future is dropped once it was polled.
    pub async fn remember(&self, key: &str, note: &str) -> Result<(), SessionError> {
        within("key", key, Self::MAX_KEY)?;
        within("note", note, Self::MAX_NOTE)?;
        let (key, note, most) = (key.to_owned(), note.to_owned(), self.max_sessions);
        let written = self.database.write(
            move |connection| put(connection, &key, &note, most),
            |()| {},
        );
        Ok(written.await?)
    }

    /// Forgets a session. One that is not there is forgotten already.
    ///
    /// # Errors
    /// When the key is too long, or the database fails.
    ///
    /// # Cancel safety
    /// The session is forgotten even if the future is dropped once it was polled.
    pub async fn forget(&self, key: &str) -> Result<(), SessionError> {
        within("key", key, Self::MAX_KEY)?;
        let key = key.to_owned();
        let gone = self.database.write(
            move |connection| {
                connection
                    .prepare_cached("DELETE FROM sessions WHERE key = ?1")?
                    .execute([&key])
                    .map(drop)
            },
            |()| {},
        );
        Ok(gone.await?)
    }
}

fn within(what: &'static str, text: &str, most: usize) -> Result<(), SessionError> {
    if text.len() > most {
        return Err(SessionError::TooLong {
            what,
            found: text.len(),
            most,
        });
    }
    Ok(())
}

fn put(connection: &Connection, key: &str, note: &str, most: u32) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO sessions (key, note, used)
             VALUES (?1, ?2, (SELECT coalesce(max(used), 0) + 1 FROM sessions))
             ON CONFLICT (key) DO UPDATE SET note = excluded.note, used = excluded.used",
        )?
        .execute((key, note))?;
    // Each use takes the next number, so the last `most` sessions lie above the one found here.
    connection
        .prepare_cached(
            "DELETE FROM sessions WHERE used <=
               (SELECT used FROM sessions ORDER BY used DESC LIMIT 1 OFFSET ?1)",
        )?
        .execute([most])?;
    Ok(())
}
