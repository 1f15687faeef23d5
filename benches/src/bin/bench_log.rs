//! What the task log costs: time of an append with a thousand streams open, CPU time of a
//! task, memory of a finished one.
//!
//! `bench_log WORD…` with the words `streams` and `memory` or `sqlite`, `task`, `live`, `finished`;
//! without any it runs all but the last one, which needs a process of its own.
#![expect(clippy::print_stdout, reason = "it is what the program is for")]

use std::{
    env, fs,
    sync::Arc,
    time::{Duration, Instant},
};

use portcullis_a2a::{
    log::{
        Batch, Limits, MemoryLog, Owner, Retention, Seq, TaskKey, TaskLog, Update,
        suite::{Load, streams},
    },
    model::{
        Artifact, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent, Timestamp,
    },
};
use portcullis_sqlite::SqliteLog;

#[tokio::main]
async fn main() {
    let wanted: Vec<String> = env::args().skip(1).collect();
    let wants = |name: &str| wanted.is_empty() || wanted.iter().any(|word| word == name);
    if wants("memory") && wants("streams") {
        report("memory", &streams(&memory(), 1_000, 100).await);
    }
    if wants("sqlite") && wants("streams") {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let log = SqliteLog::open(directory.path().join("tasks.db"));
        let log: Arc<dyn TaskLog> = Arc::new(log.expect("a fresh file"));
        report("sqlite", &streams(&log, 1_000, 100).await);
    }
    if wants("task") {
        tasks().await;
        chunks().await;
    }
    // One a process: what was freed is used again.
    if wants("live") {
        live_size().await;
    } else if wants("finished") {
        finished_size().await;
    }
}

fn memory() -> Arc<dyn TaskLog> {
    Arc::new(MemoryLog::new())
}

fn report(name: &str, load: &Load) {
    let rate = load.appends.len() as f64 / load.elapsed.as_secs_f64();
    println!(
        "{name}: 1,000 streams of 100 updates: append p50 {:?}, p99 {:?}, max {:?}; {rate:.0}/s; peak {} MB",
        load.percentile(50),
        load.percentile(99),
        load.percentile(100),
        status_line("VmHWM") / 1024,
    );
}

/// A task as the unary call of a server makes it: opened, working, one artifact, completed,
/// then read.
async fn tasks() {
    let log = memory();
    let rounds = 200_000_u32;
    let start = cpu();
    for number in 0..rounds {
        let id = format!("0190a5e8-0000-7000-8000-{number:012}");
        task(&log, &id).await;
        let key = TaskKey::new(Owner::ANONYMOUS, &*id);
        let snapshot = log.snapshot(&key).await.expect("in memory");
        std::hint::black_box(snapshot.expect("just made").into_task());
    }
    println!(
        "memory: a task of four updates in three batches, and its snapshot: {:?} of CPU",
        (cpu() - start) / rounds
    );
}

/// A hundred chunks, each appended by itself and read by a watcher.
async fn chunks() {
    let log = memory();
    let rounds = 2_000_u32;
    let start = cpu();
    for number in 0..rounds {
        let id = format!("0190a5e8-0000-7000-8000-{number:012}");
        let key = TaskKey::new(Owner::ANONYMOUS, &*id);
        let mut bell = log.bell(&key);
        let mut seq = append(&log, &key, Seq::ZERO, vec![opened(&id)]).await;
        for chunk in 0..100 {
            let update = artifact(&id, "word ", chunk > 0);
            let read = seq;
            seq = append(&log, &key, seq, vec![update]).await;
            bell.rung().await;
            let records = log.read(&key, read, 64).await.expect("in memory");
            std::hint::black_box(records);
        }
        append(&log, &key, seq, vec![moved(&id, TaskState::Completed)]).await;
    }
    println!(
        "memory: a task of 100 chunks, each appended, rung and read: {:?} of CPU",
        (cpu() - start) / rounds
    );
}

async fn live_size() {
    let log = memory();
    let before = status_line("VmRSS");
    for number in 0..10_000_u64 {
        let id = format!("0190a5e8-0000-7000-8000-{number:012}");
        let key = TaskKey::new(Owner::ANONYMOUS, &*id);
        let mut seq = append(&log, &key, Seq::ZERO, vec![opened(&id)]).await;
        for chunk in 0..10 {
            seq = append(&log, &key, seq, vec![artifact(&id, "word ", chunk > 0)]).await;
        }
    }
    let grown = status_line("VmRSS").saturating_sub(before) * 1024;
    println!(
        "memory: a live task after 10 chunks: {} bytes",
        grown / 10_000
    );
}

async fn finished_size() {
    let count = 100_000_u64;
    let log: Arc<dyn TaskLog> = Arc::new(MemoryLog::with(
        Retention::count(usize::MAX),
        Limits::default(),
    ));
    // What stays unpacked, and the first pages of everything, are not the task's.
    for number in 0..1_000 {
        task(&log, &format!("0190a5e8-0000-7000-8000-a{number:011}")).await;
    }
    let before = status_line("VmRSS");
    for number in 0..count {
        task(&log, &format!("0190a5e8-0000-7000-8000-{number:012}")).await;
    }
    let grown = (status_line("VmRSS") - before) * 1024;
    println!("memory: a finished task: {} bytes", grown / count);
}

async fn task(log: &Arc<dyn TaskLog>, id: &str) {
    let key = TaskKey::new(Owner::ANONYMOUS, id);
    let seq = append(log, &key, Seq::ZERO, vec![opened(id)]).await;
    let working = vec![moved(id, TaskState::Working)];
    let seq = append(log, &key, seq, working).await;
    let done = vec![
        artifact(id, "The answer is 42.", false),
        moved(id, TaskState::Completed),
    ];
    append(log, &key, seq, done).await;
}

async fn append(log: &Arc<dyn TaskLog>, key: &TaskKey, seq: Seq, updates: Vec<Update>) -> Seq {
    log.append(Batch::of(key.clone(), seq, updates))
        .await
        .expect("nobody else writes")
}

const CONTEXT: &str = "0190a5e8-ffff-7000-8000-000000000000";

fn opened(id: &str) -> Update {
    let mut message = Message::user(
        "0190a5e8-eeee-7000-8000-000000000000",
        [Part::text("hello")],
    );
    message.task_id = id.to_owned();
    message.context_id = CONTEXT.to_owned();
    let mut task = Task::new(id, CONTEXT, status(TaskState::Submitted));
    task.history.push(message);
    task.into()
}

fn moved(id: &str, state: TaskState) -> Update {
    TaskStatusUpdateEvent::new(id, CONTEXT, status(state)).into()
}

fn artifact(id: &str, text: &str, append: bool) -> Update {
    let artifact = Artifact::text("0190a5e8-dddd-7000-8000-000000000000", text);
    let mut event = TaskArtifactUpdateEvent::new(id, CONTEXT, artifact);
    event.append = append;
    event.into()
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus::new(state, Timestamp::now())
}

/// The CPU time of this thread, as far as the kernel tells; else the time.
fn cpu() -> Duration {
    let nanos = fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|text| text.split_whitespace().next()?.parse().ok());
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    match nanos {
        Some(nanos) => Duration::from_nanos(nanos),
        None => START.get_or_init(Instant::now).elapsed(),
    }
}

/// A line of `/proc/self/status`, in KiB.
fn status_line(name: &str) -> u64 {
    fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| {
            line.strip_prefix(name)?
                .trim_start_matches(':')
                .trim()
                .split(' ')
                .next()?
                .parse()
                .ok()
        })
        .unwrap_or_default()
}
