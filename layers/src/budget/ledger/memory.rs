use std::{
    fmt,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::Instant;

use super::{
    Account, BookRules, Books, Claim, Denied, Exceeded, Held, Ledger, Reservation, books::micros,
};
use crate::budget::Amounts;

/// Accounts in memory. Clones share them.
///
/// A turn that is dropped settles at once, so a lease does not run out unless
/// [`lease`](Self::lease) says so: it then also ends the hold of a stream that somebody keeps and
/// does not poll.
///
/// There are at most 100,000 accounts, or [`max_accounts`](Self::max_accounts). An account with a
/// window is forgotten when all has come back; one without is kept, unless
/// [`forget_after`](Self::forget_after) says how long its life is. When none can go, a turn that
/// needs a new account finds the ledger unavailable: nobody gets a budget anew by asking for many.
#[derive(Clone)]
pub struct MemoryLedger(Arc<Inner>);

struct Inner {
    books: Mutex<Books>,
    start: Instant,
}

impl MemoryLedger {
    /// No account.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Inner {
            books: Mutex::new(Books::new(BookRules::new())),
            start: Instant::now(),
        }))
    }

    fn rule(self, change: impl FnOnce(&mut BookRules)) -> Self {
        change(self.lock().rules_mut());
        self
    }

    /// Charges a lease that is not renewed for so long. Its turn renews it while it is
    /// polled.
    #[must_use]
    pub fn lease(self, time: Duration) -> Self {
        self.rule(|rules| rules.lease = Some(micros(time)))
    }

    /// Ends the life of an account without a window that nobody has used for so long. Its
    /// budget begins anew.
    #[must_use]
    pub fn forget_after(self, idle: Duration) -> Self {
        self.rule(|rules| rules.forget_after = Some(micros(idle)))
    }

    /// How many accounts there may be.
    #[must_use]
    pub fn max_accounts(self, accounts: usize) -> Self {
        self.rule(|rules| rules.max_accounts = accounts)
    }

    /// What an account has used, turns that run included; in a window, what has not come
    /// back.
    #[must_use]
    pub fn used(&self, account: &Account) -> Amounts {
        let now = self.now();
        let mut books = self.lock();
        books.expire(now);
        books.used(account, now)
    }

    /// Forgets what an account has used. Turns that run go on counting.
    pub fn reset(&self, account: &Account) {
        let now = self.now();
        self.lock().reset(account, now);
    }

    /// How many accounts there are, for a gauge.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.lock().accounts()
    }

    /// How many turns hold a reservation, for a gauge.
    #[must_use]
    pub fn reservations(&self) -> usize {
        self.lock().leases()
    }

    fn now(&self) -> u64 {
        micros(self.0.start.elapsed())
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        // The counters are changed together, without anybody's code in between.
        self.0.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for MemoryLedger {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for MemoryLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryLedger")
            .field("accounts", &self.accounts())
            .finish_non_exhaustive()
    }
}

impl Ledger for MemoryLedger {
    type Reservation = MemoryReservation;
    type Reserve = MemoryReserve;

    fn reserve(&self, claims: Vec<Claim>) -> MemoryReserve {
        MemoryReserve {
            ledger: self.clone(),
            claims,
        }
    }
}

/// Reserves in a [`MemoryLedger`], when it is polled.
#[derive(Debug)]
#[must_use = "futures do nothing unless polled"]
pub struct MemoryReserve {
    ledger: MemoryLedger,
    claims: Vec<Claim>,
}

impl Future for MemoryReserve {
    type Output = Result<MemoryReservation, Denied>;

    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Self::Output> {
        let claims = std::mem::take(&mut self.claims);
        let now = self.ledger.now();
        let reserved = self.ledger.lock().reserve(claims, now);
        Poll::Ready(reserved.map(|held| MemoryReservation {
            ledger: self.ledger.clone(),
            held,
            settled: false,
        }))
    }
}

/// What a turn holds in a [`MemoryLedger`].
#[derive(Debug)]
pub struct MemoryReservation {
    ledger: MemoryLedger,
    held: Held,
    settled: bool,
}

impl MemoryReservation {
    fn book(&mut self, used: Amounts, undo: bool) -> Result<(), Exceeded> {
        let now = self.ledger.now();
        self.ledger.lock().book(&mut self.held, used, undo, now)
    }

    fn close(&mut self, used: Option<Amounts>) {
        if !std::mem::replace(&mut self.settled, true) {
            let now = self.ledger.now();
            self.ledger.lock().settle(&self.held, used, now);
        }
    }
}

impl Reservation for MemoryReservation {
    fn charge(&mut self, used: &Amounts) -> Result<(), Exceeded> {
        self.book(*used, false)
    }

    fn try_charge(&mut self, used: &Amounts) -> Result<(), Exceeded> {
        self.book(*used, true)
    }

    fn used(&self, claim: usize) -> Amounts {
        let claim = self.held.claims().get(claim);
        claim.map_or(Amounts::ZERO, |claim| self.ledger.used(&claim.account))
    }

    fn renew_every(&self) -> Option<Duration> {
        let lease = self.ledger.lock().rules().lease?;
        Some(Duration::from_micros(lease / 3))
    }

    fn renew(&mut self) {
        let now = self.ledger.now();
        self.ledger.lock().renew(&self.held, now);
    }

    fn poll_settle(&mut self, used: &Amounts, _: &mut Context<'_>) -> Poll<()> {
        self.close(Some(*used));
        Poll::Ready(())
    }

    fn settle(mut self, used: &Amounts) {
        self.close(Some(*used));
    }
}

impl Drop for MemoryReservation {
    fn drop(&mut self) {
        self.close(None);
    }
}
