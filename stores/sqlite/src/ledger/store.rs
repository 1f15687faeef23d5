use std::{
    fmt,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::{Duration, SystemTime},
};

use portcullis_layers::budget::{
    Account, Amounts, Balance, BookRules, Books, Claim, Denied, Exceeded, Held, Ledger, LedgerFull,
    Reservation,
};
use tokio::sync::{OnceCell, oneshot};

use super::{
    flush::Flush,
    row,
    shared::{Shared, State},
    start,
};
use crate::{Database, OpenError, database::Trouble};

/// Budgets in a SQLite file: the ledger of the layer `budget`.
///
/// Cloning shares it, and stacks that share it share their budgets. They survive the process: a
/// turn begins when its reservation is on disk, and its terminal event leaves when its settlement
/// is. In between the books are in memory, so that a charge is answered at once, and what changes
/// is written in the background; so is the settlement of a turn that is dropped. That queue cannot
/// be full: there is one write in it, which takes all that has changed until it runs. A write
/// that fails goes with the next one. If the process dies before, the lease of each turn is
/// charged when its time is over: what was written of it, and at least what was reserved.
///
/// A lease is good for a minute, or for [`lease`](Self::lease), and renewed by its turn.
///
/// The clock is that on the wall when the file is opened, and runs by itself from then on: to
/// move the one on the wall by an hour changes nothing. Over restarts it does not go back.
///
/// On disk there are about a million accounts at most, or [`max_accounts`](Self::max_accounts). One
/// with a window is forgotten when all has come back; one without is kept, unless
/// [`forget_after`](Self::forget_after) says how long its life is. When none can go, a turn that needs
/// a new account finds the ledger unavailable.
#[derive(Clone)]
pub struct SqliteLedger(Arc<Inner>);

struct Inner {
    database: Database,
    shared: Arc<Shared>,
    started: OnceCell<()>,
}

impl SqliteLedger {
    /// The ledger of a file of its own.
    ///
    /// # Errors
    /// When the file cannot be opened or is not ours, see [`OpenError`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenError> {
        Self::new(Database::open(path)?)
    }

    /// The ledger of a database.
    ///
    /// # Errors
    /// [`OpenError::Taken`] when it was handed out before: it is one, and cloned.
    pub fn new(database: Database) -> Result<Self, OpenError> {
        database.claim("ledger")?;
        let mut rules = BookRules::new();
        rules.lease = Some(60_000_000);
        // Those on disk are counted here.
        rules.max_accounts = usize::MAX;
        let books = Books::new(rules).noting_changes();
        Ok(Self(Arc::new(Inner {
            database,
            shared: Arc::new(Shared::new(books, 1_000_000)),
            started: OnceCell::new(),
        })))
    }

    /// How long a lease is good that is not renewed.
    #[must_use]
    pub fn lease(self, time: Duration) -> Self {
        self.lock().books.rules_mut().lease = Some(micros(time));
        self
    }

    /// Ends the life of an account without a window that nobody has used for so long. Its
    /// budget begins anew.
    #[must_use]
    pub fn forget_after(self, idle: Duration) -> Self {
        self.lock().books.rules_mut().forget_after = Some(micros(idle));
        self
    }

    /// How many accounts there may be on disk, about.
    #[must_use]
    pub fn max_accounts(self, accounts: usize) -> Self {
        self.lock().max_accounts = accounts;
        self
    }

    /// What an account has used, turns that run included; in a window, what has not come
    /// back.
    ///
    /// # Errors
    /// [`Denied::Unavailable`] when the database fails.
    pub async fn used(&self, account: &Account) -> Result<Amounts, Denied> {
        let accounts = Pinned::new(self, vec![account.clone()]);
        accounts.load().await?;
        let now = self.now();
        let mut state = self.lock();
        state.books.expire(now);
        Ok(state.books.used(account, now))
    }

    /// How many turns hold a reservation, those of a process that has died included.
    #[must_use]
    pub fn reservations(&self) -> usize {
        self.lock().books.leases()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.shared.lock()
    }

    fn now(&self) -> u64 {
        let elapsed = self.0.shared.elapsed();
        self.lock().base.saturating_add(elapsed)
    }

    /// Takes up what the last process has left, once.
    async fn start(&self) -> Result<(), Denied> {
        let started = self.0.started.get_or_try_init(|| async {
            let wall = SystemTime::now();
            let left = self
                .0
                .database
                .write(move |connection| start::read(connection, wall), |_| {});
            let left = left.await?;
            let elapsed = self.0.shared.elapsed();
            left.take_up(&mut self.lock(), elapsed);
            Ok(())
        });
        started.await.map_err(unavailable)?;
        Ok(())
    }

    /// Sees to it that what has changed is written.
    fn flush(&self, state: &mut State) {
        if !std::mem::replace(&mut state.queued, true) {
            let flush = Flush::new(Arc::clone(&self.0.shared));
            self.0.database.submit(Box::new(flush));
        }
    }

    /// And tells when it is.
    fn flushed(&self, state: &mut State) -> oneshot::Receiver<Result<(), Trouble>> {
        let (ack, flushed) = oneshot::channel();
        state.waiting.push(ack);
        self.flush(state);
        flushed
    }

    /// Forgets what can be, if there are too many accounts, and says whether there is room.
    async fn make_room(&self) -> Result<(), Denied> {
        let is_full = |state: &State| state.stored >= state.max_accounts;
        if !is_full(&self.lock()) {
            return Ok(());
        }
        let now = row::signed(self.now());
        let shared = Arc::clone(&self.0.shared);
        let gone = self.0.database.write(
            move |connection| row::forget(connection, now),
            move |gone| {
                let mut state = shared.lock();
                state.stored = state.stored.saturating_sub(*gone);
            },
        );
        gone.await.map_err(unavailable)?;
        if is_full(&self.lock()) {
            return Err(Denied::Unavailable(LedgerFull::new().into()));
        }
        Ok(())
    }

    async fn grant(self, claims: Vec<Claim>) -> Result<SqliteReservation, Denied> {
        let names = claims.iter().map(|claim| claim.account.clone());
        let accounts = Pinned::new(&self, names.collect());
        if accounts.load().await? {
            self.make_room().await?;
        }
        let now = self.now();
        let (mut reservation, flushed) = {
            let mut state = self.lock();
            let held = state.books.reserve(claims, now)?;
            let reservation = SqliteReservation {
                ledger: self.clone(),
                held,
                stage: Stage::Asked,
            };
            (reservation, self.flushed(&mut state))
        };
        // Dropped meanwhile, it is withdrawn.
        flushed
            .await
            .unwrap_or(Err(Trouble::Stopped))
            .map_err(unavailable)?;
        reservation.stage = Stage::Running;
        Ok(reservation)
    }
}

