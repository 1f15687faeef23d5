//! What each operation promises, over every binding.

use futures_util::StreamExt;
use portcullis_a2a::{
    binding::{Grpc, Layout, OnePort},
    client::{Binding, CallError, Client, EventStream},
    model::{
        AgentCard, AgentSkill, CancelTaskRequest, ErrorKind, GetExtendedAgentCardRequest,
        GetTaskRequest, ListTasksRequest, ListTasksResponse, Message, Part,
        SendMessageConfiguration, SendMessageRequest, SendMessageResponse, StreamResponse,
        SubscribeToTaskRequest, Task, TaskState,
    },
    server::{Caller, Operation, Server, executor_fn},
};
use serde_json::{Value, json};

use crate::{
    both::{As, attempt, client, client_of, comparable, say, to, value},
    support::{Rig, Step, card, rig, rig_of},
};

fn texts(text: &str) -> Vec<Step> {
    let chunk =
        |text: usize| format!(r#"{{"artifactId": "a-1", "parts": [{{"text": "{text}"}}]}}"#);
    match text {
        "artifact" => vec![
            Step::working(),
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "hello"}]}"#),
            Step::completed(),
        ],
        "chunks" => [Step::working(), Step::artifact(&chunk(0))]
            .into_iter()
            .chain((1..50).map(|number| Step::append(&chunk(number), false)))
            .chain([Step::completed()])
            .collect(),
        "twice" => vec![
            Step::Status(TaskState::Working, "one"),
            Step::Status(TaskState::Working, "two"),
            Step::completed(),
        ],
        "ask" => vec![Step::input_required("what?")],
        "auth" => vec![
            Step::Status(
                TaskState::AuthRequired,
                "Sign in at https://id.example.com/",
            ),
            Step::wait(),
            Step::working(),
            Step::completed(),
        ],
        "hang" => vec![Step::working(), Step::wait(), Step::completed()],
        "say" => vec![Step::message("pong")],
        "panic" => vec![Step::working(), Step::panic()],
        "fail" => vec![Step::Status(TaskState::Failed, "no")],
        "reject" => vec![Step::Status(TaskState::Rejected, "no")],
        _ => vec![Step::completed()],
    }
}

fn everywhere(rig: &Rig) -> Vec<(Binding, Client<As>)> {
    let client = |&binding| (binding, client(rig, binding, None));
    Binding::ALL.iter().map(client).collect()
}

fn immediately(text: &str) -> SendMessageRequest {
    say(text).with_configuration(SendMessageConfiguration::new().returning_immediately())
}

async fn task(client: &Client<As>, request: &SendMessageRequest) -> Task {
    match client.send_message(request).await.unwrap() {
        SendMessageResponse::Task(task) => task,
        other => panic!("{other:?}"),
    }
}

async fn read(client: &Client<As>, id: &str) -> Task {
    client.get_task(&GetTaskRequest::new(id)).await.unwrap()
}

/// Reads a task until it is in this state.
async fn until(client: &Client<As>, id: &str, state: TaskState) -> Task {
    loop {
        let task = read(client, id).await;
        if task.status.state == state {
            return task;
        }
        tokio::task::yield_now().await;
    }
}

async fn next(events: &mut EventStream) -> StreamResponse {
    events
        .next()
        .await
        .expect("an event")
        .expect("an event")
        .response
}

/// The members of the events to the end of a stream, and the state that the last one tells.
async fn to_the_end(events: EventStream) -> (Vec<String>, TaskState) {
    let mut state = TaskState::Unknown;
    let mut members = Vec::new();
    for event in events.collect::<Vec<_>>().await {
        let event = event.expect("an event").response;
        let status = match &event {
            StreamResponse::Task(task) => Some(&task.status),
            StreamResponse::StatusUpdate(update) => Some(&update.status),
            _ => None,
        };
        state = status.map_or(state, |status| status.state);
        let object = value(event);
        members.extend(object.as_object().unwrap().keys().cloned());
    }
    (members, state)
}

fn kind(error: &CallError) -> ErrorKind {
    let refusal = error.as_refusal();
    refusal.unwrap_or_else(|| panic!("{error:?}")).kind()
}

