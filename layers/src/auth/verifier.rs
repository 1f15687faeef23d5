use std::sync::Arc;

use super::{AuthError, Credentials, FirstOf, Identity};

/// Finds out who asks from what a request presents.
///
/// The same value serves in front of an agent ([`AuthLayer`](super::AuthLayer)) and of a
/// service of HTTP requests (`HttpAuthLayer`).
///
/// A verifier that does not know the form of the credentials answers
/// [`AuthError::unrecognized`], so that another one can be asked; one that cannot tell now,
/// [`AuthError::unavailable`].
pub trait Verifier {
    /// The decision. Dropping it withdraws the question.
    type Verify: Future<Output = Result<Identity, AuthError>>;

    /// Asks who presents these.
    fn verify(&self, credentials: &Credentials) -> Self::Verify;

    /// Asks `other` about what this one does not recognise.
    fn or<V>(self, other: V) -> FirstOf<Self, V>
    where
        Self: Sized,
        V: Verifier + Clone,
    {
        FirstOf::new(self, other)
    }
}

impl<V: Verifier + ?Sized> Verifier for Arc<V> {
    type Verify = V::Verify;

    fn verify(&self, credentials: &Credentials) -> V::Verify {
        (**self).verify(credentials)
    }
}
