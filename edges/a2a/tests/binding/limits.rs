//! Every limit of a server, over every binding: what is too much is refused in the right form, says
//! when to come again, tells nothing of others, and is allowed again as soon as there is room.

use std::{sync::Arc, time::Duration};

use futures_util::{StreamExt, future::join_all};
use portcullis::{Emitter, Json};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, CallError, Client, EventStream},
    model::{
        AgentCard, Artifact, CancelTaskRequest, Error, ErrorKind, GetTaskRequest, ListTasksRequest,
        Message, Part, SendMessageConfiguration, SendMessageRequest, SendMessageResponse,
        SubscribeToTaskRequest, Task, TaskPushNotificationConfig, TaskState,
    },
    server::{
        Emission, Limits, RequestContext, Server, executor_fn,
        push::{Deliver, Delivery, DeliveryFuture, Outcome, Push},
    },
};
use tokio::sync::Semaphore;

use crate::both::As;

/// Who refuses whom, with little room.
struct Gate {
    server: Server,
    go: Arc<Semaphore>,
}

fn gate(change: impl FnOnce(&mut Limits)) -> Gate {
    let mut limits = Limits::default();
    // Not the default, and not a second of anything else.
    limits.retry_after = AFTER;
    change(&mut limits);
    let go = Arc::new(Semaphore::new(0));
    let gate = Arc::clone(&go);
    let executor = executor_fn(move |cx: RequestContext, out| {
        let gate = Arc::clone(&gate);
        async move { act(&cx, &out, &gate).await }
    });
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://h"));
    let server = Server::builder(executor, card)
        .limits(limits)
        .push(Push::new(Nowhere))
        .takes_messages_while_working()
        .build();
    Gate { server, go }
}

async fn act(cx: &RequestContext, out: &Emitter<Emission>, gate: &Semaphore) {
    let text = cx.message().text();
    match text.as_str() {
        "ask" => return out.emit(cx.status(TaskState::InputRequired)).await,
        "say" => return out.emit(cx.answer([Part::text("pong")])).await,
        "breach" => return out.emit(cx.answer([])).await,
        "late" => gate.acquire().await.expect("it is never closed").forget(),
        "panic" => panic!("as the test asked"),
        _ => {}
    }
    out.emit(cx.status(TaskState::Working)).await;
    match text.as_str() {
        "wait" => gate.acquire().await.expect("it is never closed").forget(),
        "late panic" => panic!("as the test asked"),
        "much" => {
            for number in 0.. {
                out.emit(Artifact::text(format!("a-{number}"), "x")).await;
                tokio::task::yield_now().await;
            }
        }
        _ => {}
    }
    out.emit(cx.status(TaskState::Completed)).await;
}

const AFTER: Duration = Duration::from_secs(7);

struct Nowhere;

impl Deliver for Nowhere {
    fn deliver(&self, _: Delivery) -> DeliveryFuture {
        Box::pin(std::future::ready(Outcome::Delivered))
    }
}

impl Gate {
    fn client(&self, binding: Binding, who: &str) -> Client<As> {
        let url = match binding {
            Binding::Rest => "http://h/rest",
            _ => "http://h/",
        };
        let service = As::new(OnePort::new(self.server.clone()), Some(who));
        Client::over(binding, service, url.parse().expect("an address"))
    }
}

fn say(text: &str) -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text(text)]))
}

fn at_once(text: &str) -> SendMessageRequest {
    say(text).with_configuration(SendMessageConfiguration::new().returning_immediately())
}

fn to(task: &str, text: &str) -> SendMessageRequest {
    let mut request = at_once(text);
    task.clone_into(&mut request.message.task_id);
    request
}

async fn task(client: &Client<As>, request: &SendMessageRequest) -> Result<Task, CallError> {
    match client.send_message(request).await? {
        SendMessageResponse::Task(task) => Ok(task),
        other => panic!("no task: {other:?}"),
    }
}

fn refusal<T>(answer: Result<T, CallError>) -> Error {
    let Err(error) = answer else {
        panic!("it should be refused");
    };
    let refusal = error.as_refusal();
    refusal.unwrap_or_else(|| panic!("{error:?}")).clone()
}

/// A refusal for load: of this kind, with this text and nothing else, and when to come again
/// (A2A-SEC-14, A2A-SEC-17).
fn for_load<T>(answer: Result<T, CallError>, kind: ErrorKind, message: &str) {
    let refusal = refusal(answer);
    assert_eq!((refusal.kind(), refusal.message()), (kind, message));
    assert_eq!(refusal.after(), Some(AFTER));
    assert_eq!(refusal.metadata().count(), 0);
}

