//! A log that fails, and tasks whose process is gone (O-L15, O-B14, A2A-OP-117).

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use futures_util::StreamExt;
use portcullis::Principal;
use portcullis_a2a::{
    log::{
        AppendError, Batch, Bell, Holder, Limits as LogLimits, ListPage, ListQuery, MemoryLog,
        Orphan, Owner, Record, Reply, Retention, Seq, Snapshot, TaskKey, TaskLog, Unavailable,
    },
    model::{ErrorKind, Message, Part, Task, TaskState, TaskStatus, TaskStatusUpdateEvent},
    server::{Caller, RandomIds, Server, executor_fn},
};
use serde_json::json;

use crate::support::{
    Alive, call, call_as, card, echo, follow_up, next, open_stream, refused, scripted, send,
    server_of, state_of, states,
};

/// A log that can be made to fail.
pub(crate) struct Flaky {
    inner: MemoryLog,
    appends_fail: AtomicBool,
    reads_fail: AtomicBool,
    /// Appends take a second.
    appends_are_slow: AtomicBool,
    /// Every so many appends fail; 0 for none.
    every: AtomicUsize,
    count: AtomicUsize,
}

impl Flaky {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            inner: MemoryLog::new(),
            appends_fail: AtomicBool::new(false),
            reads_fail: AtomicBool::new(false),
            appends_are_slow: AtomicBool::new(false),
            every: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
        })
    }

    pub(crate) fn slow_down(&self, yes: bool) {
        self.appends_are_slow.store(yes, Ordering::SeqCst);
    }

    fn fail_appends(&self, yes: bool) {
        self.appends_fail.store(yes, Ordering::SeqCst);
    }
}

fn broken() -> Unavailable {
    Unavailable::new("password=x host=db")
}

impl TaskLog for Flaky {
    fn append(&self, batch: Batch) -> Reply<Result<Seq, AppendError>> {
        let count = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        let every = self.every.load(Ordering::SeqCst);
        if self.appends_fail.load(Ordering::SeqCst) || (every > 0 && count.is_multiple_of(every)) {
            return Reply::ready(Err(broken().into()));
        }
        if self.appends_are_slow.load(Ordering::SeqCst) {
            let log = self.inner.clone();
            return Reply::later(async move {
                tokio::time::sleep(Duration::from_secs(1)).await;
                log.append(batch).await
            });
        }
        self.inner.append(batch)
    }

    fn read(
        &self,
        key: &TaskKey,
        after: Seq,
        limit: usize,
    ) -> Reply<Result<Option<Vec<Record>>, Unavailable>> {
        if self.reads_fail.load(Ordering::SeqCst) {
            return Reply::ready(Err(broken()));
        }
        self.inner.read(key, after, limit)
    }

    fn snapshot(&self, key: &TaskKey) -> Reply<Result<Option<Snapshot>, Unavailable>> {
        self.inner.snapshot(key)
    }

    fn list(&self, query: ListQuery) -> Reply<Result<ListPage, Unavailable>> {
        if self.reads_fail.load(Ordering::SeqCst) {
            return Reply::ready(Err(broken()));
        }
        self.inner.list(query)
    }

    fn bell(&self, key: &TaskKey) -> Bell {
        self.inner.bell(key)
    }

    fn bells(&self) -> usize {
        self.inner.bells()
    }

    fn renew(&self, holder: &Holder, until: SystemTime) -> Reply<Result<(), Unavailable>> {
        self.inner.renew(holder, until)
    }

    fn orphans(
        &self,
        holder: &Holder,
        now: SystemTime,
        limit: usize,
    ) -> Reply<Result<Vec<Orphan>, Unavailable>> {
        self.inner.orphans(holder, now, limit)
    }

    fn retain(&self, now: SystemTime) -> Reply<Result<usize, Unavailable>> {
        self.inner.retain(now)
    }
}

fn server_over(log: Arc<dyn TaskLog>) -> Server {
    server_of(Server::builder(executor_fn(scripted), card()).log(log))
}