// A2A-OP-13, A2A-OP-15, A2A-OP-22, A2A-OP-43: ids are the server's, a context holds what belongs
// together, and what the agent forgot to say of its message is said for it.
#[tokio::test]
async fn tasks_and_contexts_have_ids() {
    let rig = rig(texts);
    let mut ids = Vec::new();
    for (binding, client) in everywhere(&rig) {
        let first = task(&client, &say("ask")).await;
        let mut request = say("ask");
        request.message.context_id.clone_from(&first.context_id);
        let second = task(&client, &request).await;
        assert_eq!(first.context_id, second.context_id, "{binding}");
        let mut list = ListTasksRequest::new();
        list.context_id.clone_from(&first.context_id);
        assert_eq!(client.list_tasks(&list).await.unwrap().total_size, 2);
        let question = first.status.message.expect("a question");
        assert_eq!(question.task_id, first.id, "{binding}");
        assert_eq!(question.context_id, first.context_id);
        assert!(!question.message_id.is_empty());
        for task in [&first.history[0], &second.history[0]] {
            assert_ne!(task.task_id, task.message_id);
        }
        ids.extend([first.id, second.id]);
        // A message answers for no task and belongs to a context all the same.
        match client.send_message(&say("say")).await.unwrap() {
            SendMessageResponse::Message(message) => {
                assert!(message.task_id.is_empty() && !message.context_id.is_empty());
            }
            other => panic!("{binding}: {other:?}"),
        }
    }
    let count = ids.len();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

// A2A-OP-30: the task as it is, although its turn goes on.
#[tokio::test]
async fn who_does_not_wait_is_answered_at_once() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        let opened = task(&client, &immediately("hang")).await;
        assert!(!opened.status.state.is_terminal(), "{binding}");
        rig.go_on();
        until(&client, &opened.id, TaskState::Completed).await;
    }
}

// A2A-OP-48, A2A-OP-55, A2A-OP-57, A2A-OP-58, A2A-OP-64, A2A-REST-27: a message and nothing else, or the task and what
// becomes of it, in order, and an end after the state that is one.
#[tokio::test]
async fn a_stream_has_one_of_two_forms() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        let events = client.send_streaming_message(&say("say")).await.unwrap();
        assert_eq!(to_the_end(events).await.0, ["message"], "{binding}");
        for (text, last) in [
            ("artifact", TaskState::Completed),
            ("fail", TaskState::Failed),
            ("reject", TaskState::Rejected),
            // O-J08
            ("panic", TaskState::Failed),
        ] {
            let events = client.send_streaming_message(&say(text)).await.unwrap();
            let (members, state) = to_the_end(events).await;
            assert_eq!(state, last, "{binding} {text}");
            assert_eq!(members[0], "task", "{binding} {text}");
            let updates = ["statusUpdate", "artifactUpdate"];
            assert!(
                members[1..]
                    .iter()
                    .all(|member| updates.contains(&&**member))
            );
            assert_eq!(members.last().unwrap(), "statusUpdate");
        }
        // The same state with another word is news too.
        let events = client.send_streaming_message(&say("twice")).await.unwrap();
        assert_eq!(to_the_end(events).await.0.len(), 4, "{binding}");
        let events = client.send_streaming_message(&say("chunks")).await.unwrap();
        let texts: Vec<String> = events
            .filter_map(async |event| match event.unwrap().response {
                StreamResponse::ArtifactUpdate(update) => {
                    update.artifact.parts[0].as_text().map(str::to_owned)
                }
                _ => None,
            })
            .collect()
            .await;
        let numbers: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        assert_eq!(texts, numbers, "{binding}");
    }
}

