use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::Barrier, task::JoinSet};

use super::{
    Fixture,
    fixture::Open,
    sample::{artifact, joining, key, moved, opened},
};
use crate::{
    log::{Batch, Limits, Retention, Seq, TaskLog},
    model::TaskState,
};

/// How long the appends of a run took.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Load {
    /// Of each append, the quickest first.
    pub appends: Vec<Duration>,
    /// From the first append to the end of the last watcher.
    pub elapsed: Duration,
}

impl Load {
    /// The time that `percent` of the appends stayed below.
    #[must_use]
    pub fn percentile(&self, percent: usize) -> Duration {
        let last = self.appends.len().saturating_sub(1);
        let index = (self.appends.len() * percent / 100).min(last);
        self.appends.get(index).copied().unwrap_or_default()
    }
}

/// A thousand streams of a hundred updates, all open at once, each with a watcher that
/// sees every update once and in order, and the end.
pub async fn a_thousand_streams(open: impl Fn(Retention, Limits) -> Fixture) {
    let fixture = open.fresh();
    streams(fixture.log(), 1_000, 100).await;
}

/// So many streams at once of so many artifact updates each, every one with a watcher.
/// Checks what the watchers see, and tells how long the appends took.
///
/// # Panics
/// When a watcher misses something.
pub async fn streams(log: &Arc<dyn TaskLog>, streams: usize, updates: u64) -> Load {
    let all_open = Arc::new(Barrier::new(2 * streams));
    let mut writers = JoinSet::new();
    let mut watchers = JoinSet::new();
    let start = Instant::now();
    for number in 0..streams {
        let id = format!("t-{number}");
        writers.spawn(write(
            Arc::clone(log),
            id.clone(),
            updates,
            Arc::clone(&all_open),
        ));
        watchers.spawn(watch(Arc::clone(log), id, updates, Arc::clone(&all_open)));
    }
    let mut appends: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    watchers.join_all().await;
    let elapsed = start.elapsed();
    appends.sort_unstable();
    assert_eq!(log.bells(), 0, "every watcher has left");
    Load { appends, elapsed }
}

async fn write(
    log: Arc<dyn TaskLog>,
    id: String,
    updates: u64,
    all_open: Arc<Barrier>,
) -> Vec<Duration> {
    let key = key(&id);
    let mut seq = Seq::ZERO;
    let mut times = Vec::new();
    let mut append = async |update| {
        let start = Instant::now();
        let batch = Batch::new(key.clone(), seq).with(update);
        seq = log.append(batch).await.expect("nobody else writes");
        times.push(start.elapsed());
    };
    append(opened(&id)).await;
    append(artifact(&id, "a", "0 ")).await;
    all_open.wait().await;
    for number in 1..updates {
        append(joining(&id, "a", &format!("{number} "))).await;
        tokio::task::yield_now().await;
    }
    append(moved(&id, TaskState::Completed, 1)).await;
    times
}

async fn watch(log: Arc<dyn TaskLog>, id: String, updates: u64, all_open: Arc<Barrier>) {
    let key = key(&id);
    let mut bell = log.bell(&key);
    all_open.wait().await;
    let mut seen = Seq::ZERO;
    loop {
        let records = log.read(&key, seen, 64).await.expect("the log can be read");
        let records = records.expect("the task is there");
        for record in &records {
            assert_eq!(record.seq(), seen.plus(1), "{id}: a gap, or twice");
            seen = record.seq();
        }
        if records.last().and_then(|last| last.state()) == Some(TaskState::Completed) {
            break;
        }
        if records.is_empty() {
            bell.rung().await;
        }
    }
    assert_eq!(seen, Seq::new(updates + 2));
    let snapshot = log.snapshot(&key).await.expect("the log can be read");
    let task = snapshot.expect("the task is there").into_task();
    assert_eq!(task.status.state, TaskState::Completed);
    assert_eq!(task.artifacts[0].parts.len(), 1, "the text has joined");
    let text: String = (0..updates).map(|number| format!("{number} ")).collect();
    assert_eq!(task.artifacts[0].parts[0].as_text(), Some(&*text));
}
