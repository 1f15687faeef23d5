//! The port to where accounts are kept.

mod account;
mod balance;
mod books;
mod exceeded;
mod full;
mod memory;
#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub mod suite;

use std::{
    task::{Context, Poll},
    time::Duration,
};

use super::Amounts;

pub use self::{
    account::{Account, Claim},
    balance::Balance,
    books::{BookRules, Books, Changes, Held, LeaseState},
    exceeded::{Denied, Exceeded},
    full::LedgerFull,
    memory::{MemoryLedger, MemoryReservation, MemoryReserve},
};

/// Keeps accounts. Each turn reserves before it begins, and settles when it ends.
///
/// What a ledger promises, and the [suite](super::ledger_suite) of the feature `testing` checks:
///
/// - **Nobody acts on what it has only read.** `reserve` looks and books in one step, over
///   all claims: all of them or none.
/// - An account never holds more reservations than its limit, whoever asks at once.
/// - A turn that uses more than it reserved draws on what is left of the account. It may
///   get over the limit by what it had used before anybody could know; that is booked,
///   and the turn is cut.
/// - In an account with a window, what was used comes back at the rate of its limit,
///   continuously; what was used beyond the limit is a debt that this pays first.
/// - A reservation is a lease. One that is dropped, or not renewed in time, costs what was
///   reserved, or what was used if that is more: else a loop of crashes would be free. If its
///   turn lives after all, it is set right.
/// - Settling twice is settling once.
/// - Nothing that is forgotten gives anybody a budget anew.
///
/// A store behind a network or a file fits as well: `reserve` may wait, `charge` has to
/// answer at once and from what the ledger has in memory (so one behind a network reserves larger
/// slices and draws the next one ahead of need), [`poll_settle`](Reservation::poll_settle) may wait
/// again, and `settle` runs inside `drop`, so it hands over to a writer that the ledger
/// owns.
///
/// For a ledger that one process keeps, [`Books`] has all of the arithmetic.
pub trait Ledger {
    /// What a turn holds.
    type Reservation: Reservation;
    /// The answer. Dropping it withdraws the request: whatever it reserved is free.
    type Reserve: Future<Output = Result<Self::Reservation, Denied>>;

    /// Reserves a slice of every claim, or of none.
    fn reserve(&self, claims: Vec<Claim>) -> Self::Reserve;
}

/// What a turn holds in its accounts.
pub trait Reservation: Send + 'static {
    /// Books that the turn has used so much, in total: later amounts replace earlier
    /// ones.
    ///
    /// # Errors
    ///
    /// [`Exceeded`] when that takes an account over its limit. It is booked all the
    /// same: the tokens are gone.
    fn charge(&mut self, used: &Amounts) -> Result<(), Exceeded>;

    /// Books like [`charge`](Self::charge), unless that takes an account over its limit.
    ///
    /// # Errors
    ///
    /// [`Exceeded`] when nothing was booked.
    fn try_charge(&mut self, used: &Amounts) -> Result<(), Exceeded>;

    /// What the account of a claim has used, this turn and others that run included,
    /// reservations not. For warnings; it may be a little behind.
    fn used(&self, claim: usize) -> Amounts;

    /// How often the lease has to be renewed while the turn lives. `None`: it does not run
    /// out.
    fn renew_every(&self) -> Option<Duration> {
        None
    }

    /// The turn lives.
    fn renew(&mut self) {}

    /// The turn is over and has used so much in total. Runs before the terminal event leaves:
    /// it is ready when the settlement is stored, or cannot be. It is called with the same
    /// amounts until then.
    fn poll_settle(&mut self, used: &Amounts, cx: &mut Context<'_>) -> Poll<()>;

    /// The turn is over and has used so much in total. Must not block. Nothing happens if
    /// `poll_settle` was told.
    fn settle(self, used: &Amounts)
    where
        Self: Sized;
}
