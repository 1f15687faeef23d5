use std::hash::Hash;

use portcullis::Scope;

/// Says which turns share a limit. Also implemented by closures.
pub trait Key {
    /// Turns with equal keys share one.
    type Key: Clone + Eq + Hash;

    /// The key of a turn.
    fn key(&self, scope: &Scope) -> Self::Key;
}

impl<F, K> Key for F
where
    F: Fn(&Scope) -> K,
    K: Clone + Eq + Hash,
{
    type Key = K;

    fn key(&self, scope: &Scope) -> K {
        self(scope)
    }
}

/// All turns share one limit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Global(());

impl Global {
    pub(super) const fn new() -> Self {
        Self(())
    }
}

impl Key for Global {
    type Key = ();

    fn key(&self, _scope: &Scope) {}
}
