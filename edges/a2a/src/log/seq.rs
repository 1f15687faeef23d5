use std::fmt;

/// The place of an update in the log of its task.
///
/// The first update has number 1; [`Seq::ZERO`] is the place before it. Numbers have no
/// gap, and one is never used twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seq(u64);

impl Seq {
    /// Before the first update: a task that is not there yet.
    pub const ZERO: Self = Self(0);

    /// The place with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number.
    #[must_use]
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The place after `count` more updates.
    #[must_use]
    pub const fn plus(self, count: usize) -> Self {
        Self(self.0.saturating_add(count as u64))
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
