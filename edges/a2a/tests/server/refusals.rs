//! The nine refusals and what goes before them (A2A-OP-11).

use portcullis::Emitter;
use portcullis_a2a::{
    model::{AgentCapabilities, AgentExtension, Error, ErrorKind, TaskState},
    server::{Caller, Emission, Operation, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};

use crate::support::{
    call, call_as, card, deterministic, echo, follow_up, refused, scripted_server, send, server_of,
    user,
};

fn info(error: &Error) -> Value {
    serde_json::to_value(error.details()).expect("encodes")[0].clone()
}

fn expect(error: &Error, kind: ErrorKind, metadata: &Value) {
    assert_eq!(error.kind(), kind, "{error:?}");
    let info = info(error);
    assert_eq!(info["reason"], json!(kind.reason().expect("a refusal")));
    assert_eq!(
        info.get("metadata").unwrap_or(&json!({})),
        metadata,
        "{error:?}"
    );
}

/// Parameters that are right for an operation.
fn params(operation: Operation) -> Value {
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => send("x"),
        Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => {
            json!({"id": "t-1"})
        }
        Operation::ListTasks | Operation::GetExtendedAgentCard => json!({}),
        Operation::CreateTaskPushNotificationConfig => {
            json!({"taskId": "t-1", "url": "https://example.com/"})
        }
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => {
            json!({"taskId": "t-1", "id": "p"})
        }
        Operation::ListTaskPushNotificationConfigs => json!({"taskId": "t-1"}),
    }
}

// EX-17, A2A-OP-4..6.
#[tokio::test]
async fn operations_that_the_card_does_not_declare() {
    let mut card = card();
    card.capabilities = AgentCapabilities::new();
    let server = server_of(Server::builder(executor_fn(echo), card.clone()));
    for operation in Operation::ALL {
        let name = operation.as_str();
        match operation {
            Operation::SendStreamingMessage
            | Operation::SubscribeToTask
            | Operation::GetExtendedAgentCard => {
                let error = refused(&server, name, params(operation)).await;
                expect(
                    &error,
                    ErrorKind::UnsupportedOperation,
                    &json!({"method": name}),
                );
            }
            Operation::CreateTaskPushNotificationConfig
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::DeleteTaskPushNotificationConfig => {
                let error = refused(&server, name, params(operation)).await;
                expect(&error, ErrorKind::PushNotificationNotSupported, &json!({}));
            }
            Operation::SendMessage
            | Operation::GetTask
            | Operation::ListTasks
            | Operation::CancelTask => {
                let result = call_as(&server, &Caller::new(), name, &params(operation)).await;
                let error = result.err().map(|error| error.kind());
                assert!(
                    !matches!(error, Some(ErrorKind::UnsupportedOperation)),
                    "{name}: {error:?}"
                );
            }
        }
    }
    card.capabilities.extended_agent_card = Some(true);
    let server = server_of(Server::builder(executor_fn(echo), card));
    let error = refused(&server, "GetExtendedAgentCard", json!({})).await;
    expect(
        &error,
        ErrorKind::ExtendedAgentCardNotConfigured,
        &json!({}),
    );
    // A2A-OP-53.
    let mut params = send("x");
    params["configuration"] = json!({"taskPushNotificationConfig": {"url": "https://e.com/"}});
    let error = refused(&server, "SendMessage", params).await;
    expect(&error, ErrorKind::PushNotificationNotSupported, &json!({}));
}

/// O-A04, A2A-OP-104..107: to whom it is for, and to nobody else.
#[tokio::test]
async fn the_extended_card_is_for_those_it_is_for() {
    let mut extended = card();
    extended.description = "For ann.".to_owned();
    let builder =
        Server::builder(executor_fn(echo), card()).extended_card(move |caller: &Caller| {
            let ann = caller.principal().is_some_and(|who| who.subject() == "ann");
            ann.then(|| extended.clone())
        });
    let server = server_of(builder);
    assert_eq!(server.card().capabilities.extended_agent_card, Some(true));
    let ask =
        async |caller: Caller| call_as(&server, &caller, "GetExtendedAgentCard", &json!({})).await;
    let card = ask(user("ann")).await.expect("a card for ann");
    assert_eq!(card["description"], "For ann.");
    let error = ask(user("bob")).await.expect_err("not for bob");
    assert_eq!(error.kind(), ErrorKind::PermissionDenied);
    let error = ask(Caller::new()).await.expect_err("not for nobody");
    assert_eq!(error.kind(), ErrorKind::Unauthenticated);
}