// A2A-OP-24, A2A-OP-52, A2A-OP-63, A2A-OP-70, A2A-OP-85, A2A-OP-92, O-L02, O-L05: what each
// operation is refused with, before any event.
#[tokio::test]
async fn refusals_of_each_operation() {
    use ErrorKind::{
        ContentTypeNotSupported, InvalidParams, TaskNotCancelable, TaskNotFound,
        UnsupportedOperation,
    };
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        for operation in [
            Operation::SendMessage,
            Operation::SendStreamingMessage,
            Operation::GetTask,
            Operation::CancelTask,
            Operation::SubscribeToTask,
        ] {
            let error = attempt(&client, operation, "no such").await.unwrap_err();
            assert_eq!(kind(&error), TaskNotFound, "{binding} {operation}");
        }
        for operation in [
            Operation::GetTask,
            Operation::CancelTask,
            Operation::SubscribeToTask,
        ] {
            let error = attempt(&client, operation, "").await.unwrap_err();
            let refusal = error.as_refusal().unwrap();
            assert_eq!(refusal.kind(), InvalidParams, "{binding} {operation}");
            assert_eq!(
                refusal.violations()[0].field(),
                "id",
                "{binding} {operation}"
            );
        }
        for (text, state) in [
            ("done", TaskState::Completed),
            ("fail", TaskState::Failed),
            ("reject", TaskState::Rejected),
            ("hang", TaskState::Canceled),
        ] {
            let mut over = task(&client, &immediately(text)).await;
            if text == "hang" {
                let request = CancelTaskRequest::new(&*over.id);
                over = client.cancel_task(&request).await.unwrap();
            } else {
                over = until(&client, &over.id, state).await;
            }
            assert_eq!(over.status.state, state, "{binding}");
            for (operation, expected) in [
                (Operation::SendMessage, UnsupportedOperation),
                (Operation::SendStreamingMessage, UnsupportedOperation),
                (Operation::SubscribeToTask, UnsupportedOperation),
                (Operation::CancelTask, TaskNotCancelable),
            ] {
                let answer = attempt(&client, operation, &over.id).await;
                if (operation, state) == (Operation::CancelTask, TaskState::Canceled) {
                    // O-L04, A2A-OP-87
                    assert_eq!(answer.unwrap(), value(&over), "{binding}");
                    continue;
                }
                let error = answer.unwrap_err();
                let refusal = error.as_refusal().unwrap();
                assert_eq!(refusal.kind(), expected, "{binding} {operation} {text}");
                let told = refusal.metadata().find(|(name, _)| *name == "state");
                assert_eq!(told.map(|(_, state)| state), Some(state.as_str()));
            }
            assert_eq!(read(&client, &over.id).await, over, "{binding} {text}");
        }
        let mut odd = say("x");
        odd.message.parts = vec![Part::raw([0, 1]).with_media_type("application/x-odd")];
        let errors = [
            client.send_message(&odd).await.map(value).unwrap_err(),
            client
                .send_streaming_message(&odd)
                .await
                .map(drop)
                .unwrap_err(),
        ];
        for error in errors {
            assert_eq!(kind(&error), ContentTypeNotSupported, "{binding}");
        }
    }
}

// A2A-OP-5, A2A-OP-6, A2A-OP-7, A2A-EXT-5, A2A-EXT-6: what the card says is what can be called.
#[tokio::test]
async fn the_card_decides_what_can_be_called() {
    let mut plain = card();
    plain["capabilities"] = json!({});
    let mut strict = card();
    strict["capabilities"] = json!({"streaming": true, "extendedAgentCard": true,
        "extensions": [{"uri": "urn:must", "required": true}]});
    let (plain, strict) = (rig_of(&plain, texts), rig_of(&strict, texts));
    for &binding in Binding::ALL {
        for operation in Operation::ALL {
            let by_card = |rig| async move {
                let client = client(rig, binding, None);
                let error = attempt(&client, operation, "t").await.err();
                error.as_ref().map(kind)
            };
            let expected = match operation {
                Operation::SendStreamingMessage
                | Operation::SubscribeToTask
                | Operation::GetExtendedAgentCard => Some(ErrorKind::UnsupportedOperation),
                Operation::CreateTaskPushNotificationConfig
                | Operation::GetTaskPushNotificationConfig
                | Operation::ListTaskPushNotificationConfigs
                | Operation::DeleteTaskPushNotificationConfig => {
                    Some(ErrorKind::PushNotificationNotSupported)
                }
                Operation::SendMessage | Operation::GetTask | Operation::CancelTask => {
                    Some(ErrorKind::TaskNotFound)
                }
                Operation::ListTasks => None,
            };
            assert_eq!(by_card(&plain).await, expected, "{binding} {operation}");
            let expected = match expected {
                Some(ErrorKind::PushNotificationNotSupported) => expected,
                // Capabilities are judged first.
                _ if operation == Operation::GetExtendedAgentCard => {
                    Some(ErrorKind::ExtendedAgentCardNotConfigured)
                }
                _ => Some(ErrorKind::ExtensionSupportRequired),
            };
            assert_eq!(by_card(&strict).await, expected, "{binding} {operation}");
        }
    }
}

