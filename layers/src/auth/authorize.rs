use std::{
    fmt,
    future::{Ready, ready},
    sync::Arc,
};

use portcullis::{Prompt, Scope};

use super::{AuthError, Identity};

/// Decides whether somebody who is known may run this turn.
pub trait Authorize {
    /// The decision. Dropping it withdraws the question.
    type Authorize: Future<Output = Result<(), AuthError>>;

    /// Asks whether `who` may ask this.
    fn authorize(&self, who: &Identity, scope: &Scope, prompt: &Prompt) -> Self::Authorize;
}

/// Whoever is known may do everything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Everybody(());

impl Everybody {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl Authorize for Everybody {
    type Authorize = Ready<Result<(), AuthError>>;

    fn authorize(&self, _: &Identity, _: &Scope, _: &Prompt) -> Self::Authorize {
        ready(Ok(()))
    }
}

/// It takes all of these scopes.
#[derive(Clone, Debug)]
pub struct RequireScopes(Arc<[String]>);

impl RequireScopes {
    pub(super) fn new<T: Into<String>>(scopes: impl IntoIterator<Item = T>) -> Self {
        Self(scopes.into_iter().map(Into::into).collect())
    }

    pub(super) fn check(&self, who: &Identity) -> Result<(), AuthError> {
        if self.0.iter().all(|scope| who.has_scope(scope)) {
            Ok(())
        } else {
            // All of them: which ones are there, the caller knows.
            Err(AuthError::lacking(self.0.iter().cloned()))
        }
    }
}

impl Authorize for RequireScopes {
    type Authorize = Ready<Result<(), AuthError>>;

    fn authorize(&self, who: &Identity, _: &Scope, _: &Prompt) -> Self::Authorize {
        ready(self.check(who))
    }
}

/// A function decides: [`AuthLayer::authorize_if`](super::AuthLayer::authorize_if).
#[derive(Clone)]
pub struct AuthorizeIf<F>(F);

impl<F> AuthorizeIf<F> {
    pub(super) const fn new(decide: F) -> Self {
        Self(decide)
    }
}

impl<F> Authorize for AuthorizeIf<F>
where
    F: Fn(&Identity, &Scope, &Prompt) -> bool,
{
    type Authorize = Ready<Result<(), AuthError>>;

    fn authorize(&self, who: &Identity, scope: &Scope, prompt: &Prompt) -> Self::Authorize {
        ready(if self.0(who, scope, prompt) {
            Ok(())
        } else {
            Err(AuthError::denied("you may not ask for this"))
        })
    }
}

impl<F> fmt::Debug for AuthorizeIf<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizeIf").finish_non_exhaustive()
    }
}

/// An async function decides: [`AuthLayer::authorize_with`](super::AuthLayer::authorize_with).
#[derive(Clone)]
pub struct AuthorizeWith<F>(F);

impl<F> AuthorizeWith<F> {
    pub(super) const fn new(decide: F) -> Self {
        Self(decide)
    }
}

impl<F, Fut> Authorize for AuthorizeWith<F>
where
    F: Fn(Identity, Scope, Prompt) -> Fut,
    Fut: Future<Output = Result<(), AuthError>>,
{
    type Authorize = Fut;

    fn authorize(&self, who: &Identity, scope: &Scope, prompt: &Prompt) -> Fut {
        // Three reference counts, so that the future borrows nothing.
        self.0(who.clone(), scope.clone(), prompt.clone())
    }
}

impl<F> fmt::Debug for AuthorizeWith<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AuthorizeWith").finish_non_exhaustive()
    }
}