impl fmt::Debug for SqliteLedger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteLedger")
            .field("path", &self.0.database.path())
            .field("reservations", &self.reservations())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    /// What no write has kept goes with the last one.
    fn drop(&mut self) {
        let flush = Flush::new(Arc::clone(&self.shared));
        self.database.submit(Box::new(flush));
    }
}

/// Accounts that stay in memory while somebody is about to claim them.
struct Pinned {
    ledger: SqliteLedger,
    accounts: Vec<Account>,
}

impl Pinned {
    fn new(ledger: &SqliteLedger, accounts: Vec<Account>) -> Self {
        ledger.lock().pin(&accounts);
        Self {
            ledger: ledger.clone(),
            accounts,
        }
    }

    /// Reads those that are not in memory. Answers whether there is one that may need a place on
    /// disk.
    async fn load(&self) -> Result<bool, Denied> {
        self.ledger.start().await?;
        let missing: Vec<_> = {
            let state = self.ledger.lock();
            let accounts = self.accounts.iter();
            let missing = accounts.filter(|account| !state.books.knows(account));
            missing.cloned().collect()
        };
        if missing.is_empty() {
            return Ok(self.has_new());
        }
        // By the writer, so that it comes after every write of before.
        let found = self.ledger.0.database.write(
            move |connection| {
                let found = missing.iter().map(|account| {
                    let balance = row::find(connection, account)?;
                    Ok((account.clone(), balance))
                });
                found.collect::<rusqlite::Result<Vec<_>>>()
            },
            |_| {},
        );
        let found = found.await.map_err(unavailable)?;
        let now = self.ledger.now();
        let mut state = self.ledger.lock();
        for (account, balance) in found {
            let empty = Balance::new(portcullis_layers::budget::Limits::of(ANY, 0), now);
            state.books.load(account, balance.unwrap_or(empty));
        }
        drop(state);
        Ok(self.has_new())
    }