/// A2A-SIG-1: what is served is what is signed, the card for ann as well.
#[cfg(feature = "sign")]
#[tokio::test]
async fn served_cards_are_signed() {
    use portcullis_a2a::signing::{CardSigner, TrustedKeys, verify_card};

    let signer = CardSigner::ed25519("k", &CardSigner::generate_ed25519()).expect("a key");
    let keys = TrustedKeys::new().with("k", signer.public_key());
    let extended = card();
    let builder = Server::builder(executor_fn(echo), card())
        .extended_card(move |_: &Caller| Some(extended.clone()))
        .sign_cards(signer);
    let server = server_of(builder);
    let public = serde_json::to_string(server.card()).expect("a card");
    verify_card(&public, &keys).expect("signed after the builder changed it");
    let caller = Caller::new();
    let answer = call_as(&server, &caller, "GetExtendedAgentCard", &json!({})).await;
    let extended = answer.expect("a card").to_string();
    verify_card(&extended, &keys).expect("signed");
}

#[tokio::test]
async fn a_card_does_not_promise_webhooks_that_nobody_delivers() {
    let mut card = card();
    card.capabilities.push_notifications = Some(true);
    let server = server_of(Server::builder(executor_fn(echo), card));
    assert_eq!(server.card().capabilities.push_notifications, Some(false));
}

// A2A-SVC-2, EX-18, A2A-SVC-6..9: before anything else.
#[tokio::test]
async fn versions() {
    let server = scripted_server();
    let ask = async |version: Option<&str>| {
        let caller = Caller::new().speaking(version);
        call_as(&server, &caller, "NoSuchMethod", &json!([])).await
    };
    for version in ["1.0", " 1.0 ", "1.0.1", "1.0.99"] {
        let error = ask(Some(version)).await.expect_err("no such method");
        assert_eq!(error.kind(), ErrorKind::MethodNotFound, "{version}");
    }
    for (version, requested) in [
        (None, "0.3"),
        (Some(""), "0.3"),
        (Some("0.3"), "0.3"),
        (Some("0.5"), "0.5"),
        (Some("99.0"), "99.0"),
        (Some("1"), "1"),
        (Some("1.1"), "1.1"),
        (Some("1.0.x"), "1.0.x"),
        (Some("1.0.0.0"), "1.0.0.0"),
        (Some("v1.0"), "v1.0"),
    ] {
        let error = ask(version).await.expect_err("refused");
        expect(
            &error,
            ErrorKind::VersionNotSupported,
            &json!({"requestedVersion": requested, "supportedVersions": "1.0"}),
        );
    }
}

