use std::{error::Error, sync::Arc};

use portcullis_layers::budget::Changes;
use rusqlite::Connection;

use super::{
    row,
    shared::{Ack, Shared},
};
use crate::{database::Trouble, writer::Job};

/// Writes whatever has changed in the books. There is one in the queue at most: it takes what
/// has come until it runs, so turns that end fast do not fill it.
pub(super) struct Flush {
    shared: Arc<Shared>,
    /// Taken in the first run; a second one writes the same.
    taken: Option<(Changes, Vec<Ack>)>,
    forget_after: Option<u64>,
    /// Accounts that the disk has more and less now.
    added: usize,
    removed: usize,
}

impl Flush {
    pub(super) const fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            taken: None,
            forget_after: None,
            added: 0,
            removed: 0,
        }
    }

    fn write(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        (self.added, self.removed) = (0, 0);
        let (changes, _) = self.taken.as_ref().expect("taken before");
        let mut update = connection.prepare_cached(
            "UPDATE ledger_accounts SET used = ?5, carry = ?6, limits = ?7, at = ?8, forget = ?9
             WHERE kind = ?1 AND id = ?2 AND window = ?3 AND currency = ?4",
        )?;
        let mut insert = connection.prepare_cached(
            "INSERT INTO ledger_accounts
                 (kind, id, window, currency, used, carry, limits, at, forget)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
        )?;
        let mut delete = connection.prepare_cached(
            "DELETE FROM ledger_accounts
             WHERE kind = ?1 AND id = ?2 AND window = ?3 AND currency = ?4",
        )?;
        for (account, balance) in &changes.accounts {
            let (kind, id, window, currency) = row::key(account);
            let Some(balance) = balance else {
                self.removed += delete.execute((kind, id, window, currency))?;
                continue;
            };
            let forget = balance.forgettable_at(account.window(), self.forget_after);
            let values = (
                kind,
                id,
                window,
                currency,
                row::amounts_text(&balance.used),
                row::amounts_text(&balance.carry),
                row::limits_text(&balance.limits),
                row::signed(balance.at),
                forget.map(row::signed),
            );
            if update.execute(values.clone())? == 0 {
                self.added += insert.execute(values)?;
            }
        }
        let mut settled =
            connection.prepare_cached("DELETE FROM ledger_claims WHERE lease = ?1")?;
        let mut claims = connection.prepare_cached(
            "INSERT INTO ledger_claims
                 (lease, place, kind, id, window, currency, limits, slice, used, until)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
             ON CONFLICT (lease, place) DO UPDATE SET used = excluded.used, until = excluded.until",
        )?;
        for (lease, state) in &changes.leases {
            let lease = row::signed(*lease);
            let Some(state) = state else {
                settled.execute([lease])?;
                continue;
            };
            for (place, claim) in state.claims.iter().enumerate() {
                let (kind, id, window, currency) = row::key(&claim.account);
                claims.execute((
                    lease,
                    row::signed(place as u64),
                    kind,
                    id,
                    window,
                    currency,
                    row::limits_text(&claim.limits),
                    row::amounts_text(&claim.slice),
                    row::amounts_text(&state.used),
                    state.until.map_or(i64::MAX, row::signed),
                ))?;
            }
        }
        Ok(())
    }
}

impl Job for Flush {
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()> {
        if self.taken.is_none() {
            let mut state = self.shared.lock();
            state.queued = false;
            self.forget_after = state.books.rules().forget_after;
            let waiting = std::mem::take(&mut state.waiting);
            self.taken = Some((state.books.take_changes(), waiting));
        }
        self.write(connection)
    }

    fn finish(mut self: Box<Self>, outcome: Result<(), Arc<rusqlite::Error>>) {
        let Some((changes, waiting)) = self.taken.take() else {
            // The writer is gone, and the transaction was never begun.
            let mut state = self.shared.lock();
            state.queued = false;
            let waiting = std::mem::take(&mut state.waiting);
            drop(state);
            return answer(waiting, &outcome);
        };
        let mut state = self.shared.lock();
        match &outcome {
            Ok(()) => {
                let stored = state.stored + self.added;
                state.stored = stored.saturating_sub(self.removed);
            }
            Err(error) => {
                let error: &(dyn Error + 'static) = &**error;
                tracing::error!(error, "the ledger could not be written");
                // It goes with the next write.
                state.books.note_again(changes);
            }
        }
        drop(state);
        answer(waiting, &outcome);
    }
}

fn answer(waiting: Vec<Ack>, outcome: &Result<(), Arc<rusqlite::Error>>) {
    for ack in waiting {
        // Whoever does not wait any more has dropped the other end.
        drop(ack.send(outcome.clone().map_err(Trouble::Failed)));
    }
}
