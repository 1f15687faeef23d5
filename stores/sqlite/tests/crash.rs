//! What was acknowledged is there after the process was killed (rulings, "Durability").
//!
//! A child with 64 writers says on a pipe what was acknowledged, and is killed at a random
//! instant. The parent opens the file and looks. `PORTCULLIS_CRASH_ROUNDS` says how often.
#![cfg(feature = "a2a")]

use std::{
    collections::HashMap,
    env,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant, SystemTime},
};

use portcullis_a2a::{
    log::{
        Batch, Chunk, Holder, Limits, ListQuery, Owner, Record, Retention, Seq, TaskKey, TaskLog,
        Update,
    },
    model::{
        AgentCard, AgentInterface, Artifact, Message, Part, Task, TaskArtifactUpdateEvent,
        TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
    },
    server::{Server, executor_fn},
};
use portcullis_sqlite::{Database, OpenError, SqliteLog};
use tokio::task::JoinSet;

const WRITERS: u64 = 64;
const CHILD: &str = "PORTCULLIS_CRASH_CHILD";
const ROUNDS: &str = "PORTCULLIS_CRASH_ROUNDS";
const NAME: &str = "PORTCULLIS_CRASH_NAME";
const ACK: &str = "ack ";

fn open(file: &Path) -> Result<SqliteLog, OpenError> {
    let retention = Retention::count(usize::MAX);
    SqliteLog::new(Database::open(file)?, retention, Limits::default())
}

fn key(id: &str) -> TaskKey {
    TaskKey::new(Owner::ANONYMOUS, id)
}

fn status(state: TaskState) -> TaskStatus {
    TaskStatus::new(state, Timestamp::now())
}

fn moved(id: &str, state: TaskState) -> Update {
    TaskStatusUpdateEvent::new(id, "c-1", status(state)).into()
}

/// The update with this number: what it is follows from the number alone.
fn update(id: &str, seq: u64) -> Update {
    match seq {
        1 => {
            let mut task = Task::new(id, "c-1", status(TaskState::Submitted));
            let mut message = Message::user("m-1", [Part::text("work")]);
            message.task_id = id.to_owned();
            message.context_id = "c-1".to_owned();
            task.history.push(message);
            task.into()
        }
        2 => moved(id, TaskState::Working),
        LAST => moved(id, TaskState::Completed),
        _ => {
            let artifact = Artifact::text("a-1", format!("{id} {seq}"));
            let mut event = TaskArtifactUpdateEvent::new(id, "c-1", artifact);
            event.append = seq > 3;
            Update::Artifact(Chunk::new(event))
        }
    }
}

const LAST: u64 = 12;

/// Not a test of its own: the process that is killed.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Some(file) = env::var_os(CHILD) else {
        return;
    };
    let log: Arc<dyn TaskLog> = Arc::new(open(Path::new(&file)).unwrap());
    let name = env::var(NAME).unwrap();
    let holder = Holder::new(&*name);
    let until = SystemTime::now() + Duration::from_secs(3_600);
    log.renew(&holder, until).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let (log, holder, name) = (Arc::clone(&log), holder.clone(), name.clone());
        writers.spawn(async move {
            for number in 0.. {
                let id = format!("{name}-{writer}-{number}");
                let mut seq = 0;
                while seq < LAST {
                    // Some of the batches are of several updates.
                    let size = (1 + (writer + number + seq) % 4).min(LAST - seq);
                    let updates = (seq + 1..=seq + size).map(|seq| update(&id, seq)).collect();
                    let batch = Batch::of(key(&id), Seq::new(seq), updates).held_by(holder.clone());
                    seq = log.append(batch).await.unwrap().number();
                    // One write, so that a line is there or is not.
                    let line = format!("{ACK}{id} {seq}\n");
                    io::stdout().lock().write_all(line.as_bytes()).unwrap();
                }
            }
        });
    }
    writers.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_acknowledged_update_survives_a_kill() {
    let rounds: u64 = match env::var(ROUNDS) {
        Ok(rounds) => rounds.parse().expect("a number of rounds"),
        Err(_) => 50,
    };
    let mut random = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .unwrap()
        .subsec_nanos();
    let mut below = |bound: u32| {
        // Xorshift; the seed is in what a failure prints.
        random ^= random << 13;
        random ^= random >> 17;
        random ^= random << 5;
        random % bound
    };
    let (mut acknowledged_in_all, mut taken_up_in_all) = (0, 0);
    let mut directory = tempfile::tempdir().unwrap();
    for round in 0..rounds {
        if round % 20 == 0 {
            directory = tempfile::tempdir().unwrap();
        }
        let file = directory.path().join("tasks.db");
        // Sometimes it has hardly begun, sometimes thousands of updates are there.
        let lines = below(if round % 4 == 0 { 40 } else { 1_500 });
        let micros = u64::from(below(4_000));
        let acknowledged = killed(&file, round, lines, Duration::from_micros(micros));
        acknowledged_in_all += acknowledged.len();

        let log = Arc::new(open(&file).unwrap());
        for (id, seq) in &acknowledged {
            let records = log.read(&key(id), Seq::ZERO, usize::MAX).await.unwrap();
            let records = records.unwrap_or_else(|| panic!("round {round}: {id} is gone"));
            assert!(
                records.len() as u64 >= *seq,
                "round {round}: {id} ends at {} of {seq}",
                records.len()
            );
            assert_whole(id, &records);
        }
        taken_up_in_all += recover(&log, round).await;
    }
    assert!(acknowledged_in_all > 0, "no task was ever acknowledged");
    assert!(taken_up_in_all > 0, "no task was ever left behind");
}

