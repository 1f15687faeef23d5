use std::{
    collections::HashMap,
    fmt,
    future::{Ready, ready},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::{Account, Claim, Denied, Exceeded, Ledger, Reservation};
use crate::budget::Amounts;

/// Accounts in memory. Clones share them.
///
/// An account that nobody has used for a day is forgotten, and what it had used with
/// it; [`forget_after`](Self::forget_after) says another time.
#[derive(Clone)]
pub struct MemoryLedger {
    books: Arc<Mutex<Books>>,
}

struct Books {
    accounts: HashMap<Account, Entry>,
    forget_after: Duration,
    /// How many accounts there may be before idle ones are looked for.
    sweep_at: usize,
}

#[derive(Debug)]
struct Entry {
    /// Used by turns that are over.
    settled: Amounts,
    /// Used by turns that run.
    running: Amounts,
    /// Of each turn that runs what it reserved, or what it used if that is more.
    held: Amounts,
    turns: usize,
    touched: Instant,
}

impl MemoryLedger {
    /// No account.
    #[must_use]
    pub fn new() -> Self {
        Self {
            books: Arc::new(Mutex::new(Books {
                accounts: HashMap::new(),
                forget_after: Duration::from_hours(24),
                sweep_at: FIRST_SWEEP,
            })),
        }
    }

    /// Forgets an account that nobody has used for so long. Its budget begins anew.
    #[must_use]
    pub fn forget_after(self, idle: Duration) -> Self {
        self.lock().forget_after = idle;
        self
    }

    /// What an account has used; turns that run included.
    #[must_use]
    pub fn used(&self, account: &Account) -> Amounts {
        let books = self.lock();
        let entry = books.accounts.get(account);
        entry.map_or(Amounts::ZERO, |entry| entry.settled.plus(entry.running))
    }

    /// Forgets what an account has used. Turns that run go on counting.
    pub fn reset(&self, account: &Account) {
        let mut books = self.lock();
        if let Some(entry) = books.accounts.get_mut(account) {
            entry.settled = Amounts::ZERO;
            if entry.turns == 0 {
                books.accounts.remove(account);
            }
        }
    }

    /// How many accounts there are, for a gauge.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.lock().accounts.len()
    }

    /// How many turns hold a reservation, for a gauge.
    #[must_use]
    pub fn reservations(&self) -> usize {
        let books = self.lock();
        books.accounts.values().map(|entry| entry.turns).sum()
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        // The counters are changed together, without anybody's code in between.
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

const FIRST_SWEEP: usize = 1024;

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

impl Books {
    /// Looks for idle accounts, each time that there are twice as many as were left.
    fn sweep(&mut self, now: Instant) {
        if self.accounts.len() < self.sweep_at {
            return;
        }
        let idle = self.forget_after;
        self.accounts
            .retain(|_, entry| entry.turns > 0 || now - entry.touched < idle);
        self.sweep_at = self.accounts.len().saturating_mul(2).max(FIRST_SWEEP);
    }

    /// Replaces what a turn has used. The error is the first account that it took over
    /// its limit; all are booked.
    fn replace(
        &mut self,
        claims: &[Claim],
        before: Amounts,
        used: Amounts,
    ) -> Result<(), Exceeded> {
        let mut booked = Ok(());
        for claim in claims {
            let entry = self.entry(claim);
            let (held, holds) = (claim.slice.max(before), claim.slice.max(used));
            entry.running = entry.running.minus(before).plus(used);
            entry.held = entry.held.minus(held).plus(holds);
            let taken = entry.settled.plus(entry.held);
            // Only who draws more is stopped, not who finds that another did.
            let exceeded = claim.limits.iter().find(|(meter, limit)| {
                taken.of(*meter) > *limit && holds.of(*meter) > held.of(*meter)
            });
            if let (Some((meter, limit)), Ok(())) = (exceeded, &booked) {
                let kind = claim.account.kind().to_owned();
                booked = Err(Exceeded::new(kind, meter, limit));
            }
        }
        booked
    }

    fn entry(&mut self, claim: &Claim) -> &mut Entry {
        let entry = self.accounts.get_mut(&claim.account);
        entry.expect("an account with a reservation is not forgotten")
    }
}

impl Ledger for MemoryLedger {
    type Reservation = MemoryReservation;
    type Reserve = Ready<Result<MemoryReservation, Denied>>;

    fn reserve(&self, claims: Vec<Claim>) -> Self::Reserve {
        let now = Instant::now();
        let mut books = self.lock();
        for (place, claim) in claims.iter().enumerate() {
            // Two claims of one turn may be of one account.
            let mine = claims[..place]
                .iter()
                .filter(|earlier| earlier.account == claim.account)
                .fold(Amounts::ZERO, |sum, earlier| sum.plus(earlier.slice));
            let entry = books.accounts.get(&claim.account);
            let entry =
                entry.filter(|entry| entry.turns > 0 || now - entry.touched < books.forget_after);
            let taken = entry.map_or(Amounts::ZERO, |entry| entry.settled.plus(entry.held));
            let wanted = taken.plus(mine).plus(claim.slice);
            if let Some((meter, limit)) = claim.limits.exceeded_by(&wanted) {
                let kind = claim.account.kind().to_owned();
                return ready(Err(Exceeded::new(kind, meter, limit).into()));
            }
        }
        books.sweep(now);
        for claim in &claims {
            let idle = books.forget_after;
            let entry = books.accounts.entry(claim.account.clone());
            let entry = entry.or_insert_with(|| Entry {
                settled: Amounts::ZERO,
                running: Amounts::ZERO,
                held: Amounts::ZERO,
                turns: 0,
                touched: now,
            });
            if entry.turns == 0 && now - entry.touched >= idle {
                entry.settled = Amounts::ZERO;
            }
            entry.held = entry.held.plus(claim.slice);
            entry.turns += 1;
            entry.touched = now;
        }
        drop(books);
        ready(Ok(MemoryReservation {
            ledger: self.clone(),
            claims,
            used: Amounts::ZERO,
        }))
    }
}

/// What a turn holds in a [`MemoryLedger`].
#[derive(Debug)]
pub struct MemoryReservation {
    ledger: MemoryLedger,
    /// Empty once it is settled.
    claims: Vec<Claim>,
    used: Amounts,
}

impl MemoryReservation {
    /// Replaces what is booked, and says whether that took an account over its limit.
    /// `undo` then leaves everything as it was.
    fn book(&mut self, used: Amounts, undo: bool) -> Result<(), Exceeded> {
        let mut books = self.ledger.lock();
        let booked = books.replace(&self.claims, self.used, used);
        if booked.is_err() && undo {
            // Less cannot be too much.
            let _ = books.replace(&self.claims, used, self.used);
        } else {
            self.used = used;
        }
        booked
    }

    /// Ends the reservation. `None`: nobody knows what was used.
    fn close(&mut self, used: Option<Amounts>) {
        let claims = std::mem::take(&mut self.claims);
        let now = Instant::now();
        let mut books = self.ledger.lock();
        for claim in &claims {
            let holds = claim.slice.max(self.used);
            let entry = books.entry(claim);
            entry.running = entry.running.minus(self.used);
            entry.held = entry.held.minus(holds);
            entry.settled = entry.settled.plus(used.unwrap_or(holds));
            entry.turns -= 1;
            entry.touched = now;
            if entry.turns == 0 && entry.settled == Amounts::ZERO {
                books.accounts.remove(&claim.account);
            }
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
        let claim = self.claims.get(claim);
        claim.map_or(Amounts::ZERO, |claim| self.ledger.used(&claim.account))
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
