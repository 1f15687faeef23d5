use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use portcullis_layers::budget::{Account, Books};
use tokio::{sync::oneshot, time::Instant};

use crate::database::Trouble;

/// What a ledger and its writes share. Not the database: a write that held it would join its
/// own thread.
#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    start: Instant,
}

#[derive(Debug)]
pub(super) struct State {
    pub(super) books: Books,
    /// What the clock showed at the start.
    pub(super) base: u64,
    /// Accounts that somebody is about to claim, so that they stay in memory.
    pins: HashMap<Account, usize>,
    /// A write waits to be run, and takes what has changed until then.
    pub(super) queued: bool,
    /// Who waits for that write.
    pub(super) waiting: Vec<Ack>,
    /// How many accounts there are on disk.
    pub(super) stored: usize,
    pub(super) max_accounts: usize,
}

pub(super) type Ack = oneshot::Sender<Result<(), Trouble>>;

impl Shared {
    pub(super) fn new(books: Books, max_accounts: usize) -> Self {
        Self {
            state: Mutex::new(State {
                books,
                base: 0,
                pins: HashMap::new(),
                queued: false,
                waiting: Vec::new(),
                stored: 0,
                max_accounts,
            }),
            start: Instant::now(),
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        // The books are changed together, without anybody's code in between.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Microseconds since the clock was made.
    pub(super) fn elapsed(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }
}

impl State {
    pub(super) fn pin(&mut self, accounts: &[Account]) {
        for account in accounts {
            *self.pins.entry(account.clone()).or_default() += 1;
        }
    }

    pub(super) fn unpin(&mut self, accounts: &[Account]) {
        for account in accounts {
            if let Some(pins) = self.pins.get_mut(account) {
                *pins -= 1;
                if *pins == 0 {
                    self.pins.remove(account);
                }
            }
        }
        if self.books.accounts() > CACHED {
            let pins = &self.pins;
            self.books.unload(|account| pins.contains_key(account));
        }
    }
}

/// How many accounts that nobody uses stay in memory.
const CACHED: usize = 10_000;