// EX-19, A2A-EXT-4..7, ruling 19: every operation.
#[tokio::test]
async fn extensions() {
    let (sign, geo) = (
        "https://example.com/ext/sign/v1",
        "https://example.com/ext/geo/v1",
    );
    let mut card = card();
    card.capabilities.extensions = vec![
        AgentExtension::new(sign).required(),
        AgentExtension::new(geo),
    ];
    card.capabilities.extended_agent_card = Some(true);
    let server = server_of(Server::builder(
        executor_fn(async |cx: RequestContext, out: Emitter<Emission>| {
            assert!(cx.is_active("https://example.com/ext/geo/v1"));
            assert_eq!(cx.extensions().len(), 2);
            out.emit(cx.status(TaskState::Completed)).await;
        }),
        card,
    ));
    for operation in Operation::ALL {
        let error = refused(&server, operation.as_str(), params(operation)).await;
        if matches!(
            error.kind(),
            // Capabilities are judged first.
            ErrorKind::PushNotificationNotSupported | ErrorKind::ExtendedAgentCardNotConfigured
        ) {
            continue;
        }
        expect(
            &error,
            ErrorKind::ExtensionSupportRequired,
            &json!({"extensions": sign}),
        );
    }
    let caller = Caller::new().asking_for([sign, "https://example.com/unknown", geo, sign]);
    assert_eq!(server.active_extensions(&caller), [sign, geo]);
    let answer = call_as(&server, &caller, "SendMessage", &send("near me")).await;
    assert_eq!(
        answer.expect("answered")["task"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
}

// EX-20, A2A-OP-38, A2A-OP-39.
#[tokio::test]
async fn content_types() {
    let server = scripted_server();
    let with = |part: Value| {
        json!({"message": {"messageId": "m", "role": "ROLE_USER",
            "parts": [{"text": "complete"}, part]}})
    };
    for (part, media_type) in [
        (
            json!({"raw": "AAEC", "mediaType": "application/x-odd"}),
            "application/x-odd",
        ),
        (json!({"raw": "AAEC"}), "application/octet-stream"),
        (
            json!({"url": "https://example.com/x"}),
            "application/octet-stream",
        ),
        (json!({"text": "x", "mediaType": "text/html"}), "text/html"),
    ] {
        let error = refused(&server, "SendMessage", with(part)).await;
        expect(
            &error,
            ErrorKind::ContentTypeNotSupported,
            &json!({"mediaType": media_type, "field": "message.parts[1]"}),
        );
    }
    // A2A-CARD-16: what one skill takes beside the rest is taken.
    let mut of_skill = card();
    let mut skill = portcullis_a2a::model::AgentSkill::new("s", "s", "reads");
    skill.input_modes.push("application/x-odd".to_owned());
    of_skill.skills.push(skill);
    let reads = server_of(Server::builder(
        executor_fn(crate::support::scripted),
        of_skill,
    ));
    let odd = json!({"raw": "AAEC", "mediaType": "application/x-odd"});
    call(&reads, "SendMessage", with(odd)).await;
    for part in [
        json!({"data": {"a": 1}}),
        json!({"text": "complete", "mediaType": "TEXT/plain; charset=utf-8"}),
        json!({"data": 1, "mediaType": "application/json"}),
    ] {
        call(&server, "SendMessage", with(part)).await;
    }
    let accepting = |modes: Value| {
        let mut params = send("complete");
        params["configuration"] = json!({"acceptedOutputModes": modes});
        params
    };
    for modes in [
        json!([]),
        json!(["text/*"]),
        json!(["*/*"]),
        json!(["image/png", "text"]),
    ] {
        call(&server, "SendMessage", accepting(modes)).await;
    }
    let error = refused(&server, "SendMessage", accepting(json!(["image/png"]))).await;
    assert_eq!(error.kind(), ErrorKind::ContentTypeNotSupported);
}

// EX-22, O-L02, A2A-OP-24: every terminal state; the agent is not asked.
#[tokio::test]
async fn a_finished_task_takes_nothing() {
    for (word, state) in [
        ("complete", "TASK_STATE_COMPLETED"),
        ("fail", "TASK_STATE_FAILED"),
        ("reject", "TASK_STATE_REJECTED"),
        ("cancel", "TASK_STATE_CANCELED"),
    ] {
        let server = scripted_server();
        let before = call(&server, "SendMessage", send(word)).await;
        assert_eq!(before["task"]["status"]["state"], state);
        let metadata = json!({"taskId": "t-1", "state": state});
        for method in ["SendMessage", "SendStreamingMessage"] {
            let error = refused(&server, method, follow_up("t-1", "m-2", "panic")).await;
            expect(&error, ErrorKind::UnsupportedOperation, &metadata);
        }
        // O-L05.
        let error = refused(&server, "SubscribeToTask", json!({"id": "t-1"})).await;
        expect(&error, ErrorKind::UnsupportedOperation, &metadata);
        let result = call_as(&server, &Caller::new(), "CancelTask", &json!({"id": "t-1"})).await;
        if word == "cancel" {
            assert_eq!(result.expect("the same again"), before["task"]);
        } else {
            expect(
                &result.expect_err("over"),
                ErrorKind::TaskNotCancelable,
                &metadata,
            );
        }
        let after = call(&server, "GetTask", json!({"id": "t-1"})).await;
        assert_eq!(after, before["task"]);
    }
}

// EX-22, O-L03, A2A-OP-14, A2A-OP-20: nothing is stored.
#[tokio::test]
async fn wrong_tasks_and_contexts() {
    let server = scripted_server();
    let before = call(&server, "SendMessage", send("ask")).await;
    let mut params = follow_up("t-1", "m-31", "complete");
    params["message"]["contextId"] = json!("c-other");
    let error = refused(&server, "SendMessage", params.clone()).await;
    assert_eq!(error.code(), -32602);
    assert_eq!(
        serde_json::to_value(error.details()).expect("encodes")[0]["fieldViolations"],
        json!([{"field": "message.contextId", "description": "does not match the context of the task"}])
    );
    assert_eq!(
        call(&server, "GetTask", json!({"id": "t-1"})).await,
        before["task"]
    );
    params["message"]["taskId"] = json!("my-own-id");
    for method in ["SendMessage", "SendStreamingMessage"] {
        let error = refused(&server, method, params.clone()).await;
        expect(
            &error,
            ErrorKind::TaskNotFound,
            &json!({"taskId": "my-own-id"}),
        );
    }
    refused(&server, "GetTask", json!({"id": "my-own-id"})).await;
    assert_eq!(call(&server, "ListTasks", json!({})).await["totalSize"], 1);
    // The right context, and none, are fine (A2A-OP-19).
    let mut params = follow_up("t-1", "m-32", "complete");
    params["message"]["contextId"] = before["task"]["contextId"].clone();
    let after = call(&server, "SendMessage", params).await;
    assert_eq!(after["task"]["status"]["state"], "TASK_STATE_COMPLETED");
}

// Ruling 18: a bare context id does not look like somebody's session.
#[tokio::test]
async fn the_reserved_prefix_is_refused() {
    let mut params = send("complete");
    params["message"]["contextId"] = json!("ctx:AAAA");
    let server = scripted_server();
    let error = refused(&server, "SendMessage", params.clone()).await;
    assert_eq!(error.violations()[0].field(), "message.contextId");
    // It is only a text where the session is a digest anyway.
    let caller = crate::support::user("a");
    call_as(&server, &caller, "SendMessage", &params)
        .await
        .expect("taken");
}

// A2A-RPC-5, EX-21.
#[tokio::test]
async fn parameters() {
    let server = scripted_server();
    let error = refused(&server, "GetTask", json!(["t-8"])).await;
    assert_eq!((error.code(), error.details().is_empty()), (-32602, true));
    let error = refused(&server, "GetTask", json!({})).await;
    assert_eq!(error.violations()[0].to_string(), "id: required");
    let error = refused(&server, "tasks/get", json!({"id": "t"})).await;
    assert_eq!(error.code(), -32601);
    let all = server.handle(&Caller::new(), "ListTasks", None).await;
    assert!(all.is_ok());
    for length in [-1, i32::MIN] {
        // O-H02.
        for (method, params) in [
            ("GetTask", json!({"id": "t", "historyLength": length})),
            ("ListTasks", json!({"historyLength": length})),
            ("SendMessage", {
                let mut params = send("complete");
                params["configuration"] = json!({"historyLength": length});
                params
            }),
        ] {
            assert_eq!(refused(&server, method, params).await.code(), -32602);
        }
    }
    for size in [0, -1, 101] {
        let error = refused(&server, "ListTasks", json!({"pageSize": size})).await;
        assert_eq!(error.code(), -32602);
    }
}

// A2A-OP-25: the executor has not said that it takes messages.
#[tokio::test]
async fn a_running_task_takes_no_message_by_default() {
    let server = scripted_server();
    let mut params = send("work hang");
    params["configuration"] = json!({"returnImmediately": true});
    call(&server, "SendMessage", params).await;
    let error = refused(&server, "SendMessage", follow_up("t-1", "m-2", "more")).await;
    assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    assert_eq!(info(&error)["metadata"]["taskId"], "t-1");
    let task = call(&server, "GetTask", json!({"id": "t-1"})).await;
    assert_eq!(task["history"].as_array().expect("history").len(), 1);
}

#[tokio::test]
async fn too_many_turns_are_refused_for_now() {
    let mut limits = portcullis_a2a::server::Limits::default();
    limits.running_turns = 1;
    let builder = Server::builder(executor_fn(crate::support::scripted), card()).limits(limits);
    let server = deterministic(builder).build();
    let mut params = send("work hang");
    params["configuration"] = json!({"returnImmediately": true});
    call(&server, "SendMessage", params).await;
    let error = refused(&server, "SendMessage", send("complete")).await;
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    call(&server, "CancelTask", json!({"id": "t-1"})).await;
    call(&server, "SendMessage", send("complete")).await;
}

// Where the answer and the end of the turn are on two threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_hears_of_an_end_finds_a_place() {
    let mut limits = portcullis_a2a::server::Limits::default();
    limits.running_turns = 1;
    let builder = Server::builder(executor_fn(crate::support::scripted), card()).limits(limits);
    let server = builder.build();
    for text in ["work complete", "say", "panic", "ask"].repeat(250) {
        call(&server, "SendMessage", send(text)).await;
    }
    for _ in 0..250 {
        let mut params = send("work hang");
        params["configuration"] = json!({"returnImmediately": true});
        let task = call(&server, "SendMessage", params).await;
        call(&server, "CancelTask", json!({"id": task["task"]["id"]})).await;
    }
}
