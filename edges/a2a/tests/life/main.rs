//! Many clients send, stream, cancel, subscribe, leave and come back at random, over all bindings,
//! against agents that finish, fail, hang, panic and ask. Afterwards every task has one end, every
//! watcher has seen a piece of the log without a gap, and nothing is left.
//!
//! `PORTCULLIS_LIFE_SEED` repeats one run, `PORTCULLIS_LIFE_ROUNDS` makes more of them.

#[cfg(target_os = "linux")]
mod sockets;
mod world;

use std::{ops::Range, sync::Arc, time::Duration};

use portcullis_a2a::{
    log::{MemoryLog, TaskLog},
    server::push::{MemoryPushStore, PushStore},
};

use tokio::runtime::{Builder, Runtime};

use world::{Counts, InProcess, Plan, Stores, World, host::LEASE, is_repeated, seeds};

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
        // Until then a dead server's tasks are its own.
        std::thread::sleep(LEASE * 2);
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

fn paused() -> Runtime {
    let runtime = Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build();
    runtime.expect("a runtime")
}

/// Runs a plan with each of the seeds.
fn lives(fixed: Range<u64>, random: usize, plan: Plan) -> Counts {
    let mut counts = Counts::new();
    for seed in seeds(fixed, random) {
        let lived = paused().block_on(in_process(Plan { seed, ..plan }));
        for (what, times) in lived {
            *counts.entry(what).or_default() += times;
        }
    }
    counts
}

const PLAN: Plan = Plan {
    seed: 0,
    clients: 9,
    actions: 40,
    unit: Duration::from_millis(100),
    paused: true,
    restarts: 0,
};

#[test]
fn many_lives_in_one_process() {
    let counts = lives(0..5, 2, PLAN);
    let missing = |what: &&&str| !counts.contains_key(**what);
    let missing: Vec<_> = HAPPENS.iter().filter(missing).collect();
    assert!(
        is_repeated() || missing.is_empty(),
        "{missing:?} of {counts:#?}"
    );
}

// O-D04, A2A-OP-117.
#[test]
fn many_lives_with_servers_that_die() {
    let counts = lives(
        0..3,
        1,
        Plan {
            restarts: 4,
            ..PLAN
        },
    );
    assert!(
        is_repeated() || counts.contains_key("watch: Cut"),
        "{counts:#?}"
    );
}

/// Where turns, callers and watchers really run at once, and nothing waits for the others.
#[test]
fn many_lives_on_two_threads() {
    for seed in seeds(0..1, 1) {
        let plan = Plan {
            seed,
            unit: Duration::from_millis(2),
            paused: false,
            ..PLAN
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let lived = runtime.expect("a runtime").block_on(in_process(plan));
        assert!(!lived.is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn many_lives_over_sockets() {
    for seed in seeds(0..1, 1) {
        let plan = Plan {
            seed,
            actions: 25,
            unit: Duration::from_millis(3),
            paused: false,
            restarts: 1,
            ..PLAN
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let lived = runtime.expect("a runtime").block_on(async {
            let world = World::new(plan, Memory::new());
            let road = sockets::Sockets::to(world.front()).await;
            world.live(road).await
        });
        assert!(!lived.is_empty());
    }
}
