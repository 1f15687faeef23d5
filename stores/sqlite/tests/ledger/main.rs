//! The ledger in SQLite keeps what every ledger keeps, and keeps it on disk.

mod kill;
mod restart;
mod stacks;

use portcullis_layers::{
    budget::ledger_suite::{Fixture, MODEL_LEASE, Options, Step, agrees_with_the_model},
    ledger_suite,
};
use portcullis_sqlite::SqliteLedger;
use proptest::{collection::vec, prelude::*};

fn open(options: Options) -> Fixture<SqliteLedger> {
    let directory = tempfile::tempdir().unwrap();
    let mut ledger = SqliteLedger::open(directory.path().join("ledger.db")).unwrap();
    if let Some(time) = options.lease {
        ledger = ledger.lease(time);
    }
    if let Some(accounts) = options.max_accounts {
        ledger = ledger.max_accounts(accounts);
    }
    Fixture::new(ledger).keeping(directory)
}

ledger_suite!(open);

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Whatever happens in whatever order, the ledger and a plain model of it agree.
    #[test]
    fn agrees_with_a_model(steps in vec(any::<[u8; 3]>(), 0..80)) {
        let steps: Vec<_> = steps.into_iter().map(Step::from).collect();
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let directory = tempfile::tempdir().unwrap();
            let ledger = SqliteLedger::open(directory.path().join("ledger.db")).unwrap();
            let ledger = ledger.lease(MODEL_LEASE);
            agrees_with_the_model(&ledger, tokio::time::advance, &steps).await;
        });
    }
}
