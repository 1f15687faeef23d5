use std::{fmt, sync::Arc};

use portcullis::{Json, Principal};

/// Who asks, and what is known of them: what a [`Verifier`](super::Verifier) finds out.
///
/// Cloning is one reference count.
#[derive(Clone, PartialEq, Eq)]
pub struct Identity(Arc<Inner>);

#[derive(Clone, PartialEq, Eq)]
struct Inner {
    principal: Principal,
    scopes: Vec<String>,
    claims: Option<Json>,
}

impl Identity {
    /// Somebody who has no scopes.
    #[must_use]
    pub fn new(principal: Principal) -> Self {
        Self(Arc::new(Inner {
            principal,
            scopes: Vec::new(),
            claims: None,
        }))
    }

    /// With these scopes: what they may do, in the words of whoever vouches for them.
    #[must_use]
    pub fn with_scopes<T: Into<String>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        Arc::make_mut(&mut self.0).scopes = scopes.into_iter().map(Into::into).collect();
        self
    }

    /// With everything else that is said of them, a JSON object.
    #[must_use]
    pub fn with_claims(mut self, claims: Json) -> Self {
        Arc::make_mut(&mut self.0).claims = Some(claims);
        self
    }

    /// Who asks.
    #[must_use]
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// What they may do.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.0.scopes
    }

    /// Whether they have a scope.
    #[must_use]
    pub fn has_scope(&self, scope: &str) -> bool {
        self.0.scopes.iter().any(|has| has == scope)
    }

    /// Everything else that is said of them: the claims of a token.
    #[must_use]
    pub fn claims(&self) -> Option<&Json> {
        self.0.claims.as_ref()
    }
}

/// Without the claims, which may be personal.
impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity")
            .field("principal", &self.0.principal)
            .field("scopes", &self.0.scopes)
            .finish_non_exhaustive()
    }
}
