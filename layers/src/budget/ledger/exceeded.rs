use std::{borrow::Cow, error::Error, fmt, time::Duration};

use portcullis::{Failure, FailureCode};
use tower::BoxError;

use super::Account;
use crate::budget::{Meter, Window};

/// A budget is spent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exceeded {
    kind: Cow<'static, str>,
    meter: Meter,
    limit: u64,
    window: Option<Window>,
    enough_in: Option<Duration>,
}

impl Exceeded {
    /// The limit on a meter, of an account of this kind.
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, meter: Meter, limit: u64) -> Self {
        Self {
            kind: kind.into(),
            meter,
            limit,
            window: None,
            enough_in: None,
        }
    }

    /// The limit on a meter of an account.
    #[must_use]
    pub fn of(account: &Account, meter: Meter, limit: u64) -> Self {
        let mut exceeded = Self::new(account.kind().to_owned(), meter, limit);
        exceeded.window = account.window();
        exceeded
    }

    /// Says when enough will have come back.
    #[must_use]
    pub const fn enough_in(mut self, time: Duration) -> Self {
        self.enough_in = Some(time);
        self
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
        let Self {
            kind, meter, limit, ..
        } = self;
        write!(f, "the budget of the {kind} is spent: {limit} {meter}")?;
        match self.window {
            Some(window) => write!(f, " per {window}"),
            None => Ok(()),
        }
    }
}

impl Error for Exceeded {}

/// The same turn would find the same account, so it is not worth sending again; of an
/// account with a window it says when it will be.
impl From<Exceeded> for Failure {
    fn from(exceeded: Exceeded) -> Self {
        let mut failure = Self::with_code(FailureCode::BUDGET_EXCEEDED, exceeded.to_string());
        failure.set_retry_after(exceeded.enough_in);
        failure
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
