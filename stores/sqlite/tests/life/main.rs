//! The life of many clients, see the test of this name in `portcullis-a2a`, over tasks and webhooks
//! in a file that one server after the other takes up.

#[path = "../../../../edges/a2a/tests/life/world/mod.rs"]
mod world;

use std::{
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use portcullis_a2a::{
    log::{Limits, Retention, TaskLog},
    server::push::PushStore,
};
use portcullis_sqlite::{Database, OpenError, SqliteLog, SqlitePushStore};
use tempfile::TempDir;
use tokio::runtime::Builder;

use world::{Counts, InProcess, Plan, Stores, World, is_repeated, seeds};

struct InFile(TempDir);

impl Stores for InFile {
    fn open(&self) -> (Arc<dyn TaskLog>, Arc<dyn PushStore>) {
        let database = self.database();
        let webhooks = SqlitePushStore::new(database.clone());
        let retention = Retention::count(usize::MAX);
        let log = SqliteLog::new(database, retention, Limits::default());
        (Arc::new(log.expect("the only one")), Arc::new(webhooks))
    }
}

impl InFile {
    /// Opens the file. What a server has left to write is written when its last handle goes.
    fn database(&self) -> Database {
        let began = Instant::now();
        loop {
            match Database::open(self.0.path().join("tasks.db")) {
                Err(OpenError::InUse { .. }) if began.elapsed() < Duration::from_secs(10) => {
                    thread::sleep(Duration::from_millis(1));
                }
                opened => return opened.expect("a file of ours"),
            }
        }
    }
}

// O-D04, A2A-OP-117, O-P04, O-P06.
#[test]
fn many_lives_with_servers_that_die() {
    let mut counts = Counts::new();
    for seed in seeds(0..2, 1) {
        let plan = Plan {
            seed,
            clients: 9,
            actions: 30,
            unit: Duration::from_millis(3),
            paused: false,
            restarts: 4,
        };
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build();
        let world = async {
            let world = World::new(plan, InFile(tempfile::tempdir().expect("a directory")));
            let road = InProcess(world.front());
            world.live(road).await
        };
        for (what, times) in runtime.expect("a runtime").block_on(world) {
            *counts.entry(what).or_default() += times;
        }
    }
    assert!(
        is_repeated() || counts.contains_key("watch: Cut"),
        "{counts:#?}"
    );
}