// O-B14: the first append fails: an error of the call, which tells nothing (O-A03).
#[tokio::test(start_paused = true)]
async fn a_task_that_cannot_be_stored_is_an_error() {
    let log = Flaky::new();
    log.fail_appends(true);
    let server = server_over(log);
    for method in ["SendMessage", "SendStreamingMessage"] {
        let error = refused(&server, method, send("work complete")).await;
        assert_eq!(
            (error.kind(), error.message()),
            (ErrorKind::Internal, "Internal error")
        );
        assert_eq!(error.metadata().count(), 0);
        assert!(error.reference().is_some(), "it can be found in the log");
    }
    assert_eq!(call(&server, "ListTasks", json!({})).await["totalSize"], 0);
}

// O-L15: an append in the middle fails: the turn stops, and the task says so.
#[tokio::test(start_paused = true)]
async fn a_turn_whose_log_fails_ends_visibly() {
    let log = Flaky::new();
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx, out| {
        let life = lives.begin();
        async move {
            let _life = life;
            scripted(cx, out).await;
        }
    });
    let server = server_of(Server::builder(executor, card()).log(log.clone()));
    let mut frames = open_stream(
        &server,
        "SendStreamingMessage",
        send("work sleep work sleep complete"),
    )
    .await;
    next(&mut frames).await;
    next(&mut frames).await;
    log.every.store(1, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_millis(1_010)).await;
    assert_eq!(
        alive.count(),
        0,
        "it runs although nothing of it can be stored"
    );
    log.every.store(0, Ordering::SeqCst);
    let last = next(&mut frames).await.expect("a frame");
    assert_eq!(state_of(&last), "TASK_STATE_FAILED");
    assert!(frames.next().await.is_none());
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
}

// It stays broken: watchers hear of it at once, the task is failed when the log works again.
#[tokio::test(start_paused = true)]
async fn watchers_of_a_broken_log_are_told() {
    let log = Flaky::new();
    let server = server_over(log.clone());
    let mut frames =
        open_stream(&server, "SendStreamingMessage", send("work sleep complete")).await;
    next(&mut frames).await;
    next(&mut frames).await;
    log.fail_appends(true);
    let error = frames.next().await.expect("a word").expect_err("an error");
    assert_eq!(
        (error.kind(), error.message()),
        (ErrorKind::Internal, "Internal error")
    );
    assert!(frames.next().await.is_none());
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_WORKING");
    log.fail_appends(false);
    tokio::time::sleep(Duration::from_secs(60)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
}

// A turn that is over does nothing more while its end is being stored.
#[tokio::test(start_paused = true)]
async fn the_turn_is_gone_before_its_end_is_stored() {
    let log = Flaky::new();
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx, out| {
        let life = lives.begin();
        async move {
            let _life = life;
            scripted(cx, out).await;
        }
    });
    let server = server_of(Server::builder(executor, card()).log(log.clone()));
    let mut frames = open_stream(&server, "SendStreamingMessage", send("work hang")).await;
    next(&mut frames).await;
    next(&mut frames).await;
    log.appends_are_slow.store(true, Ordering::SeqCst);
    let cancel = tokio::time::timeout(
        Duration::from_millis(500),
        call(&server, "CancelTask", json!({"id": "t-1"})),
    );
    cancel.await.expect_err("its end is not stored yet");
    assert_eq!(alive.count(), 0);
    let last = next(&mut frames).await.expect("a frame");
    assert_eq!(state_of(&last), "TASK_STATE_CANCELED");
}

// EX-14b, ruling 17: the stream fails, the task goes on.
#[tokio::test(start_paused = true)]
async fn a_read_that_fails_ends_the_stream_and_not_the_task() {
    let log = Flaky::new();
    let server = server_over(log.clone());
    let mut frames =
        open_stream(&server, "SendStreamingMessage", send("work sleep complete")).await;
    next(&mut frames).await;
    next(&mut frames).await;
    log.reads_fail.store(true, Ordering::SeqCst);
    let error = frames.next().await.expect("a word").expect_err("an error");
    assert_eq!((error.code(), error.message()), (-32603, "Internal error"));
    assert!(frames.next().await.is_none());
    let error = refused(&server, "ListTasks", json!({})).await;
    assert!(
        !format!(
            "{} {:?}",
            error.message(),
            serde_json::to_string(&error.details())
        )
        .contains("password")
    );
    log.reads_fail.store(false, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(2)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
}

// O-L15: every tenth write fails; what a stream tells is what is stored.
#[tokio::test(start_paused = true)]
async fn the_store_never_lags_behind_the_stream() {
    let log = Flaky::new();
    log.every.store(10, Ordering::SeqCst);
    let server = server_of(Server::builder(executor_fn(echo), card()).log(log));
    let mut refused = 0;
    for _ in 0..300 {
        match call_as(&server, &Caller::new(), "SendStreamingMessage", &send("x")).await {
            Ok(frames) => {
                let last = frames.as_array().expect("frames").last().expect("frames");
                let id = frames[0]["task"]["id"].clone();
                let task = call(&server, "GetTask", json!({"id": id})).await;
                assert_eq!(state_of(last), state_of(&task));
                assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
            }
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Internal);
                refused += 1;
            }
        }
    }
    assert!(refused > 0);
}

