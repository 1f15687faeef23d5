use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use super::{Account, Balance, Claim, Denied, Exceeded, LedgerFull};
use crate::budget::{Amounts, Limits};

/// The arithmetic of a ledger: accounts and leases, without a clock, a lock or a store.
///
/// For ledgers that one process keeps, as [`MemoryLedger`](super::MemoryLedger) does, or
/// one over a file. Times are microseconds on a clock of the ledger's own, which never goes
/// back, whatever is done to the clock on the wall.
///
/// A lease is what a turn holds. It is known by a number that the books give, and its holder
/// keeps a [`Held`], so that a lease that has run out, and was charged, can still be set right
/// when its turn comes to its end after all.
#[derive(Debug)]
pub struct Books {
    accounts: HashMap<Account, Entry>,
    leases: HashMap<u64, Lease>,
    /// Leases by the time at which they run out.
    due: BTreeSet<(u64, u64)>,
    next: u64,
    rules: BookRules,
    /// How many accounts there may be before some are looked for that can be forgotten.
    sweep_at: usize,
    swept: u64,
    changes: Option<Changes>,
}

/// What [`Books`] keep to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BookRules {
    /// For how many microseconds a lease is good that is not renewed. `None`: for ever.
    pub lease: Option<u64>,
    /// An account without a window that nobody has used for so many microseconds begins
    /// anew. `None`: never.
    pub forget_after: Option<u64>,
    /// How many accounts there may be.
    pub max_accounts: usize,
}

impl BookRules {
    /// Leases that last, accounts that are never forgotten, 100,000 of them.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            lease: None,
            forget_after: None,
            max_accounts: 100_000,
        }
    }
}

impl Default for BookRules {
    fn default() -> Self {
        Self::new()
    }
}

#[derive(Debug)]
struct Entry {
    balance: Balance,
    /// Used by turns that run.
    running: Amounts,
    /// Of each turn that runs what it reserved, or what it used if that is more.
    held: Amounts,
    leases: usize,
}

#[derive(Debug)]
struct Lease {
    claims: Arc<[Claim]>,
    used: Amounts,
    until: Option<u64>,
}

/// What the holder of a lease knows of it.
#[derive(Clone, Debug)]
pub struct Held {
    id: u64,
    claims: Arc<[Claim]>,
    used: Amounts,
}

impl Held {
    /// The number of the lease.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// What was claimed.
    #[must_use]
    pub fn claims(&self) -> &[Claim] {
        &self.claims
    }

    /// What was booked last.
    #[must_use]
    pub const fn used(&self) -> Amounts {
        self.used
    }
}

/// What has changed, for a store; see [`Books::take_changes`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Changes {
    /// Accounts, as they stand now. `None`: nothing is to be remembered.
    pub accounts: HashMap<Account, Option<Balance>>,
    /// Leases, as they stand now. `None`: it is settled.
    pub leases: HashMap<u64, Option<LeaseState>>,
}

impl Changes {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty() && self.leases.is_empty()
    }
}

/// A lease, for a store.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct LeaseState {
    /// What was claimed.
    pub claims: Arc<[Claim]>,
    /// What was booked.
    pub used: Amounts,
    /// When it runs out. `None`: never.
    pub until: Option<u64>,
}

impl Books {
    /// Empty books.
    #[must_use]
    pub fn new(rules: BookRules) -> Self {
        Self {
            accounts: HashMap::new(),
            leases: HashMap::new(),
            due: BTreeSet::new(),
            next: 1,
            rules,
            sweep_at: FIRST_SWEEP,
            swept: 0,
            changes: None,
        }
    }

    /// Notes what changes from now on, for a store.
    #[must_use]
    pub fn noting_changes(mut self) -> Self {
        self.changes = Some(Changes::default());
        self
    }

