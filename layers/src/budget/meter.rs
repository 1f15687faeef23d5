use std::fmt;

use super::{Allowance, Window};

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Meter {
    /// Tokens that went into models, cached ones included.
    InputTokens,
    /// Tokens that came out of models, reasoning included.
    OutputTokens,
    /// All tokens.
    Tokens,
    /// Calls of models, by the ids of the usage records.
    ModelCalls,
    /// Calls of tools.
    ToolCalls,
    /// Bytes of text and thinking: what can be counted of an agent that reports nothing.
    Bytes,
    /// Money, in billionths of the currency of the layer; see [`Money`](super::Money).
    Money,
}

impl Meter {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::InputTokens,
        Self::OutputTokens,
        Self::Tokens,
        Self::ModelCalls,
        Self::ToolCalls,
        Self::Bytes,
        Self::Money,
    ];

    /// The name in a `budget` event.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InputTokens => "input_tokens",
            Self::OutputTokens => "output_tokens",
            Self::Tokens => "tokens",
            Self::ModelCalls => "model_calls",
            Self::ToolCalls => "tool_calls",
            Self::Bytes => "bytes",
            Self::Money => "money",
        }
    }
}

impl fmt::Display for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::InputTokens => "input tokens",
            Self::OutputTokens => "output tokens",
            Self::Tokens => "tokens",
            Self::ModelCalls => "model calls",
            Self::ToolCalls => "tool calls",
            Self::Bytes => "bytes",
            Self::Money => "billionths of its currency",
        })
    }
}

/// A count for each meter. Arithmetic saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts([u64; Meter::ALL.len()]);

impl Amounts {
    /// Nothing.
    pub const ZERO: Self = Self([0; Meter::ALL.len()]);

    /// The count of one meter.
    #[must_use]
    pub const fn of(&self, meter: Meter) -> u64 {
        self.0[meter as usize]
    }

    /// Sets the count of one meter.
    #[must_use]
    pub const fn with(mut self, meter: Meter, count: u64) -> Self {
        self.0[meter as usize] = count;
        self
    }

    fn zip(self, other: Self, f: impl Fn(u64, u64) -> u64) -> Self {
        Self(std::array::from_fn(|meter| {
            f(self.0[meter], other.0[meter])
        }))
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_add)
    }

    /// One more count of one meter.
    #[must_use]
    pub const fn and(self, meter: Meter, count: u64) -> Self {
        let count = self.of(meter).saturating_add(count);
        self.with(meter, count)
    }

    /// What is left, not less than nothing.
    #[must_use]
    pub fn minus(self, other: Self) -> Self {
        self.zip(other, u64::saturating_sub)
    }

    /// The larger count of each meter.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, u64::max)
    }
}

/// How much of each meter there is. A meter that is not named is not limited; zero is a
/// limit like any other.
///
/// There is at least one, so that a budget cannot be inert by mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits([Option<u64>; Meter::ALL.len()]);

impl Limits {
    pub(super) const NONE: Self = Self([None; Meter::ALL.len()]);

    /// A limit on one meter.
    #[must_use]
    pub const fn of(meter: Meter, limit: u64) -> Self {
        Self::NONE.and(meter, limit)
    }

    /// And on another.
    #[must_use]
    pub const fn and(mut self, meter: Meter, limit: u64) -> Self {
        self.0[meter as usize] = Some(limit);
        self
    }

    /// The limit on a meter.
    #[must_use]
    pub const fn on(&self, meter: Meter) -> Option<u64> {
        self.0[meter as usize]
    }

    /// The limits, in the order of [`Meter::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Meter, u64)> + '_ {
        let limits = Meter::ALL.into_iter().zip(self.0);
        limits.filter_map(|(meter, limit)| Some((meter, limit?)))
    }

    /// As much as there is, as counts.
    #[must_use]
    pub fn amounts(&self) -> Amounts {
        self.iter()
            .fold(Amounts::ZERO, |sum, (meter, limit)| sum.with(meter, limit))
    }

    /// So much for each window of time: what is used comes back bit by bit.
    #[must_use]
    pub const fn per(self, window: Window) -> Allowance {
        Allowance {
            limits: self,
            window: Some(window),
        }
    }

    /// The first meter that has nothing left. Tool calls are not among them: they are
    /// counted before they are made.
    pub(super) fn used_up_by(&self, used: &Amounts) -> Option<(Meter, u64)> {
        self.iter()
            .filter(|(meter, _)| *meter != Meter::ToolCalls)
            .find(|(meter, limit)| used.of(*meter) >= *limit)
    }

    /// The first meter that is over its limit.
    #[must_use]
    pub fn exceeded_by(&self, used: &Amounts) -> Option<(Meter, u64)> {
        self.iter().find(|(meter, limit)| used.of(*meter) > *limit)
    }
}