// A2A-OP-69: what has come of it so far, the artifacts always.
#[tokio::test]
async fn a_task_is_read_as_it_is() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        let done = task(&client, &say("artifact")).await;
        for length in [None, Some(0), Some(1)] {
            let mut request = GetTaskRequest::new(&*done.id);
            request.history_length = length;
            let read = client.get_task(&request).await.unwrap();
            assert_eq!(read.artifacts, done.artifacts, "{binding}");
            assert_eq!(read.status, done.status, "{binding}");
        }
        let working = task(&client, &immediately("hang")).await;
        until(&client, &working.id, TaskState::Working).await;
        rig.go_on();
        let now = until(&client, &working.id, TaskState::Completed).await;
        assert!(now.status.timestamp > working.status.timestamp, "{binding}");
    }
}

// A2A-OP-35, A2A-OP-36, A2A-OP-37, A2A-OP-45, O-H01: so many of the last messages, oldest first; none; or all
// that there are, which for a list is none.
#[tokio::test]
async fn history_is_as_long_as_asked() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        let id = task(&client, &say("ask")).await.id;
        let mut whole = task(&client, &to(&id, "ask")).await.history;
        assert_eq!(whole.len(), 3, "{binding}");
        assert_eq!(
            whole.iter().map(Message::text).collect::<Vec<_>>(),
            ["ask", "what?", "ask"]
        );
        let newest = |history: &[Message], length: Option<i32>| {
            let length = length.map_or(history.len(), |length| length as usize);
            history[history.len().saturating_sub(length)..].to_vec()
        };
        for length in [None, Some(0), Some(1), Some(2), Some(99)] {
            let mut get = GetTaskRequest::new(&*id);
            get.history_length = length;
            let read = client.get_task(&get).await.unwrap().history;
            assert_eq!(read, newest(&whole, length), "{binding} {length:?}");

            let mut list = ListTasksRequest::new();
            list.history_length = length;
            let listed = client.list_tasks(&list).await.unwrap().tasks;
            let listed = listed.into_iter().find(|task| task.id == id).unwrap();
            let expected = newest(&whole, length.or(Some(0)));
            assert_eq!(listed.history, expected, "{binding} {length:?}");

            // Each answer makes it longer, by the question before and itself.
            let mut wishes = SendMessageConfiguration::new();
            wishes.history_length = length;
            let answer = to(&id, "ask").with_configuration(wishes);
            let sent = task(&client, &answer).await.history;
            whole = read_history(&client, &id).await;
            assert_eq!(sent, newest(&whole, length), "{binding} {length:?}");
            let mut events = client.send_streaming_message(&answer).await.unwrap();
            match next(&mut events).await {
                StreamResponse::Task(task) => {
                    whole = read_history(&client, &id).await;
                    assert_eq!(task.history, newest(&whole, length), "{binding} {length:?}");
                }
                other => panic!("{binding}: {other:?}"),
            }
        }
        for length in [-1, i32::MIN] {
            let mut get = GetTaskRequest::new(&*id);
            get.history_length = Some(length);
            let error = client.get_task(&get).await.unwrap_err();
            assert_eq!(kind(&error), ErrorKind::InvalidParams, "{binding}");
        }
        // Who watches or cancels asks for no length, and gets all.
        let watch = SubscribeToTaskRequest::new(&*id);
        let mut events = client.subscribe_to_task(&watch, None).await.unwrap();
        match next(&mut events).await {
            StreamResponse::Task(task) => assert_eq!(task.history, whole, "{binding}"),
            other => panic!("{binding}: {other:?}"),
        }
    }
}

async fn read_history(client: &Client<As>, id: &str) -> Vec<Message> {
    read(client, id).await.history
}

/// All pages of a list; between them, something happens.
async fn pages(
    client: &Client<As>,
    mut request: ListTasksRequest,
    mut between: impl AsyncFnMut(),
) -> Vec<ListTasksResponse> {
    let mut pages = Vec::new();
    loop {
        let page = client.list_tasks(&request).await.unwrap();
        request.page_token.clone_from(&page.next_page_token);
        pages.push(page);
        if request.page_token.is_empty() {
            return pages;
        }
        between().await;
    }
}

