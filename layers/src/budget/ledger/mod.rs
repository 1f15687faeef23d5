//! The port to where accounts are kept.

mod account;
mod exceeded;
mod memory;
#[cfg(feature = "testing")]
mod suite;

use std::task::{Context, Poll};

use super::Amounts;

#[cfg(feature = "testing")]
#[cfg_attr(docsrs, doc(cfg(feature = "testing")))]
pub use self::suite::assert_ledger;
pub use self::{
    account::{Account, Claim},
    exceeded::{Denied, Exceeded},
    memory::{MemoryLedger, MemoryReservation},
};

/// Keeps accounts. Each turn reserves before it begins, and settles when it ends.
///
/// What a ledger promises, and [`assert_ledger`](super::assert_ledger) of the feature
/// `testing` checks:
///
/// - **Nobody acts on what it has only read.** `reserve` looks and books in one step, over
///   all claims: all of them or none.
/// - An account never holds more reservations than its limit, whoever asks at once.
/// - A turn that uses more than it reserved draws on what is left of the account. It may
///   get over the limit by what it had used before anybody could know; that is booked,
///   and the turn is cut.
/// - A reservation that is dropped without being settled costs what was reserved, or
///   what was used if that is more: else a loop of crashes would be free.
///
/// A store behind a network or a file fits as well: `reserve` may wait, `charge` has to
/// answer at once and from what the reservation holds (so such a ledger reserves larger
/// slices and draws the next one ahead of need), [`poll_flush`](Reservation::poll_flush) may wait
/// again, and `settle` runs inside `drop`, so it hands over to a writer that the ledger
/// owns. A reservation there is a lease, that is charged when it expires.
///
/// Accounts are names: one for a principal, a tenant or a window of time is another
/// [`Account`] in another [`Claim`], and money another [`Meter`](super::Meter).
pub trait Ledger {
    /// What a turn holds.
    type Reservation: Reservation;
    /// The answer. Dropping it withdraws the request: whatever it reserved is free.
    type Reserve: Future<Output = Result<Self::Reservation, Denied>>;

    /// Reserves a slice of every claim, or of none.
    fn reserve(&self, claims: Vec<Claim>) -> Self::Reserve;
}

/// What a turn holds in its accounts.
pub trait Reservation {
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

    /// Runs before the terminal event leaves: the place to make sure that what was
    /// charged is stored.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let _ = cx;
        Poll::Ready(())
    }

    /// The turn is over and has used so much in total. Must not block.
    fn settle(self, used: &Amounts)
    where
        Self: Sized;
}
