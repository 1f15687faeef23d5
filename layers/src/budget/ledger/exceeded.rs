use std::{borrow::Cow, error::Error, fmt};

use portcullis::{Failure, FailureCode};
use tower::BoxError;

use crate::budget::Meter;

/// A budget is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    kind: Cow<'static, str>,
    meter: Meter,
    limit: u64,
}

impl Exceeded {
    /// The limit on a meter, of an account of this kind.
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, meter: Meter, limit: u64) -> Self {
        Self {
            kind: kind.into(),
            meter,
            limit,
        }
    }

    /// Of what it was the budget: a `turn`, a `session`.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// What was counted.
    #[must_use]
    pub const fn meter(&self) -> Meter {
        self.meter
    }

    /// How much there was.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }
}

impl fmt::Display for Exceeded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, meter, limit } = self;
        write!(f, "the budget of the {kind} is spent: {limit} {meter}")
    }
}

impl Error for Exceeded {}

/// The same turn would find the same account, so it is not worth sending again.
impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        Self::with_code(FailureCode::BUDGET_EXCEEDED, exceeded.to_string())
    }
}

/// Why there is no reservation.
#[derive(Debug)]
#[non_exhaustive]
pub enum Denied {
    /// Not enough is left.
    Exceeded(Exceeded),
    /// The ledger cannot say.
    Unavailable(BoxError),
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exceeded(_) => f.write_str("not enough is left"),
            Self::Unavailable(_) => f.write_str("the ledger cannot be reached"),
        }
    }
}

impl Error for Denied {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(match self {
            Self::Exceeded(exceeded) => exceeded,
            Self::Unavailable(error) => &**error,
        })
    }
}

impl From<Exceeded> for Denied {
    fn from(exceeded: Exceeded) -> Self {
        Self::Exceeded(exceeded)
    }
}