// A2A-OP-73, A2A-OP-74, A2A-OP-75, A2A-OP-78, A2A-OP-80: newest news first, in pages that miss
// nothing and repeat nothing while tasks come.
#[tokio::test]
async fn lists_are_in_order_and_pages_hold() {
    for &binding in Binding::ALL {
        let rig = rig(texts);
        let client = client(&rig, binding, None);
        let asked = task(&client, &say("ask")).await.id;
        let mut ids = vec![asked.clone()];
        for _ in 0..55 {
            ids.push(task(&client, &say("artifact")).await.id);
        }
        // Its status is the newest now, whenever it was opened.
        client.send_message(&to(&asked, "ask")).await.unwrap();
        ids.rotate_left(1);
        ids.reverse();

        let page = client.list_tasks(&ListTasksRequest::new()).await.unwrap();
        assert_eq!(
            (page.tasks.len(), page.page_size, page.total_size),
            (50, 50, 56)
        );
        assert!(page.tasks.iter().all(|task| task.artifacts.is_empty()));
        let mut request = ListTasksRequest::new();
        request.include_artifacts = Some(true);
        request.page_size = Some(100);
        let page = client.list_tasks(&request).await.unwrap();
        let listed: Vec<_> = page.tasks.iter().map(|task| task.id.clone()).collect();
        assert_eq!(listed, ids, "{binding}");
        let with_artifacts = page.tasks.iter().filter(|task| !task.artifacts.is_empty());
        assert_eq!(with_artifacts.count(), 55);

        let mut request = ListTasksRequest::new();
        request.page_size = Some(10);
        let more = async || drop(client.send_message(&say("done")).await.unwrap());
        let pages = pages(&client, request, more).await;
        let sizes: Vec<_> = pages.iter().map(|page| page.tasks.len()).collect();
        assert_eq!(sizes, [10, 10, 10, 10, 10, 6], "{binding}");
        assert_eq!(pages[5].total_size, 61, "{binding}");
        let listed: Vec<_> = pages
            .into_iter()
            .flat_map(|page| page.tasks)
            .map(|task| task.id)
            .collect();
        assert_eq!(listed, ids, "{binding}");
    }
}

// A2A-OP-84, O-L14: the task as it is after the cancel, for its watcher too.
#[tokio::test]
async fn a_canceled_task_is_canceled() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        for text in ["hang", "ask", "auth"] {
            let opened = task(&client, &immediately(text)).await;
            let watch = SubscribeToTaskRequest::new(&*opened.id);
            let mut events = client.subscribe_to_task(&watch, None).await.unwrap();
            next(&mut events).await;
            let request = CancelTaskRequest::new(&*opened.id);
            let canceled = client.cancel_task(&request).await.unwrap();
            assert_eq!(
                canceled.status.state,
                TaskState::Canceled,
                "{binding} {text}"
            );
            assert_eq!(
                canceled,
                read(&client, &opened.id).await,
                "{binding} {text}"
            );
            assert_eq!(to_the_end(events).await.1, TaskState::Canceled);
        }
    }
}

// A2A-OP-90, A2A-OP-91, A2A-OP-93: the task as it stands, whoever opened it and how, and what
// follows to its end.
#[tokio::test]
async fn a_watcher_begins_with_the_task() {
    let rig = rig(texts);
    let clients = everywhere(&rig);
    for (binding, client) in &clients {
        for (_, opener) in &clients {
            let opened = task(opener, &immediately("hang")).await;
            until(opener, &opened.id, TaskState::Working).await;
            let watch = SubscribeToTaskRequest::new(&*opened.id);
            let mut events = client.subscribe_to_task(&watch, None).await.unwrap();
            match next(&mut events).await {
                StreamResponse::Task(first) => {
                    assert_eq!(first, read(client, &opened.id).await, "{binding}");
                }
                other => panic!("{binding}: {other:?}"),
            }
            rig.go_on();
            let (members, state) = to_the_end(events).await;
            assert_eq!(members, ["statusUpdate"], "{binding}");
            assert_eq!(state, TaskState::Completed, "{binding}");
        }
    }
}

// A2A-OP-109, A2A-OP-111, O-L13: it says what it needs, streams stay, and it goes on without a
// message once it may.
#[tokio::test]
async fn a_task_that_needs_a_credential_says_so() {
    let rig = rig(texts);
    for (binding, client) in everywhere(&rig) {
        let mut events = client.send_streaming_message(&say("auth")).await.unwrap();
        let id = match next(&mut events).await {
            StreamResponse::Task(task) => task.id,
            other => panic!("{binding}: {other:?}"),
        };
        match next(&mut events).await {
            StreamResponse::StatusUpdate(update) => {
                assert_eq!(update.status.state, TaskState::AuthRequired, "{binding}");
                let says = update.status.message.expect("what it needs").text();
                assert_eq!(says, "Sign in at https://id.example.com/");
            }
            other => panic!("{binding}: {other:?}"),
        }
        // What it waits for comes another way; nothing that the protocol carries is one.
        assert_eq!(
            read(&client, &id).await.status.state,
            TaskState::AuthRequired
        );
        rig.go_on();
        assert_eq!(
            to_the_end(events).await.1,
            TaskState::Completed,
            "{binding}"
        );
    }
}

