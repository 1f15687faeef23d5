use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use portcullis_layers::budget::{Account, Amounts, Balance, Claim};
use rusqlite::Connection;

use super::{row, shared::State};

/// What a process that begins has to know.
pub(super) struct Left {
    clock: u64,
    stored: usize,
    accounts: Vec<(Account, Balance)>,
    leases: BTreeMap<u64, Lease>,
}

struct Lease {
    claims: Vec<Claim>,
    used: Amounts,
    until: u64,
}

/// Reads what the last process has left: leases of turns that are no more, and their accounts.
pub(super) fn read(connection: &Connection, wall: SystemTime) -> rusqlite::Result<Left> {
    let wall = wall.duration_since(UNIX_EPOCH).unwrap_or_default();
    let wall = u64::try_from(wall.as_micros()).unwrap_or(u64::MAX);
    let last = connection.query_row(
        "SELECT coalesce(max(at), 0) FROM ledger_accounts",
        [],
        |row| row::unsigned(row, 0),
    )?;
    // It does not go back, or what came back would have to be taken away again.
    let clock = wall.max(last);
    row::forget(connection, row::signed(clock))?;
    let stored = connection.query_row("SELECT count(*) FROM ledger_accounts", [], |row| {
        row::unsigned(row, 0)
    })?;
    let mut leases = BTreeMap::<u64, Lease>::new();
    let mut accounts = Vec::new();
    let mut statement = connection.prepare(
        "SELECT lease, kind, id, window, currency, limits, slice, used, until
         FROM ledger_claims ORDER BY lease, place",
    )?;
    let mut rows = statement.query([])?;
    while let Some(found) = rows.next()? {
        let account = row::account(found, 1)?;
        let balance = row::find(connection, &account)?;
        let (limits, slice) = (row::limits(found, 5)?, row::amounts(found, 6)?);
        accounts.push((
            account.clone(),
            balance.unwrap_or(Balance::new(limits, clock)),
        ));
        let lease = leases.entry(row::unsigned(found, 0)?);
        let lease = lease.or_insert(Lease {
            claims: Vec::new(),
            used: row::amounts(found, 7)?,
            until: row::unsigned(found, 8)?,
        });
        lease.claims.push(Claim::new(account, limits, slice));
    }
    Ok(Left {
        clock,
        stored: usize::try_from(stored).unwrap_or(usize::MAX),
        accounts,
        leases,
    })
}

impl Left {
    /// Takes it up. `elapsed` is what the clock has counted by itself so far.
    pub(super) fn take_up(self, state: &mut State, elapsed: u64) {
        state.base = self.clock.saturating_sub(elapsed);
        state.stored = self.stored;
        for (account, balance) in self.accounts {
            state.books.load(account, balance);
        }
        for (id, lease) in self.leases {
            let claims: Arc<[Claim]> = lease.claims.into();
            state.books.load_lease(id, claims, lease.used, lease.until);
        }
    }
}
