use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use num_rational::BigRational;
use portcullis::{Failure, FailureCode, Scope};
use portcullis_sqlite::SqliteSessions;
use serde::{Deserialize, Serialize};

use super::units::Unit;

/// What a session remembers.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recall {
    /// What "that" refers to.
    pub(crate) number: Option<(BigRational, Option<&'static Unit>)>,
    /// What "it" refers to, as a file.
    pub(crate) path: Option<String>,
    /// What a question of ours left open.
    pub(crate) pending: Option<String>,
}

/// Where the sessions are: each turn reads its own at the start, and writes it before it ends.
#[derive(Clone, Debug)]
pub(crate) enum Memory {
    /// With this process they go.
    Here(Arc<Mutex<Sessions>>),
    /// Any process that has the file takes them up (MUST 6).
    File(SqliteSessions),
}

/// The sessions that were last active; older ones are forgotten.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    by_key: HashMap<String, (u64, Recall)>,
    clock: u64,
}

const MAX_SESSIONS: usize = 1_000;
/// A longer key is somebody's mistake or mischief, and is not remembered.
const MAX_KEY: usize = 1_024;

impl Default for Memory {
    fn default() -> Self {
        Self::Here(Arc::default())
    }
}

impl Memory {
    /// Fails with `unavailable` when the file cannot be read.
    pub(crate) async fn recall(&self, key: &str) -> Result<Recall, Failure> {
        if key.len() > MAX_KEY {
            return Ok(Recall::default());
        }
        match self {
            Self::Here(sessions) => {
                let sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
                let found = sessions.by_key.get(key);
                Ok(found.map(|(_, recall)| recall.clone()).unwrap_or_default())
            }
            Self::File(sessions) => {
                let note = sessions
                    .recall(key)
                    .await
                    .map_err(|error| unavailable(&error))?;
                // A note of another version is one that is forgotten.
                let note = note.and_then(|note| serde_json::from_str::<Note>(&note).ok());
                Ok(note.map(Recall::from).unwrap_or_default())
            }
        }
    }

    /// Fails with `unavailable` when the file cannot be written.
    pub(crate) async fn remember(&self, key: &str, recall: &Recall) -> Result<(), Failure> {
        if key.len() > MAX_KEY {
            return Ok(());
        }
        match self {
            Self::Here(sessions) => {
                let mut sessions = sessions.lock().unwrap_or_else(PoisonError::into_inner);
                sessions.put(key, recall.clone());
                Ok(())
            }
            Self::File(sessions) => {
                let note = serde_json::to_string(&Note::from(recall)).map_err(Failure::internal)?;
                sessions
                    .remember(key, &note)
                    .await
                    .map_err(|error| unavailable(&error))
            }
        }
    }
}

impl Sessions {
    fn put(&mut self, key: &str, recall: Recall) {
        self.clock += 1;
        if self.by_key.len() >= MAX_SESSIONS && !self.by_key.contains_key(key) {
            let oldest = self.by_key.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                self.by_key.remove(&oldest);
            }
        }
        self.by_key.insert(key.to_owned(), (self.clock, recall));
    }
}

/// A [`Recall`] as it is written.
#[derive(Deserialize, Serialize)]
struct Note {
    /// A fraction such as `22/7`, exact.
    number: Option<String>,
    unit: Option<String>,
    path: Option<String>,
    pending: Option<String>,
}

impl From<&Recall> for Note {
    fn from(recall: &Recall) -> Self {
        let (number, unit) = match &recall.number {
            Some((number, unit)) => (Some(number.to_string()), unit.map(|unit| unit.name)),
            None => (None, None),
        };
        Self {
            number,
            unit: unit.map(str::to_owned),
            path: recall.path.clone(),
            pending: recall.pending.clone(),
        }
    }
}

impl From<Note> for Recall {
    fn from(note: Note) -> Self {
        let number = note.number.and_then(|number| number.parse().ok());
        let unit = note.unit.as_deref().and_then(Unit::named);
        Self {
            number: number.map(|number| (number, unit)),
            path: note.path,
            pending: note.pending,
        }
    }
}

fn unavailable(error: &portcullis_sqlite::SessionError) -> Failure {
    tracing::error!(error = error as &dyn std::error::Error, "a session is lost");
    Failure::with_code(FailureCode::UNAVAILABLE, "the session could not be kept").retryable(true)
}

/// Sessions of different tenants or callers never meet, whatever they are called.
pub(crate) fn key(scope: &Scope) -> String {
    // `Debug` quotes the parts, so that none can look like two.
    format!("{:?}", (scope.tenant(), scope.principal(), scope.session()))
}