async fn watch(client: &Client<As>, task: &Task) -> Result<EventStream, CallError> {
    let request = SubscribeToTaskRequest::new(&*task.id);
    let mut stream = client.subscribe_to_task(&request, None).await?;
    stream.next().await.expect("the task")?;
    Ok(stream)
}

async fn stream(client: &Client<As>, text: &str) -> Result<EventStream, CallError> {
    let mut stream = client.send_streaming_message(&say(text)).await?;
    stream.next().await.expect("the task")?;
    Ok(stream)
}

/// Both ways to open a stream.
async fn no_more_streams(client: &Client<As>, task: &Task, kind: ErrorKind, message: &str) {
    for_load(stream(client, "wait").await, kind, message);
    for_load(watch(client, task).await, kind, message);
}

#[tokio::test]
async fn streams_of_an_owner() {
    const MINE: &str = "Too many streams of yours are open";
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.owner_streams = 2);
        let (me, you) = (gate.client(binding, "me"), gate.client(binding, "you"));
        let first = stream(&me, "wait").await.expect("the first");
        let running = me.list_tasks(&ListTasksRequest::new()).await.unwrap();
        let running = running.tasks[0].clone();
        let second = watch(&me, &running).await.expect("the second");
        no_more_streams(&me, &running, ErrorKind::ResourceExhausted, MINE).await;
        // Nothing was begun for what was refused.
        let tasks = me.list_tasks(&ListTasksRequest::new()).await.unwrap();
        assert_eq!(tasks.total_size, 1, "{binding}");
        // Nobody else notices, and what is somebody else's is not there, room or not.
        drop(stream(&you, "wait").await.expect("room for others"));
        let not_there = refusal(watch(&you, &running).await);
        assert_eq!(not_there.kind(), ErrorKind::TaskNotFound);
        // A caller that leaves makes room.
        drop(second);
        let second = watch(&me, &running).await.expect("room again");
        no_more_streams(&me, &running, ErrorKind::ResourceExhausted, MINE).await;
        // So does an end, though the response is still held.
        gate.go.add_permits(2);
        let mut held = Vec::new();
        for mut stream in [first, second] {
            while let Some(event) = stream.next().await {
                event.expect("an event");
            }
            held.push(stream);
        }
        for text in ["wait", "wait"] {
            held.push(stream(&me, text).await.expect("room after the end"));
        }
        drop(held);
    }
}

#[tokio::test]
async fn streams_of_all() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| {
            limits.open_streams = 2;
            limits.owner_streams = 1;
        });
        let clients = ["a", "b", "c"].map(|who| gate.client(binding, who));
        let first = stream(&clients[0], "wait").await.expect("the first");
        let second = stream(&clients[1], "wait").await.expect("the second");
        let mine = task(&clients[2], &at_once("wait"))
            .await
            .expect("no stream");
        let message = "Too many streams are open";
        no_more_streams(&clients[2], &mine, ErrorKind::Unavailable, message).await;
        // Whoever has too many hears no word of others.
        for_load(
            stream(&clients[0], "wait").await,
            ErrorKind::ResourceExhausted,
            "Too many streams of yours are open",
        );
        drop(first);
        let third = watch(&clients[2], &mine).await.expect("room again");
        drop((second, third));
    }
}

// However a stream ends, or never becomes one, its place is free again.
#[tokio::test]
async fn streams_give_their_place_back() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.owner_streams = 1);
        let me = gate.client(binding, "me");
        for text in ["say", "breach", "panic", "late panic", "ask", "done"] {
            if let Ok(mut stream) = me.send_streaming_message(&say(text)).await {
                while let Some(Ok(_)) = stream.next().await {}
            }
        }
        let running = task(&me, &at_once("wait")).await.expect("a task");
        let watching = watch(&me, &running).await.expect("room");
        let canceled = me.cancel_task(&CancelTaskRequest::new(&*running.id)).await;
        canceled.expect("canceled");
        watching
            .for_each(async |event| drop(event.expect("an event")))
            .await;
        let last = stream(&me, "wait").await.expect("room");
        gate.server.shut_down(Duration::ZERO).await;
        last.for_each(async |_| {}).await;
        let waits = task(&me, &at_once("ask")).await;
        for_load(waits, ErrorKind::Unavailable, "The server is shutting down");
    }
}

