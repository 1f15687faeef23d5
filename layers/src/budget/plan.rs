use super::{Amounts, Limits, Meter};

/// What a layer was told to do.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) turn: Option<Limits>,
    pub(super) session: Option<Limits>,
    /// What a turn reserves of its session's account.
    pub(super) slice: Amounts,
    /// Per cent of a limit.
    pub(super) warn_at: Option<u8>,
    /// Cut as soon as nothing is left, not only when there was too much.
    pub(super) cut_when_spent: bool,
    pub(super) unmeasured: Unmeasured,
    pub(super) unreachable: Unreachable,
}

impl Plan {
    pub(super) const fn new() -> Self {
        Self {
            turn: None,
            session: None,
            // A turn calls a model and perhaps no tool.
            slice: Amounts::ZERO
                .with(Meter::InputTokens, 1)
                .with(Meter::OutputTokens, 1)
                .with(Meter::Tokens, 1)
                .with(Meter::ModelCalls, 1),
            warn_at: Some(80),
            cut_when_spent: false,
            unmeasured: Unmeasured::Estimate,
            unreachable: Unreachable::Refuse,
        }
    }

    /// Whether so much of a limit is worth a warning.
    pub(super) fn is_near(&self, used: u64, limit: u64) -> bool {
        self.warn_at.is_some_and(|percent| {
            u128::from(used) * 100 >= u128::from(limit) * u128::from(percent)
        })
    }
}

/// What a turn is charged for output that nobody measured: it was cut or dropped before
/// the agent said, or the agent never says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unmeasured {
    /// A token for every four bytes of text and thinking, and one call. The default.
    Estimate,
    /// What the turn had reserved, if that is more than what is known.
    Reserved,
    /// Nothing beyond what is known.
    Nothing,
}

/// What happens when the ledger cannot say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unreachable {
    /// The turn is refused with `unavailable`. The default.
    Refuse,
    /// The turn runs, with the limits of the turn alone.
    Admit,
}
