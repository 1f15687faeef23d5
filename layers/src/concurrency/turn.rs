use std::{fmt, hash::Hash};

use portcullis::Turn;

use crate::turnstile::Permit;

/// A turn that has its place. The place is free when this is dropped, and that is after
/// everything below is gone.
pub struct Held<K: Clone + Eq + Hash> {
    _permit: Permit<K>,
}

impl<K: Clone + Eq + Hash> Held<K> {
    pub(super) const fn new(permit: Permit<K>) -> Self {
        Self { _permit: permit }
    }
}

impl<K: Clone + Eq + Hash> Turn for Held<K> {}

impl<K: Clone + Eq + Hash> fmt::Debug for Held<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Held").finish_non_exhaustive()
    }
}
