use std::{fmt, slice, sync::Arc};

use http::{HeaderMap, HeaderName, header::AUTHORIZATION};

use super::{Challenge, Refusal};
use crate::auth::{AuthError, Identity, RequireScopes};

type Word = dyn Fn(&Refusal<'_>) -> String + Send + Sync;

/// What the host decides.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) challenges: Vec<Challenge>,
    pub(super) scopes: Option<RequireScopes>,
    pub(super) public: Vec<String>,
    pub(super) key_header: HeaderName,
    pub(super) keep_credentials: bool,
    pub(super) body: Option<Arc<Word>>,
}

impl Settings {
    pub(super) fn new() -> Self {
        Self {
            challenges: vec![Challenge::bearer("portcullis")],
            scopes: None,
            public: Vec::new(),
            key_header: HeaderName::from_static("x-api-key"),
            keep_credentials: false,
            body: None,
        }
    }

    pub(super) fn is_public(&self, path: &str) -> bool {
        self.public.iter().any(|public| public == path)
    }

    pub(super) fn check(&self, who: &Identity) -> Result<(), AuthError> {
        self.scopes
            .as_ref()
            .map_or(Ok(()), |scopes| scopes.check(who))
    }

    pub(super) fn challenges(&self) -> slice::Iter<'_, Challenge> {
        self.challenges.iter()
    }

    pub(super) fn refusal_body(&self, refusal: &Refusal<'_>) -> String {
        match &self.body {
            Some(word) => word(refusal),
            None => refusal.plain_body(),
        }
    }

    pub(super) fn take_credentials(&self, headers: &mut HeaderMap) {
        if !self.keep_credentials {
            headers.remove(AUTHORIZATION);
            headers.remove(&self.key_header);
        }
    }
}

impl fmt::Debug for Settings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Settings")
            .field("challenges", &self.challenges)
            .field("scopes", &self.scopes)
            .field("public", &self.public)
            .field("key_header", &self.key_header)
            .field("keep_credentials", &self.keep_credentials)
            .finish_non_exhaustive()
    }
}
