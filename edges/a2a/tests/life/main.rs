//! Many clients send, stream, cancel, subscribe, leave and come back at random, over all bindings,
//! against agents that finish, fail, hang, panic and ask. Afterwards every task has one end, every
//! watcher has seen a piece of the log without a gap, and nothing is left.
//!
//! `PORTCULLIS_LIFE_SEED` repeats one run, `PORTCULLIS_LIFE_ROUNDS` makes more of them.

mod world;

use std::{sync::Arc, time::Duration};

use portcullis_a2a::{
    log::{MemoryLog, TaskLog},
    server::push::{MemoryPushStore, PushStore},
};

use tokio::runtime::Builder;

use world::{Counts, InProcess, Plan, Stores, World, seeds};

/// Tasks and webhooks in memory, which outlive a server and not the process.
struct Memory {
    log: MemoryLog,
    webhooks: Arc<MemoryPushStore>,
}

impl Memory {
    fn new() -> Self {
        Self {
            log: MemoryLog::new(),
            webhooks: Arc::default(),
        }
    }
}

impl Stores for Memory {
    fn open(&self) -> (Arc<dyn TaskLog>, Arc<dyn PushStore>) {
        // Counted apart from what other servers hold.
        (Arc::new(self.log.clone()), self.webhooks.clone())
    }
}

async fn in_process(plan: Plan) -> Counts {
    let world = World::new(plan, Memory::new());
    let road = InProcess(world.front());
    world.live(road).await
}

/// All that is to happen in some life.
const HAPPENS: &[&str] = &[
    "cancel: TASK_STATE_CANCELED",
    "cancel: TaskNotCancelable",
    "come back: UnsupportedOperation",
    "continue: UnsupportedOperation",
    "list: whole",
    "send: TASK_STATE_AUTH_REQUIRED",
    "send: TASK_STATE_CANCELED",
    "send: TASK_STATE_COMPLETED",
    "send: TASK_STATE_FAILED",
    "send: TASK_STATE_INPUT_REQUIRED",
    "send: TASK_STATE_REJECTED",
    "send: TASK_STATE_SUBMITTED",
    "send: TASK_STATE_WORKING",
    "send: Unavailable",
    "send: a message",
    "send: dropped",
    "stream: dropped",
    "subscribe: UnsupportedOperation",
    "trespass: TaskNotFound",
    "watch: Ended",
    "watch: Left",
    "watch: came back",
];

#[test]
fn many_lives_in_one_process() {
    let mut counts = Counts::new();
    let seeds = seeds(0..6, 2);
    for seed in &seeds {
        let plan = Plan {
            seed: *seed,
            clients: 9,
            actions: 40,
            unit: Duration::from_millis(100),
            paused: true,
            restarts: 0,
        };
        let runtime = Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build();
        for (what, times) in runtime.expect("a runtime").block_on(in_process(plan)) {
            *counts.entry(what).or_default() += times;
        }
    }
    let missing = |what: &&&str| !counts.contains_key(**what);
    let missing: Vec<_> = HAPPENS.iter().filter(missing).collect();
    assert!(
        seeds.len() == 1 || missing.is_empty(),
        "{missing:?} of {counts:#?}"
    );
}