// O-A04, A2A-OP-6, A2A-OP-104, A2A-OP-105, A2A-OP-107: who asks decides, and the public card is
// the same to all.
#[tokio::test]
async fn the_extended_card_is_for_whom_it_is() {
    let done = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let public = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://in.process"));
    let mut extended = public.clone();
    extended
        .skills
        .push(AgentSkill::new("s", "s", "for ann alone"));
    let server = Server::builder(done, public).extended_card(move |caller: &Caller| {
        let ann = caller.principal().is_some_and(|who| who.subject() == "ann");
        ann.then(|| extended.clone())
    });
    let service = OnePort::new(server.build());
    for &binding in Binding::ALL {
        let ask = async |who: Option<&str>| {
            let client = client_of(service.clone(), binding, who);
            client
                .extended_card(&GetExtendedAgentCardRequest::new())
                .await
        };
        let card = ask(Some("ann")).await.unwrap();
        assert_eq!(
            card.skills.last().unwrap().description,
            "for ann alone",
            "{binding}"
        );
        for (who, expected) in [
            (Some("bob"), ErrorKind::PermissionDenied),
            (None, ErrorKind::Unauthenticated),
        ] {
            let error = ask(who).await.unwrap_err();
            assert_eq!(kind(&error), expected, "{binding}");
            assert!(!format!("{error:?}").contains("ann"), "{binding}");
        }
    }
}

// O-A03, A2A-SEC-17: a fault of the server says nothing of itself, and what to ask its host for.
#[tokio::test]
async fn a_fault_of_the_server_has_a_reference() {
    for &binding in Binding::ALL {
        let rig = rig(texts);
        let client = client(&rig, binding, None);
        rig.break_reads(true);
        let error = attempt(&client, Operation::GetTask, "t").await.unwrap_err();
        let refusal = error.as_refusal().unwrap_or_else(|| panic!("{error:?}"));
        assert_eq!(refusal.kind(), ErrorKind::Internal, "{binding}");
        assert_eq!(refusal.message(), "Internal error", "{binding}");
        assert_eq!(refusal.reference(), Some("ref-1"), "{binding}");
        assert!(!format!("{error:?}").contains("secret"), "{binding}");
    }
}

// A2A-OP-10, O-A06: the tenant is a part of the key in every operation of every binding.
#[tokio::test]
async fn a_tenant_holds_its_tasks() {
    let mut card = card();
    card["supportedInterfaces"][0]["tenant"] = json!("acme");
    card["supportedInterfaces"][1]["tenant"] = json!("umbrella");
    for &binding in Binding::ALL {
        for operation in Operation::ALL {
            let rig = rig_of(&card, texts);
            let of = |tenant: &str| client(&rig, binding, Some("me")).tenant(tenant);
            let id = task(&of("acme"), &say("ask")).await.id;
            let elsewhere = client(&rig, binding, Some("me"));
            for stranger in [of("umbrella"), elsewhere] {
                let answer = comparable(attempt(&stranger, operation, &id).await);
                let absent = comparable(attempt(&stranger, operation, "absent").await);
                assert_eq!(
                    format!("{answer:?}").replace(&id, "absent"),
                    format!("{absent:?}"),
                    "{binding} {operation}"
                );
            }
            let answer = attempt(&of("acme"), operation, &id).await;
            match operation {
                Operation::ListTasks => assert_eq!(answer.unwrap()["totalSize"], 1),
                Operation::SendMessage
                | Operation::SendStreamingMessage
                | Operation::GetTask
                | Operation::CancelTask
                | Operation::SubscribeToTask => {
                    answer.unwrap_or_else(|error| panic!("{binding} {operation}: {error:?}"));
                }
                Operation::CreateTaskPushNotificationConfig
                | Operation::GetTaskPushNotificationConfig
                | Operation::ListTaskPushNotificationConfigs
                | Operation::DeleteTaskPushNotificationConfig
                | Operation::GetExtendedAgentCard => assert!(answer.is_err()),
            }
            let error = attempt(&of("nobody"), Operation::GetTask, &id).await;
            assert_eq!(
                kind(&error.unwrap_err()),
                ErrorKind::TaskNotFound,
                "{binding}"
            );
        }
    }
}

