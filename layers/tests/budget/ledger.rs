//! The port, its suite, and the ledger in memory.

use portcullis_layers::{
    budget::{
        MemoryLedger,
        ledger_suite::{Fixture, MODEL_LEASE, Options, Step, agrees_with_the_model},
    },
    ledger_suite,
};
use proptest::{collection::vec, prelude::*};

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

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

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
            let ledger = MemoryLedger::new().lease(MODEL_LEASE);
            agrees_with_the_model(&ledger, tokio::time::advance, &steps).await;
        });
    }
}
