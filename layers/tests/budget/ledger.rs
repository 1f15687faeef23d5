//! The port, its suite, and the ledger in memory.

use portcullis_layers::{
    budget::{
        MemoryLedger,
        ledger_suite::{Fixture, Options},
    },
    ledger_suite,
};

fn open(options: Options) -> Fixture<MemoryLedger> {
    let mut ledger = MemoryLedger::new();
    if let Some(time) = options.lease {
        ledger = ledger.lease(time);
    }
    if let Some(accounts) = options.max_accounts {
        ledger = ledger.max_accounts(accounts);
    }
    Fixture::new(ledger)
}

ledger_suite!(open);