    /// Whether nothing is used of one of them.
    fn has_new(&self) -> bool {
        let now = self.ledger.now();
        let state = self.ledger.lock();
        let mut accounts = self.accounts.iter();
        accounts.any(|account| state.books.used(account, now) == Amounts::ZERO)
    }
}

/// Nothing is used, so its limits say nothing until somebody claims it.
const ANY: portcullis_layers::budget::Meter = portcullis_layers::budget::Meter::ToolCalls;

impl Drop for Pinned {
    fn drop(&mut self) {
        self.ledger.lock().unpin(&self.accounts);
    }
}

fn unavailable(trouble: Trouble) -> Denied {
    Denied::Unavailable(trouble.into())
}

fn micros(time: Duration) -> u64 {
    u64::try_from(time.as_micros()).unwrap_or(u64::MAX)
}

impl Ledger for SqliteLedger {
    type Reservation = SqliteReservation;
    type Reserve = Pin<Box<dyn Future<Output = Result<SqliteReservation, Denied>> + Send>>;

    fn reserve(&self, claims: Vec<Claim>) -> Self::Reserve {
        Box::pin(self.clone().grant(claims))
    }
}

/// What a turn holds in a [`SqliteLedger`].
pub struct SqliteReservation {
    ledger: SqliteLedger,
    held: Held,
    stage: Stage,
}

enum Stage {
    /// It is not on disk yet, and nobody has it.
    Asked,
    Running,
    /// Settled in the books; that goes to disk.
    Settling(oneshot::Receiver<Result<(), Trouble>>),
    Settled,
}

impl SqliteReservation {
    fn book(&mut self, used: Amounts, undo: bool) -> Result<(), Exceeded> {
        let now = self.ledger.now();
        let mut state = self.ledger.0.shared.lock();
        let booked = state.books.book(&mut self.held, used, undo, now);
        self.ledger.flush(&mut state);
        booked
    }

    fn close(&mut self, used: Option<Amounts>) {
        self.stage = Stage::Settled;
        let now = self.ledger.now();
        let mut state = self.ledger.lock();
        state.books.settle(&self.held, used, now);
        self.ledger.flush(&mut state);
    }
}

impl Reservation for SqliteReservation {
    fn charge(&mut self, used: &Amounts) -> Result<(), Exceeded> {
        self.book(*used, false)
    }

    fn try_charge(&mut self, used: &Amounts) -> Result<(), Exceeded> {
        self.book(*used, true)
    }

    fn used(&self, claim: usize) -> Amounts {
        let now = self.ledger.now();
        let mut state = self.ledger.lock();
        state.books.expire(now);
        let claim = self.held.claims().get(claim);
        claim.map_or(Amounts::ZERO, |claim| state.books.used(&claim.account, now))
    }

    fn renew_every(&self) -> Option<Duration> {
        let lease = self.ledger.lock().books.rules().lease?;
        Some(Duration::from_micros(lease / 3))
    }

    fn renew(&mut self) {
        let now = self.ledger.now();
        let mut state = self.ledger.lock();
        state.books.renew(&self.held, now);
        self.ledger.flush(&mut state);
    }

    fn poll_settle(&mut self, used: &Amounts, cx: &mut Context<'_>) -> Poll<()> {
        if let Stage::Asked | Stage::Running = self.stage {
            let now = self.ledger.now();
            let mut state = self.ledger.0.shared.lock();
            state.books.settle(&self.held, Some(*used), now);
            self.stage = Stage::Settling(self.ledger.flushed(&mut state));
        }
        if let Stage::Settling(flushed) = &mut self.stage {
            // That it failed was logged, and it goes with the next write.
            drop(ready!(Pin::new(flushed).poll(cx)));
            self.stage = Stage::Settled;
        }
        Poll::Ready(())
    }

    fn settle(mut self, used: &Amounts) {
        if let Stage::Asked | Stage::Running = self.stage {
            self.close(Some(*used));
        }
    }
}

impl Drop for SqliteReservation {
    fn drop(&mut self) {
        match self.stage {
            Stage::Asked => self.close(Some(Amounts::ZERO)),
            Stage::Running => self.close(None),
            Stage::Settling(_) | Stage::Settled => {}
        }
    }
}

impl fmt::Debug for SqliteReservation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteReservation")
            .field("held", &self.held)
            .finish_non_exhaustive()
    }
}
