//! The log in memory keeps what every log keeps.
#![cfg(feature = "testing")]

use portcullis_a2a::{
    log::{
        Batch, Limits, MemoryLog, Owner, Record, Retention, Seq, Snapshot, TaskKey, TaskLog,
        Update, suite::Fixture,
    },
    model::{
        Artifact, Message, Part, Task, TaskArtifactUpdateEvent, TaskState, TaskStatus,
        TaskStatusUpdateEvent, Timestamp,
    },
    task_log_suite,
};

fn open(retention: Retention, limits: Limits) -> Fixture {
    Fixture::new(MemoryLog::with(retention, limits))
}

task_log_suite!(open);

/// A task that finished a while ago is kept in another form. Nobody sees a difference, also
/// where its ids are hard to write, or stand where they are not expected.
#[tokio::test]
async fn a_task_reads_the_same_long_after_its_end() {
    let log = MemoryLog::new();
    let ids = [
        ("t-1", "c-1"),
        ("t-1, said \"twice\"", "c\\1"),
        ("\u{1}", "\u{2}"),
        ("t-2", "t-2"),
        ("t-3", ""),
        ("\",\"contextId\":\"", "{\"task\":{\"id\":\""),
        ("\u{1f600}", "line\nbreak"),
    ];
    let mut before = Vec::new();
    for (id, context) in ids {
        let key = TaskKey::new(Owner::ANONYMOUS, id);
        let updates = updates(id, context);
        log.append(Batch::of(key.clone(), Seq::ZERO, updates))
            .await
            .unwrap();
        before.push(view(&log, &key).await);
    }
    // Enough others finish that these are not the latest any more.
    for number in 0..1_000 {
        let id = format!("other-{number}");
        let key = TaskKey::new(Owner::ANONYMOUS, &*id);
        log.append(Batch::of(key, Seq::ZERO, updates(&id, "c-1")))
            .await
            .unwrap();
    }
    for ((id, _), before) in ids.into_iter().zip(before) {
        let key = TaskKey::new(Owner::ANONYMOUS, id);
        assert_eq!(view(&log, &key).await, before, "{id:?}");
        let some = log.read(&key, Seq::new(2), 2).await.unwrap().unwrap();
        assert_eq!(some, before.1[2..4]);
    }
}

async fn view(log: &MemoryLog, key: &TaskKey) -> (Snapshot, Vec<Record>) {
    let snapshot = log.snapshot(key).await.unwrap().unwrap();
    let records = log.read(key, Seq::ZERO, 100).await.unwrap().unwrap();
    (snapshot, records)
}

fn updates(id: &str, context: &str) -> Vec<Update> {
    let status = |state| TaskStatus::new(state, Timestamp::from_unix_millis(1_780_000_000_123));
    let mut task = Task::new(id, context, status(TaskState::Submitted));
    let mut message = Message::user("m-1", [Part::text(id)]);
    message.task_id = id.to_owned();
    message.context_id = context.to_owned();
    task.history.push(message.clone());
    vec![
        task.into(),
        TaskStatusUpdateEvent::new(id, context, status(TaskState::Working)).into(),
        TaskArtifactUpdateEvent::new(id, context, Artifact::text("a-1", context)).into(),
        message.into(),
        // As an executor may get it wrong: the ids of another task.
        TaskArtifactUpdateEvent::new("t-1", "c-1", Artifact::text("a-2", "text")).into(),
        TaskStatusUpdateEvent::new(id, context, status(TaskState::Completed)).into(),
    ]
}