// Ruling 17: a log that becomes too long fails its task.
#[tokio::test]
async fn a_log_that_is_too_long_fails_the_task() {
    let log = MemoryLog::with(Retention::default(), LogLimits::new(4, 1 << 20));
    let server = server_over(Arc::new(log));
    let task = call(
        &server,
        "SendMessage",
        send("work yield work yield work yield work yield work complete"),
    )
    .await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    let says = &task["task"]["status"]["message"]["parts"][0]["text"];
    assert_eq!(says, "The task has become too long.");
}

// Ruling 17: also where it is too long from the start, or from the first word of a later turn on:
// who sent the message reads what became of the task.
#[tokio::test]
async fn a_log_that_is_full_at_once_fails_the_task() {
    let server = |updates, bytes| {
        let limits = LogLimits::new(updates, bytes);
        server_over(Arc::new(MemoryLog::with(Retention::default(), limits)))
    };
    for (updates, bytes) in [(1, 1 << 20), (9, 100)] {
        for method in ["SendMessage", "SendStreamingMessage"] {
            let server = server(updates, bytes);
            let answer = call(&server, method, send("work artifact yield complete")).await;
            let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
            assert_eq!(state_of(&task), "TASK_STATE_FAILED");
            match answer.as_array() {
                Some(frames) => assert_eq!(states(frames), ["SUBMITTED", "FAILED"]),
                None => assert_eq!(answer["task"], task),
            }
            assert_eq!(task["history"].as_array().expect("history").len(), 1);
        }
        let server = server(updates, bytes);
        let mut params = send("work hang");
        params["configuration"] = json!({"returnImmediately": true});
        let answer = call(&server, "SendMessage", params).await;
        assert_eq!(answer["task"]["id"], "t-1");
        let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
        assert_eq!(state_of(&task), "TASK_STATE_FAILED");
    }

    // The task and its question; then the message; then no more.
    let server_of_three = server(3, 1 << 20);
    call(&server_of_three, "SendMessage", send("ask")).await;
    let follow = follow_up("t-1", "m-2", "work yield complete");
    let answer = call(&server_of_three, "SendMessage", follow).await;
    assert_eq!(state_of(&answer), "TASK_STATE_FAILED");
    let task = call(&server_of_three, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(answer["task"], task);
}

// There is no room for the message: it is refused, and nothing else happens to the task.
#[tokio::test]
async fn a_full_log_takes_no_message() {
    let log = MemoryLog::with(Retention::default(), LogLimits::new(2, 1 << 20));
    let server = server_over(Arc::new(log));
    let before = call(&server, "SendMessage", send("ask")).await;
    for method in ["SendMessage", "SendStreamingMessage"] {
        let error = refused(&server, method, follow_up("t-1", "m-2", "complete")).await;
        assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    }
    let after = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(before["task"], after);
    let task = call(&server, "CancelTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_CANCELED");
}

/// A task that another process has left.
async fn left_behind(log: &dyn TaskLog, id: &str, owner: &Owner, text: &str, worked: bool) {
    let key = TaskKey::new(owner.clone(), id);
    let status = |state| TaskStatus::new(state, "2026-01-15T09:00:00Z".parse().expect("a time"));
    let mut task = Task::new(id, "c", status(TaskState::Submitted));
    task.history = vec![Message::user("m-1", [Part::text(text)])];
    task.history[0].task_id = id.to_owned();
    task.history[0].context_id = "c".to_owned();
    let mut batch = Batch::new(key, Seq::ZERO)
        .with(task)
        .held_by(Holder::new("dead"));
    if worked {
        batch = batch.with(TaskStatusUpdateEvent::new(
            id,
            "c",
            status(TaskState::Working),
        ));
    }
    log.append(batch).await.expect("stored");
}

// Critique B7: untouched ones run again, others fail, none stays WORKING.
#[tokio::test(start_paused = true)]
async fn orphans_run_again_or_fail() {
    let log = Arc::new(MemoryLog::new());
    let principal = Principal::new("user", "https://issuer.example.com", "a");
    let owner = Owner::new(Some("acme"), Some(&principal));
    left_behind(&*log, "untouched", &owner, "work complete", false).await;
    left_behind(&*log, "worked", &owner, "work complete", true).await;
    let past = SystemTime::now() - Duration::from_secs(1);
    log.renew(&Holder::new("dead"), past)
        .await
        .expect("it lived once");
    let builder = Server::builder(executor_fn(scripted), card()).log(log.clone());
    let server = builder.ids(RandomIds::new()).build();
    assert_eq!(server.recover().await.expect("taken up"), 2);
    tokio::time::sleep(Duration::from_millis(10)).await;
    let caller = Caller::new()
        .with_principal(Some(principal))
        .in_tenant("acme");
    for (id, state) in [
        ("untouched", "TASK_STATE_COMPLETED"),
        ("worked", "TASK_STATE_FAILED"),
    ] {
        let task = call_as(&server, &caller, "GetTask", &json!({"id": id}))
            .await
            .expect("its owner's");
        assert_eq!(state_of(&task), state, "{id}");
        assert_eq!(task["history"].as_array().expect("history").len(), 1);
    }
    assert_eq!(server.recover().await.expect("nothing left"), 0);
}

// A task whose turn has ended with a question needs nobody: it outlives the process.
#[tokio::test(start_paused = true)]
async fn a_task_that_waits_for_its_caller_is_no_orphan() {
    let log = Arc::new(MemoryLog::new());
    let first = server_over(log.clone());
    call(&first, "SendMessage", send("auth")).await;
    call(&first, "SendMessage", send("ask")).await;
    drop(first);
    let second = Server::builder(executor_fn(scripted), card())
        .log(log.clone())
        .build();
    let later = SystemTime::now() + Duration::from_secs(3_600);
    let orphans = log.orphans(&Holder::new("second"), later, 9).await;
    assert_eq!(orphans.expect("it works"), []);
    for id in ["t-1", "t-2"] {
        let task = call(&second, "SendMessage", follow_up(id, "m-2", "complete")).await;
        assert_eq!(state_of(&task), "TASK_STATE_COMPLETED");
    }
}

// A process that was paused past its lease is fenced, and its turn is dropped.
#[tokio::test(start_paused = true)]
async fn a_turn_that_lost_its_task_is_dropped() {
    let log = Arc::new(MemoryLog::new());
    let server = server_over(log.clone());
    let mut frames = open_stream(
        &server,
        "SendStreamingMessage",
        send("work sleep work complete"),
    )
    .await;
    next(&mut frames).await;
    next(&mut frames).await;
    // Another process has failed it meanwhile.
    let key = TaskKey::new(Owner::ANONYMOUS, "t-1");
    let snapshot = log
        .snapshot(&key)
        .await
        .expect("it works")
        .expect("it is there");
    let status = TaskStatus::new(
        TaskState::Failed,
        "2026-01-16T00:00:00Z".parse().expect("a time"),
    );
    let batch =
        Batch::new(key, snapshot.seq()).with(TaskStatusUpdateEvent::new("t-1", "c-1", status));
    log.append(batch).await.expect("stored");
    let rest: Vec<_> = crate::support::collect(frames).await;
    assert_eq!(states(&rest), ["FAILED"]);
    tokio::time::sleep(Duration::from_secs(5)).await;
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(state_of(&task), "TASK_STATE_FAILED");
}

// Dropping the server drops its turns.
#[tokio::test]
async fn nothing_outlives_the_server() {
    let alive = Alive::default();
    let lives = alive.clone();
    let executor = executor_fn(move |cx, out| {
        let life = lives.begin();
        async move {
            let _life = life;
            scripted(cx, out).await;
        }
    });
    let server = server_of(Server::builder(executor, card()));
    let mut params = send("work hang");
    params["configuration"] = json!({"returnImmediately": true});
    call(&server, "SendMessage", params).await;
    assert_eq!(alive.count(), 1);
    drop(server);
    for _ in 0..10 {
        tokio::task::yield_now().await;
    }
    assert_eq!(alive.count(), 0);
}