#[tokio::test]
async fn turns_that_run() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.running_turns = 1);
        let me = gate.client(binding, "me");
        let running = task(&me, &at_once("wait")).await.expect("the first");
        let message = "Too many tasks are running";
        for client in [&me, &gate.client(binding, "you")] {
            for text in ["ask", "say"] {
                for_load(
                    task(client, &say(text)).await,
                    ErrorKind::Unavailable,
                    message,
                );
                for_load(stream(client, text).await, ErrorKind::Unavailable, message);
            }
        }
        let canceled = me.cancel_task(&CancelTaskRequest::new(&*running.id)).await;
        canceled.expect("canceled");
        for text in ["panic", "breach", "late panic", "done"] {
            drop(me.send_message(&say(text)).await);
        }
        task(&me, &say("ask")).await.expect("room again");
    }
}

#[tokio::test]
async fn unfinished_tasks_of_an_owner() {
    const MINE: &str = "Too many tasks of yours are not finished";
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.owner_tasks = 2);
        let (me, you) = (gate.client(binding, "me"), gate.client(binding, "you"));
        let waiting = task(&me, &at_once("wait")).await.expect("the first");
        // What leaves no unfinished task takes no room.
        for text in ["say", "breach", "panic", "late panic", "done"] {
            drop(me.send_message(&say(text)).await);
        }
        task(&me, &say("ask")).await.expect("the second");
        for_load(
            task(&me, &say("ask")).await,
            ErrorKind::ResourceExhausted,
            MINE,
        );
        for_load(stream(&me, "say").await, ErrorKind::ResourceExhausted, MINE);
        task(&you, &say("ask")).await.expect("room for others");
        // The tasks that are there go on, and make room when they end.
        gate.go.add_permits(1);
        loop {
            let read = me.get_task(&GetTaskRequest::new(&*waiting.id)).await;
            if read.expect("a task").status.state.is_terminal() {
                break;
            }
            tokio::task::yield_now().await;
        }
        task(&me, &say("ask")).await.expect("room again");
    }
}

#[tokio::test]
async fn unfinished_tasks_of_a_context() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.context_tasks = 1);
        let (me, you) = (gate.client(binding, "me"), gate.client(binding, "you"));
        let ask_in = |context: &str| {
            let mut request = say("ask");
            context.clone_into(&mut request.message.context_id);
            request
        };
        let waiting = task(&me, &ask_in("c-1")).await.expect("the first");
        let message = "Too many tasks of this context are not finished";
        for_load(
            task(&me, &ask_in("c-1")).await,
            ErrorKind::ResourceExhausted,
            message,
        );
        task(&me, &ask_in("c-2")).await.expect("another context");
        task(&me, &say("ask")).await.expect("a new context");
        // The same name is another context for another owner (ruling 18).
        task(&you, &ask_in("c-1")).await.expect("room for others");
        let canceled = me.cancel_task(&CancelTaskRequest::new(&*waiting.id)).await;
        canceled.expect("canceled");
        task(&me, &ask_in("c-1")).await.expect("room again");
    }
}

// As many at once as there is room for, and not one more, though none is in the log yet.
#[tokio::test]
async fn tasks_that_come_at_once_are_counted() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| {
            limits.owner_tasks = 5;
            limits.context_tasks = 3;
        });
        let me = gate.client(binding, "me");
        let all = async |context: &str| {
            let mut request = say("late");
            context.clone_into(&mut request.message.context_id);
            let go = async {
                for _ in 0..500 {
                    tokio::task::yield_now().await;
                }
                gate.go.add_permits(20);
            };
            let sends = join_all((0..20).map(|_| me.send_message(&request)));
            let (answers, ()) = futures_util::join!(sends, go);
            gate.go.forget_permits(20);
            answers.into_iter().filter(Result::is_ok).count()
        };
        assert_eq!(all("").await, 5, "{binding}");
        assert_eq!(all("c-1").await, 3, "{binding}");
        assert_eq!(all("").await, 5, "{binding}: what is over makes room");
    }
}

#[tokio::test]
async fn updates_of_a_task() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.task_updates = 20);
        let me = gate.client(binding, "me");
        let failed = task(&me, &say("much")).await.expect("a task that failed");
        assert_eq!(failed.status.state, TaskState::Failed, "{binding}");
        let says = failed.status.message.expect("why").text();
        assert_eq!(says, "The task has become too long.");
        // The task, WORKING, as many artifacts as there was room for, and the end.
        assert!((1..=18).contains(&failed.artifacts.len()));
    }
}