/// Lets a child write, kills it, and tells how far each task was acknowledged.
fn killed(file: &Path, round: u64, lines: u32, then: Duration) -> HashMap<String, u64> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, file)
        .env(NAME, format!("r{round}"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut acknowledged = HashMap::new();
    let mut take = |line: &str| {
        // The name of the test stands before the first one.
        let Some((_, ack)) = line.split_once(ACK) else {
            return false;
        };
        let (id, seq) = ack.split_once(' ').unwrap();
        let seq: u64 = seq.parse().unwrap();
        let last = acknowledged.entry(id.to_owned()).or_default();
        assert!(seq > *last, "{id}: {seq} after {last}");
        *last = seq;
        true
    };
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    while seen < lines {
        let line = output.next().expect("the child writes until it is killed");
        seen += u32::from(take(&line.unwrap()));
    }
    // Away from the moment of an acknowledgement.
    let start = Instant::now();
    while start.elapsed() < then {
        std::hint::spin_loop();
    }
    child.kill().unwrap();
    for line in output {
        let line = line.unwrap();
        take(&line);
    }
    child.wait().unwrap();
    acknowledged
}

/// From 1 without a gap, each the update that its number says.
fn assert_whole(id: &str, records: &[Record]) {
    for (index, record) in records.iter().enumerate() {
        let seq = index as u64 + 1;
        assert_eq!(record.seq(), Seq::new(seq), "{id}: a gap");
        match (record.update().unwrap(), update(id, seq)) {
            (Update::Opened(found), Update::Opened(_)) => assert_eq!(found.id, id),
            (Update::Status(found), Update::Status(put)) => {
                assert_eq!(found.status.state, put.status.state);
            }
            (found, put) => assert_eq!(found, put),
        }
    }
}

/// A server starts over the file: no task stays as the last one left it. Answers how many it
/// took up.
async fn recover(log: &Arc<SqliteLog>, round: u64) -> usize {
    let works = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Working)).await;
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let card = AgentCard::new("n", "d", AgentInterface::json_rpc("http://[::1]/"));
    let server = Server::builder(works, card).log(log.clone()).build();
    let left = in_state(log, TaskState::Submitted).await + in_state(log, TaskState::Working).await;
    let taken_up = server.recover().await.unwrap();
    // All of them, and by the time that it says so.
    assert_eq!(taken_up, left, "round {round}");
    // Those of which nobody had seen anything run again.
    let settled = async {
        for state in [TaskState::Submitted, TaskState::Working] {
            while in_state(log, state).await > 0 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        }
    };
    if tokio::time::timeout(PATIENCE, settled).await.is_err() {
        panic!("round {round}: tasks stay SUBMITTED or WORKING");
    }
    drop(server);
    // The file is free for the next child when the server's last turn has let go of it.
    let freed = async {
        while Arc::strong_count(log) > 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    let freed = tokio::time::timeout(PATIENCE, freed).await;
    freed.unwrap_or_else(|_| panic!("round {round}: the server keeps its log"));
    taken_up
}

async fn in_state(log: &SqliteLog, state: TaskState) -> usize {
    let query = ListQuery::new(Owner::ANONYMOUS, 1).in_state(state);
    log.list(query).await.unwrap().total_size()
}

const PATIENCE: Duration = Duration::from_secs(30);
