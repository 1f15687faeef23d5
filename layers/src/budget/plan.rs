use std::{
    borrow::Cow,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use portcullis::{Scope, Usage};

use super::{Account, Allowance, Amounts, Claim, Currency, Limits, Meter, Money, price::reported};

/// What a layer was told to do.
#[derive(Clone)]
pub(super) struct Plan {
    pub(super) turn: Option<Limits>,
    pub(super) accounts: Vec<Keyed>,
    /// What a turn reserves of each account.
    pub(super) slice: Amounts,
    /// Per cent of a limit.
    pub(super) warn_at: Option<u8>,
    /// Cut as soon as nothing is left, not only when there was too much.
    pub(super) cut_when_spent: bool,
    /// A model call that runs comes to its end first.
    pub(super) finish_call: bool,
    pub(super) unmeasured: Unmeasured,
    pub(super) unpriced: Unpriced,
    pub(super) unreachable: Unreachable,
    pub(super) currency: Currency,
    pub(super) pricing: Price,
    /// The last call that nobody could price; see [`Unpriced::Refuse`].
    pub(super) without_price: Arc<Mutex<Option<Usage>>>,
}

type Price = Arc<dyn Fn(&Usage) -> Option<Money> + Send + Sync>;

impl Plan {
    pub(super) fn new() -> Self {
        // A turn calls a model and perhaps no tool.
        let slice = Meter::ALL
            .into_iter()
            .filter(|meter| *meter != Meter::ToolCalls)
            .fold(Amounts::ZERO, |slice, meter| slice.with(meter, 1));
        Self {
            turn: None,
            accounts: Vec::new(),
            slice,
            warn_at: Some(80),
            cut_when_spent: false,
            finish_call: false,
            unmeasured: Unmeasured::Estimate,
            unpriced: Unpriced::Fail,
            unreachable: Unreachable::Refuse,
            currency: Currency::USD,
            pricing: Arc::new(reported),
            without_price: Arc::default(),
        }
    }

    /// Adds an account, or replaces the one of the same kind and window.
    pub(super) fn keep(&mut self, key: Key, allowance: Allowance) {
        let keyed = Keyed { key, allowance };
        let same = |other: &&mut Keyed| {
            other.key.kind() == keyed.key.kind() && other.allowance.window == allowance.window
        };
        match self.accounts.iter_mut().find(same) {
            Some(other) => *other = keyed,
            None => self.accounts.push(keyed),
        }
    }

    /// All limits: those of the turn, and of the accounts.
    fn limits(&self) -> impl Iterator<Item = &Limits> {
        let accounts = self.accounts.iter().map(|keyed| &keyed.allowance.limits);
        self.turn.iter().chain(accounts)
    }

    /// Whether some limit is on this.
    pub(super) fn is_limited(&self, meter: Meter) -> bool {
        self.limits().any(|limits| limits.on(meter).is_some())
    }

    /// Whether bytes have to be looked at event by event: an account does not say how many are
    /// left.
    pub(super) fn accounts_for_bytes(&self) -> bool {
        self.accounts
            .iter()
            .any(|keyed| keyed.allowance.limits.on(Meter::Bytes).is_some())
    }

    /// What a turn asks of the ledger.
    pub(super) fn claims(&self, scope: &Scope) -> Vec<Claim> {
        let claims = self.accounts.iter().filter_map(|keyed| {
            let limits = keyed.allowance.limits;
            let mut account = keyed.key.account(scope)?;
            if let Some(window) = keyed.allowance.window {
                account = account.per(window);
            }
            if limits.on(Meter::Money).is_some() {
                account = account.in_currency(self.currency);
            }
            let slice = limits.iter().fold(Amounts::ZERO, |slice, (meter, limit)| {
                let least = u64::from(meter != Meter::ToolCalls);
                slice.with(meter, self.slice.of(meter).min(limit.max(least)))
            });
            Some(Claim::new(account, limits, slice))
        });
        claims.collect()
    }

    /// What a call cost, in billionths of the currency.
    pub(super) fn price(&self, usage: &Usage) -> Option<u64> {
        let price = (self.pricing)(usage)?;
        (price.currency() == self.currency).then(|| price.nanos())
    }

    /// Whether a turn would again meet a call without a price.
    pub(super) fn lacks_price(&self) -> bool {
        if self.unpriced != Unpriced::Refuse {
            return false;
        }
        let mut without = self.lock_without_price();
        if without
            .as_ref()
            .is_some_and(|usage| self.price(usage).is_none())
        {
            return true;
        }
        *without = None;
        false
    }

    pub(super) fn note_without_price(&self, usage: &Usage) {
        if self.unpriced == Unpriced::Refuse {
            *self.lock_without_price() = Some(usage.clone());
        }
    }

    fn lock_without_price(&self) -> std::sync::MutexGuard<'_, Option<Usage>> {
        let lock = self.without_price.lock();
        lock.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether so much of a limit is worth a warning.
    pub(super) fn is_near(&self, used: u64, limit: u64) -> bool {
        self.warn_at.is_some_and(|percent| {
            u128::from(used) * 100 >= u128::from(limit) * u128::from(percent)
        })
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("turn", &self.turn)
            .field("accounts", &self.accounts)
            .field("currency", &self.currency)
            .finish_non_exhaustive()
    }
}

/// Accounts that turns share.
#[derive(Clone, Debug)]
pub(super) struct Keyed {
    key: Key,
    allowance: Allowance,
}

/// Says which account a turn has.
#[derive(Clone)]
pub(super) enum Key {
    Session,
    Principal,
    Tenant,
    By(Cow<'static, str>, Name),
}

pub(super) type Name = Arc<dyn Fn(&Scope) -> Option<String> + Send + Sync>;

impl Key {
    fn kind(&self) -> &str {
        match self {
            Self::Session => "session",
            Self::Principal => "principal",
            Self::Tenant => "tenant",
            Self::By(kind, _) => kind,
        }
    }

    fn account(&self, scope: &Scope) -> Option<Account> {
        match self {
            Self::Session => Some(Account::session(scope)),
            Self::Principal => Some(Account::principal(scope)),
            Self::Tenant => Some(Account::tenant(scope)),
            Self::By(kind, name) => Some(Account::new(kind.clone(), name(scope)?)),
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())
    }
}

/// What a turn is charged for output that nobody measured: it was cut or dropped before
/// the agent said, or the agent never says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unmeasured {
    /// A token for every four bytes of text and thinking, and one call. The default. While
    /// a turn runs the estimate counts against its limits as well, until the agent says better.
    Estimate,
    /// What the turn had reserved, if that is more than what is known.
    Reserved,
    /// Nothing beyond what is known.
    Nothing,
    /// As [`Estimate`](Self::Estimate), and a turn that would complete without ever having
    /// said what it used fails: its code is [`UNMEASURED`](super::UNMEASURED).
    Fail,
}

impl Unmeasured {
    pub(super) const fn estimates(self) -> bool {
        matches!(self, Self::Estimate | Self::Fail)
    }
}

/// What happens where money is limited and nobody knows what a call cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unpriced {
    /// The turn is cut: its code is [`UNPRICED`](super::UNPRICED). The default.
    Fail,
    /// As [`Fail`](Self::Fail), and later turns are refused before the agent is called, until
    /// the price of such a call is known.
    Refuse,
    /// It costs nothing.
    Ignore,
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
