use std::{
    collections::HashSet,
    sync::{Mutex, PoisonError},
};

use ::metrics::SharedString;
use portcullis::FailureCode;

use crate::{receipt::Outcome, semconv};

/// The longest name that becomes a label.
const LONGEST: usize = 128;

/// Names that others choose, as labels: the first so many, and one word for the rest.
#[derive(Debug)]
pub(super) struct Names {
    most: usize,
    seen: Mutex<HashSet<SharedString>>,
}

impl Names {
    pub(super) fn new(most: usize) -> Self {
        Self {
            most,
            seen: Mutex::default(),
        }
    }

    pub(super) fn label(&self, name: &str) -> SharedString {
        if name.len() > LONGEST {
            return SharedString::const_str(semconv::OTHER);
        }
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = seen.get(name) {
            return known.clone();
        }
        if seen.len() >= self.most {
            return SharedString::const_str(semconv::OTHER);
        }
        let name = SharedString::from_shared(name.into());
        seen.insert(name.clone());
        name
    }
}

/// The codes that we know. Engines may have others, without end.
const CODES: [FailureCode; 13] = [
    FailureCode::TIMEOUT,
    FailureCode::OVERLOADED,
    FailureCode::RATE_LIMITED,
    FailureCode::BUDGET_EXCEEDED,
    FailureCode::SESSION_BUSY,
    FailureCode::ABORTED,
    FailureCode::UNAUTHENTICATED,
    FailureCode::PERMISSION_DENIED,
    FailureCode::INVALID_PROMPT,
    FailureCode::INVALID_OUTPUT,
    FailureCode::UNAVAILABLE,
    FailureCode::CONTRACT_VIOLATION,
    FailureCode::INTERNAL,
];

/// `error.type`, empty where there was no error: an instrument has the same labels always.
pub(super) fn error_type(outcome: &Outcome) -> SharedString {
    match outcome {
        Outcome::Failed(Some(code)) if !CODES.contains(code) => {
            SharedString::const_str(semconv::OTHER)
        }
        Outcome::Failed(Some(code)) => code.as_str().to_owned().into(),
        Outcome::Failed(None) => SharedString::const_str(semconv::OTHER),
        Outcome::Completed => SharedString::const_str(""),
        other => SharedString::const_str(other.as_str()),
    }
}
