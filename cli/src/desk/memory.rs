use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use num_rational::BigRational;
use portcullis::Scope;

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

/// The sessions that were last active; older ones are forgotten.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memory(Arc<Mutex<Sessions>>);

#[derive(Debug, Default)]
struct Sessions {
    by_key: HashMap<String, (u64, Recall)>,
    clock: u64,
}

const MAX_SESSIONS: usize = 1_000;
/// A longer key is somebody's mistake or mischief, and is not remembered.
const MAX_KEY: usize = 1_024;

impl Memory {
    pub(crate) fn recall(&self, key: &str) -> Recall {
        let sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions
            .by_key
            .get(key)
            .map(|(_, recall)| recall.clone())
            .unwrap_or_default()
    }

    pub(crate) fn remember(&self, key: &str, recall: Recall) {
        if key.len() > MAX_KEY {
            return;
        }
        let mut sessions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.clock += 1;
        let clock = sessions.clock;
        if sessions.by_key.len() >= MAX_SESSIONS && !sessions.by_key.contains_key(key) {
            let oldest = sessions.by_key.iter().min_by_key(|(_, (used, _))| *used);
            if let Some(oldest) = oldest.map(|(key, _)| key.clone()) {
                sessions.by_key.remove(&oldest);
            }
        }
        sessions.by_key.insert(key.to_owned(), (clock, recall));
    }
}

/// Sessions of different tenants or callers never meet, whatever they are called.
pub(crate) fn key(scope: &Scope) -> String {
    // `Debug` quotes the parts, so that none can look like two.
    format!("{:?}", (scope.tenant(), scope.principal(), scope.session()))
}