#[tokio::test]
async fn messages_that_wait() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.waiting_messages = 2);
        let me = gate.client(binding, "me");
        let running = task(&me, &at_once("wait")).await.expect("a task");
        for _ in 0..2 {
            let taken = task(&me, &to(&running.id, "more")).await;
            taken.expect("a message that waits");
        }
        let refusal = refusal(task(&me, &to(&running.id, "more")).await);
        assert_eq!(refusal.kind(), ErrorKind::ResourceExhausted);
        assert_eq!(refusal.message(), "Too many messages wait for the task");
        assert_eq!(refusal.after(), Some(AFTER));
        gate.server.shut_down(Duration::ZERO).await;
    }
}

#[tokio::test]
async fn a_shutdown() {
    for &binding in Binding::ALL {
        let gate = gate(|_| {});
        let me = gate.client(binding, "me");
        let waiting = task(&me, &say("ask")).await.expect("a task");
        gate.server.shut_down(Duration::ZERO).await;
        let message = "The server is shutting down";
        for request in [say("ask"), to(&waiting.id, "more")] {
            for_load(task(&me, &request).await, ErrorKind::Unavailable, message);
            for_load(
                me.send_streaming_message(&request).await,
                ErrorKind::Unavailable,
                message,
            );
        }
    }
}

// O-P11: no load, so no word of another time.
#[tokio::test]
async fn webhooks() {
    let hook = |task: &Task| TaskPushNotificationConfig::new(&*task.id, "https://h.example.net/a");
    for &binding in Binding::ALL {
        for in_all in [false, true] {
            let gate = gate(|limits| {
                let push = &mut limits.push;
                *(if in_all {
                    &mut push.total
                } else {
                    &mut push.per_task
                }) = 1;
            });
            let me = gate.client(binding, "me");
            let one = task(&me, &at_once("wait")).await.expect("a task");
            me.create_push_config(&hook(&one)).await.expect("the first");
            let refusal = refusal(me.create_push_config(&hook(&one)).await);
            assert_eq!(refusal.kind(), ErrorKind::InvalidParams, "{binding}");
            assert_eq!(refusal.after(), None);
            let other = task(&me, &at_once("wait")).await.expect("a task");
            let created = me.create_push_config(&hook(&other)).await;
            assert_eq!(created.is_ok(), !in_all, "{binding}");
        }
    }
}

// A2A-SEC-11, O-M04.
#[tokio::test]
async fn bodies() {
    for &binding in Binding::ALL {
        let gate = gate(|limits| limits.body_bytes = 10_000);
        let me = gate.client(binding, "me");
        let answer = me.send_message(&say(&"x".repeat(11_000))).await;
        let refusal = refusal(answer);
        let kind = match binding {
            Binding::Grpc => ErrorKind::ResourceExhausted,
            _ => ErrorKind::InvalidRequest,
        };
        assert_eq!(refusal.kind(), kind, "{binding}: {refusal}");
        assert_eq!(refusal.after(), None, "it will never fit");
        me.send_message(&say(&"x".repeat(9_000)))
            .await
            .expect("it fits");
    }
}

// A2A-SEC-11, A2A-DATA-24.
#[tokio::test]
async fn pieces_of_a_request() {
    let json = |text: String| Json::from_text(text).expect("JSON");
    let deep = json(format!("{}1{}", "[".repeat(30), "]".repeat(30)));
    let with = |change: &dyn Fn(&mut Message)| {
        let mut request = say("done");
        change(&mut request.message);
        request
    };
    let requests = [
        with(&|message| message.parts = vec![Part::text("x"); 4]),
        with(&|message| message.parts = vec![Part::data(deep.clone())]),
        with(&|message| message.message_id = "m".repeat(65)),
        with(&|message| message.reference_task_ids = vec!["t".to_owned(); 4]),
        with(&|message| {
            let long = json(format!("{:?}", "x".repeat(2_000)));
            message.metadata.insert("text", long);
        }),
    ];
    for &binding in Binding::ALL {
        let gate = gate(|limits| {
            let bounds = &mut limits.bounds;
            (bounds.items, bounds.depth, bounds.id_bytes) = (3, 20, 64);
            (bounds.metadata_bytes, bounds.page_token_bytes) = (1_000, 100);
        });
        let me = gate.client(binding, "me");
        for request in &requests {
            let refusal = refusal(me.send_message(request).await);
            let kind = refusal.kind();
            assert!(
                matches!(kind, ErrorKind::InvalidParams | ErrorKind::Parse),
                "{binding}: {kind:?} {request:?}"
            );
            assert_eq!(refusal.after(), None);
        }
        let mut list = ListTasksRequest::new();
        list.page_token = "x".repeat(101);
        let refusal = refusal(me.list_tasks(&list).await);
        assert_eq!(refusal.kind(), ErrorKind::InvalidParams, "{binding}");
        assert_eq!(refusal.violations()[0].field(), "pageToken");
    }
}