// A2A-OP-49, A2A-OP-50, A2A-RPC-15, A2A-RPC-16, A2A-REST-16, A2A-REST-17, A2A-REST-19, A2A-REST-26, O-W09: what
// is wrapped, what is bare, and that both bindings say the same.
#[tokio::test]
async fn answers_are_wrapped_where_they_should_be() {
    let rig = rig(texts);
    let message = |text: &str| json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}});
    let members = |answer: &Value| {
        let object = answer.as_object().unwrap_or_else(|| panic!("{answer}"));
        let mut members: Vec<_> = object.keys().cloned().collect();
        // Other features of serde_json leave them in the order of the wire.
        members.sort();
        members
    };
    let rpc = async |method: &str, params: Value| {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let reply = rig.post(&call.to_string(), &[]).await;
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), "application/json");
        reply.json()["result"].clone()
    };
    let rest = async |verb: &str, path: &str, body: Option<Value>| {
        let body = body.map_or(String::new(), |body| body.to_string());
        let reply = rig.rest(verb, path, &[], &body).await;
        assert_eq!(reply.status, 200, "{path}");
        reply.json()
    };
    for (text, member) in [("artifact", "task"), ("say", "message")] {
        let sent = [
            rpc("SendMessage", message(text)).await,
            rest("POST", "/message:send", Some(message(text))).await,
        ];
        assert!(
            sent.iter().all(|sent| members(sent) == [member]),
            "{sent:?}"
        );
    }
    let opened = rpc("SendMessage", message("ask")).await;
    let id = opened["task"]["id"].as_str().unwrap();
    let bare = ["contextId", "history", "id", "status"];
    let read = [
        rpc("GetTask", json!({"id": id})).await,
        rest("GET", &format!("/tasks/{id}"), None).await,
    ];
    assert_eq!(members(&read[0]), bare);
    assert_eq!(read[0], read[1]);
    let listed = [
        rpc("ListTasks", json!({})).await,
        rest("GET", "/tasks", None).await,
    ];
    assert_eq!(
        members(&listed[0]),
        ["nextPageToken", "pageSize", "tasks", "totalSize"]
    );
    assert_eq!(
        members(&listed[0]["tasks"][0]),
        ["contextId", "id", "status"]
    );
    assert_eq!(listed[0], listed[1]);
    let canceled = [
        rpc("CancelTask", json!({"id": id})).await,
        rest("POST", &format!("/tasks/{id}:cancel"), None).await,
    ];
    assert_eq!(members(&canceled[0]), bare);
    assert_eq!(canceled[0], canceled[1]);
    let mut events = rig
        .rest_watch(
            "POST",
            "/message:stream",
            &[],
            &message("artifact").to_string(),
        )
        .await;
    for member in ["task", "statusUpdate", "artifactUpdate", "statusUpdate"] {
        assert_eq!(members(&events.next().await.unwrap()), [member]);
    }
    assert_eq!(events.next().await, None);
}

// A2A-GRPC-1, A2A-GRPC-2, A2A-GEN-4: eleven methods under the name of the service, those that the
// card does not declare too.
#[tokio::test]
async fn the_service_has_eleven_methods() {
    assert_eq!(Operation::ALL.len(), 11);
    assert_eq!(Grpc::PATH, "/lf.a2a.v1.A2AService");
    let rig = rig(texts);
    for operation in Operation::ALL {
        let status = crate::grpc::status_of_empty(&rig, operation.as_str()).await;
        // Nothing is said, so it is well only where nothing has to be.
        let expected = match operation {
            Operation::ListTasks => 0,
            Operation::CreateTaskPushNotificationConfig
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::DeleteTaskPushNotificationConfig
            | Operation::SendMessage
            | Operation::SendStreamingMessage
            | Operation::GetTask
            | Operation::CancelTask
            | Operation::SubscribeToTask => 3,
            Operation::GetExtendedAgentCard => 9,
        };
        assert_eq!(status, expected, "{operation}");
    }
    for name in ["sendMessage", "TaskSubscription", "GetAgentCard", ""] {
        assert_eq!(crate::grpc::status_of_empty(&rig, name).await, 12, "{name}");
    }
}