    /// The rules.
    pub const fn rules_mut(&mut self) -> &mut BookRules {
        &mut self.rules
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &BookRules {
        &self.rules
    }

    /// Takes up an account from a store. One that is there stays as it is: a store is
    /// behind.
    pub fn load(&mut self, account: Account, balance: Balance) {
        self.accounts
            .entry(account)
            .or_insert_with(|| Entry::new(balance));
    }

    /// Takes up a lease from a store, whose holder is gone: it is charged when it runs out.
    /// The accounts have to be loaded.
    pub fn load_lease(&mut self, id: u64, claims: Arc<[Claim]>, used: Amounts, until: u64) {
        self.next = self.next.max(id.saturating_add(1));
        self.insert(id, claims, used, Some(until), until);
    }

    /// Whether an account is in the books.
    #[must_use]
    pub fn knows(&self, account: &Account) -> bool {
        self.accounts.contains_key(account)
    }

    /// How many accounts there are.
    #[must_use]
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// How many leases there are.
    #[must_use]
    pub fn leases(&self) -> usize {
        self.leases.len()
    }

    /// What an account has used; turns that run included, without what has come back.
    #[must_use]
    pub fn used(&self, account: &Account, now: u64) -> Amounts {
        self.accounts.get(account).map_or(Amounts::ZERO, |entry| {
            entry.settled(account, now).used.plus(entry.running)
        })
    }

    /// Takes what has changed since it was last asked, as it stands now.
    pub fn take_changes(&mut self) -> Changes {
        let mut changes = match &mut self.changes {
            Some(changes) => std::mem::take(changes),
            None => return Changes::default(),
        };
        for (account, balance) in &mut changes.accounts {
            let entry = self.accounts.get(account);
            *balance = entry
                .map(|entry| entry.balance)
                .filter(|balance| !balance.is_empty());
        }
        for (id, state) in &mut changes.leases {
            *state = self.leases.get(id).map(|lease| LeaseState {
                claims: Arc::clone(&lease.claims),
                used: lease.used,
                until: lease.until,
            });
        }
        changes
    }

    /// Reserves a slice of every claim, or of none.
    ///
    /// # Errors
    ///
    /// When not enough is left of an account, or there are too many accounts.
    pub fn reserve(&mut self, claims: Vec<Claim>, now: u64) -> Result<Held, Denied> {
        self.expire(now);
        let mut new = 0;
        for (place, claim) in claims.iter().enumerate() {
            // Two claims of one turn may be of one account.
            let mine = claims[..place]
                .iter()
                .filter(|earlier| earlier.account == claim.account)
                .fold(Amounts::ZERO, |sum, earlier| sum.plus(earlier.slice));
            let entry = self.accounts.get(&claim.account);
            new += usize::from(entry.is_none());
            let entry = entry.filter(|entry| !self.is_forgettable(&claim.account, entry, now));
            let settled = entry.map(|entry| entry.settled(&claim.account, now));
            let held = entry.map_or(Amounts::ZERO, |entry| entry.held);
            let taken = settled.map_or(Amounts::ZERO, |balance| balance.used.plus(held));
            let wanted = taken.plus(mine).plus(claim.slice);
            if let Some((meter, limit)) = claim.limits.exceeded_by(&wanted) {
                let mut exceeded = Exceeded::of(&claim.account, meter, limit);
                // What others hold may come back as well, nobody knows when.
                let over = wanted.of(meter).saturating_sub(limit);
                let rate = Balance {
                    limits: claim.limits,
                    ..settled.unwrap_or(Balance::new(claim.limits, now))
                };
                if let Some(window) = claim.account.window()
                    && rate.used.of(meter) >= over
                    && let Some(time) = rate.time_for(window, meter, over)
                {
                    exceeded = exceeded.enough_in(time);
                }
                return Err(exceeded.into());
            }
        }
        if new > 0 {
            self.sweep(now);
            if self.accounts.len().saturating_add(new) > self.rules.max_accounts {
                return Err(Denied::Unavailable(LedgerFull::new().into()));
            }
        }
        for claim in &claims {
            let forgettable = self
                .accounts
                .get(&claim.account)
                .is_some_and(|entry| self.is_forgettable(&claim.account, entry, now));
            let entry = self.entry(claim, now);
            if forgettable {
                entry.balance = Balance::new(claim.limits, now);
            }
            entry.balance.refill(claim.account.window(), now);
            entry.balance.limits = claim.limits;
        }
        let id = self.next;
        self.next += 1;
        let claims: Arc<[Claim]> = claims.into();
        let until = self.until(now);
        self.insert(id, Arc::clone(&claims), Amounts::ZERO, until, now);
        Ok(Held {
            id,
            claims,
            used: Amounts::ZERO,
        })
    }

    /// Replaces what the turn of a lease has used. The error is the first account that it
    /// took over its limit: then all is booked, or, with `undo`, nothing.
    ///
    /// # Errors
    ///
    /// When it takes an account over its limit.
    pub fn book(
        &mut self,
        held: &mut Held,
        used: Amounts,
        undo: bool,
        now: u64,
    ) -> Result<(), Exceeded> {
        self.expire(now);
        self.reopen(held, now);
        let booked = self.replace(held, used, now);
        if booked.is_err() && undo {
            let before = std::mem::replace(&mut held.used, used);
            // Less cannot be too much.
            let _ = self.replace(held, before, now);
            held.used = before;
        } else {
            held.used = used;
        }
        self.note_lease(held.id);
        booked
    }

    /// The turn of a lease goes on.
    pub fn renew(&mut self, held: &Held, now: u64) {
        self.expire(now);
        self.reopen(held, now);
        if let (Some(until), Some(lease)) = (self.until(now), self.leases.get_mut(&held.id)) {
            if let Some(before) = lease.until.replace(until) {
                self.due.remove(&(before, held.id));
            }
            self.due.insert((until, held.id));
            self.note_lease(held.id);
        }
    }

    /// Ends a lease. `None`: nobody knows what was used, so it costs what was reserved, or
    /// what was used if that is more.
    pub fn settle(&mut self, held: &Held, used: Option<Amounts>, now: u64) {
        self.expire(now);
        self.reopen(held, now);
        self.close(held.id, used, now);
    }

    /// Forgets what an account has used. Turns that run go on counting.
    pub fn reset(&mut self, account: &Account, now: u64) {
        if let Some(entry) = self.accounts.get_mut(account) {
            entry.balance = Balance::new(entry.balance.limits, now);
            if entry.leases == 0 {
                self.accounts.remove(account);
            }
            self.note_account(account);
        }
    }

    /// Charges the leases that have run out.
    pub fn expire(&mut self, now: u64) {
        while let Some((until, id)) = self.due.first().copied().filter(|(at, _)| *at <= now) {
            self.close(id, None, until);
        }
    }

    /// Notes changes once more, which a store has not kept.
    pub fn note_again(&mut self, changes: Changes) {
        for (account, balance) in changes.accounts {
            let balance = balance.unwrap_or(Balance::new(Limits::NONE, 0));
            self.note_account(&account);
            self.load(account, balance);
        }
        for id in changes.leases.into_keys() {
            self.note_lease(id);
        }
    }

    /// Lets go of accounts that a store has: those that no lease holds, that have not changed
    /// since, and that `keep` does not want.
    pub fn unload(&mut self, keep: impl Fn(&Account) -> bool) {
        let changed = self.changes.as_ref();
        let changed =
            |account: &Account| changed.is_some_and(|all| all.accounts.contains_key(account));
        self.accounts
            .retain(|account, entry| entry.leases > 0 || changed(account) || keep(account));
    }

    fn until(&self, now: u64) -> Option<u64> {
        self.rules.lease.map(|lease| now.saturating_add(lease))
    }

    fn is_forgettable(&self, account: &Account, entry: &Entry, now: u64) -> bool {
        let at = entry
            .balance
            .forgettable_at(account.window(), self.rules.forget_after);
        entry.leases == 0 && at.is_some_and(|at| at <= now)
    }

    /// Forgets what can be, each time that there are twice as many accounts as were left, and
    /// at most once a second when there is room for no more.
    fn sweep(&mut self, now: u64) {
        let full = self.accounts.len() >= self.rules.max_accounts;
        let due = full && now.saturating_sub(self.swept) >= 1_000_000;
        if self.accounts.len() < self.sweep_at && !due {
            return;
        }
        let mut accounts = std::mem::take(&mut self.accounts);
        accounts.retain(|account, entry| !self.is_forgettable(account, entry, now));
        self.accounts = accounts;
        self.sweep_at = self.accounts.len().saturating_mul(2).max(FIRST_SWEEP);
        self.swept = now;
    }

    fn entry(&mut self, claim: &Claim, now: u64) -> &mut Entry {
        if !self.accounts.contains_key(&claim.account) {
            let entry = Entry::new(Balance::new(claim.limits, now));
            self.accounts.insert(claim.account.clone(), entry);
        }
        let entry = self.accounts.get_mut(&claim.account);
        entry.expect("it was put there if it was missing")
    }

    fn insert(
        &mut self,
        id: u64,
        claims: Arc<[Claim]>,
        used: Amounts,
        until: Option<u64>,
        now: u64,
    ) {
        for claim in &*claims {
            let entry = self.entry(claim, now);
            entry.held = entry.held.plus(claim.slice.max(used));
            entry.running = entry.running.plus(used);
            entry.leases += 1;
        }
        if let Some(until) = until {
            self.due.insert((until, id));
        }
        let lease = Lease {
            claims,
            used,
            until,
        };
        self.leases.insert(id, lease);
        self.note_lease(id);
    }

    /// Takes back what a lease was charged when it ran out: its turn lives.
    fn reopen(&mut self, held: &Held, now: u64) {
        if self.leases.contains_key(&held.id) {
            return;
        }
        for claim in &*held.claims {
            let entry = self.entry(claim, now);
            entry.balance.refill(claim.account.window(), now);
            let charged = claim.slice.max(held.used);
            entry.balance.used = entry.balance.used.minus(charged);
            self.note_account(&claim.account);
        }
        let until = self.until(now);
        self.insert(held.id, Arc::clone(&held.claims), held.used, until, now);
    }

    fn close(&mut self, id: u64, used: Option<Amounts>, now: u64) {
        let Some(lease) = self.leases.remove(&id) else {
            return;
        };
        if let Some(until) = lease.until {
            self.due.remove(&(until, id));
        }
        let keeps_empty = self.changes.is_some();
        for claim in &*lease.claims {
            let holds = claim.slice.max(lease.used);
            let entry = self.entry(claim, now);
            entry.balance.refill(claim.account.window(), now);
            entry.running = entry.running.minus(lease.used);
            entry.held = entry.held.minus(holds);
            entry.balance.used = entry.balance.used.plus(used.unwrap_or(holds));
            entry.leases -= 1;
            if !keeps_empty && entry.leases == 0 && entry.balance.is_empty() {
                self.accounts.remove(&claim.account);
            }
            self.note_account(&claim.account);
        }
        self.note_lease(id);
    }

    fn replace(&mut self, held: &Held, used: Amounts, now: u64) -> Result<(), Exceeded> {
        let mut booked = Ok(());
        for claim in &*held.claims {
            let before = held.used;
            let entry = self.entry(claim, now);
            let (held, holds) = (claim.slice.max(before), claim.slice.max(used));
            entry.running = entry.running.minus(before).plus(used);
            entry.held = entry.held.minus(held).plus(holds);
            let taken = entry.settled(&claim.account, now).used.plus(entry.held);
            // Only who draws more is stopped, not who finds that another did.
            let exceeded = claim.limits.iter().find(|(meter, limit)| {
                taken.of(*meter) > *limit && holds.of(*meter) > held.of(*meter)
            });
            if let (Some((meter, limit)), Ok(())) = (exceeded, &booked) {
                booked = Err(Exceeded::of(&claim.account, meter, limit));
            }
        }
        if let Some(lease) = self.leases.get_mut(&held.id) {
            lease.used = used;
        }
        booked
    }

    fn note_account(&mut self, account: &Account) {
        if let Some(changes) = &mut self.changes {
            changes.accounts.insert(account.clone(), None);
        }
    }

    fn note_lease(&mut self, id: u64) {
        if let Some(changes) = &mut self.changes {
            changes.leases.insert(id, None);
        }
    }
}

const FIRST_SWEEP: usize = 1024;

impl Entry {
    const fn new(balance: Balance) -> Self {
        Self {
            balance,
            running: Amounts::ZERO,
            held: Amounts::ZERO,
            leases: 0,
        }
    }

    /// The balance as it is now.
    fn settled(&self, account: &Account, now: u64) -> Balance {
        let mut balance = self.balance;
        balance.refill(account.window(), now);
        balance
    }
}

/// A time in the books' unit, for rules.
pub(super) fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}
