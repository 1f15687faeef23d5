use fastrand::Rng;

/// The random numbers of a run. Whoever lives beside others has a branch of its own, so that
/// what it rolls does not depend on when the others roll.
pub(crate) struct Dice(Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Rng::with_seed(seed))
    }

    pub(crate) fn branch(&mut self) -> Self {
        Self(self.0.fork())
    }

    /// From 0 on.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0.u32(..bound)
    }

    /// Both ends are rolled too.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        self.0.u32(low..=high)
    }

    pub(crate) fn percent(&mut self, chance: u32) -> bool {
        self.below(100) < chance
    }

    pub(crate) fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        self.0.choice(of).cloned()
    }
}
