use std::{
    fmt,
    future::{Ready, ready},
    pin::Pin,
    task::{Context, Poll},
};

use pin_project::pin_project;
use portcullis::Scope;

use super::{AuthError, Credentials, Identity, Verifier};

/// How a layer finds out who asks: with a [`Verifier`], or by [`Demand`].
///
/// It is sealed.
pub trait Establish: sealed::Sealed {
    /// The answer.
    type Establish: Future<Output = Result<Identity, AuthError>>;

    /// Asks who asks.
    fn establish(&self, scope: &Scope) -> Self::Establish;
}

/// Somebody outside has set the principal: an HTTP layer and its edge, or code.
#[derive(Clone, Copy, Debug, Default)]
pub struct Demand(());

impl Demand {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl Establish for Demand {
    type Establish = Ready<Result<Identity, AuthError>>;

    fn establish(&self, scope: &Scope) -> Self::Establish {
        ready(match scope.principal() {
            None => Err(AuthError::missing()),
            // What another layer has found out, if it is about the same.
            Some(principal) => Ok(scope
                .extensions()
                .get::<Identity>()
                .filter(|identity| identity.principal() == principal)
                .cloned()
                .unwrap_or_else(|| Identity::new(principal.clone()))),
        })
    }
}

impl<V: Verifier> Establish for V {
    type Establish = Verifying<V::Verify>;

    fn establish(&self, scope: &Scope) -> Self::Establish {
        Verifying {
            verify: scope
                .extensions()
                .get::<Credentials>()
                .map(|credentials| self.verify(credentials)),
        }
    }
}

/// Waits for a verifier, where there is something to verify.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct Verifying<F> {
    #[pin]
    verify: Option<F>,
}

impl<F: Future<Output = Result<Identity, AuthError>>> Future for Verifying<F> {
    type Output = Result<Identity, AuthError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.project().verify.as_pin_mut() {
            Some(verify) => verify.poll(cx),
            None => Poll::Ready(Err(AuthError::missing())),
        }
    }
}

impl<F> fmt::Debug for Verifying<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifying").finish_non_exhaustive()
    }
}

mod sealed {
    pub trait Sealed {}

    impl Sealed for super::Demand {}

    impl<V: super::Verifier> Sealed for V {}
}
