//! Several agents on one port, over one log: who is called, and that none finds what is another's.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use portcullis::Emitter;
use portcullis_a2a::{
    binding::{Agents, Layout, OnePort},
    client::{Binding, CallError, Client, fetch_card},
    log::{Batch, MemoryLog, Owner, Seq, TaskKey, TaskLog, Update},
    model::{
        AgentCard, AgentExtension, Artifact, CancelTaskRequest, ErrorKind, GetTaskRequest,
        ListTasksRequest, Message, Part, SendMessageRequest, SendMessageResponse,
        SubscribeToTaskRequest, Task, TaskState, decode_response,
    },
    server::{Emission, RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};
use tower::ServiceExt;

const URL: &str = "https://agents.example.com";
const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::Rest, Binding::Grpc];
const NAMES: [&str; 3] = ["desk", "docs", "labs"];

fn layout(name: &str) -> Layout {
    match name {
        "desk" => Layout::new(),
        name => Layout::new().named(name),
    }
}

/// An agent that says its name and its session, and asks back.
fn agent(name: &'static str, log: &Arc<MemoryLog>) -> OnePort {
    let executor = executor_fn(
        move |ctx: RequestContext, out: Emitter<Emission>| async move {
            let said = format!("{name} in {}, tenant {:?}", ctx.session(), ctx.tenant());
            out.emit(ctx.artifact(Artifact::text("a", said))).await;
            out.emit(ctx.status(TaskState::InputRequired)).await;
        },
    );
    let mut card = AgentCard::of_interfaces(name, name, layout(name).interfaces(URL));
    let extension = AgentExtension::new(format!("urn:{name}"));
    card.capabilities.extensions.push(extension);
    let log: Arc<dyn TaskLog> = log.clone();
    let builder = Server::builder(executor, card).log(log);
    let server = match name {
        "desk" => builder.build(),
        name => builder.name(name).build(),
    };
    OnePort::with_layout(server, &layout(name))
}

/// The desk at the origin, the others beside it, one log for all.
fn agents(log: &Arc<MemoryLog>) -> Agents {
    Agents::new(agent("desk", log))
        .agent(agent("docs", log))
        .agent(agent("labs", log))
}

/// The client of an agent as its card says.
async fn client_of(agents: &Agents, name: &str, binding: Binding) -> Client<Agents> {
    let place = if name == "desk" {
        String::new()
    } else {
        format!("/{name}")
    };
    let card = fetch_card(agents, &format!("{URL}{place}")).await.unwrap();
    assert_eq!(card.name, name);
    Client::of_card_over(&[binding], agents.clone(), &card).unwrap()
}

/// The client of an agent at the addresses of the first one, by tenant.
fn client_by_tenant(agents: &Agents, name: &str, binding: Binding) -> Client<Agents> {
    let mut interface = layout("desk")
        .interfaces(URL)
        .into_iter()
        .find(|interface| interface.protocol_binding == binding.as_str())
        .unwrap();
    interface.tenant = name.to_owned();
    let card = AgentCard::new("n", "d", interface);
    Client::of_card_over(&[binding], agents.clone(), &card).unwrap()
}

async fn ask(client: &Client<Agents>) -> Result<Task, CallError> {
    let mut message = Message::user("m", [Part::text("hi")]);
    message.context_id = "the same".to_owned();
    match client
        .send_message(&SendMessageRequest::new(message))
        .await?
    {
        SendMessageResponse::Task(task) => Ok(task),
        other => panic!("{other:?}"),
    }
}

fn said(task: &Task) -> &str {
    task.artifacts[0].parts[0].as_text().unwrap()
}

/// Every way to each agent, and what it says there.
async fn all_ways(agents: &Agents) -> Vec<(&'static str, String, Client<Agents>)> {
    let mut ways = Vec::new();
    for name in NAMES {
        for binding in BINDINGS {
            let client = client_of(agents, name, binding).await;
            ways.push((name, format!("{name} over {binding}"), client));
            if name != "desk" {
                let client = client_by_tenant(agents, name, binding);
                ways.push((name, format!("{name} over {binding} by tenant"), client));
            }
        }
    }
    ways
}

/// A2A-CARD-4, A2A-CARD-11: what each card says is there, and is that agent.
#[tokio::test]
async fn each_is_where_its_card_says() {
    let agents = agents(&Arc::default());
    for (name, way, client) in all_ways(&agents).await {
        let task = ask(&client).await.unwrap();
        let said = said(&task);
        assert!(said.starts_with(name), "{way}: {said}");
        assert!(
            said.ends_with("tenant None"),
            "a name is no tenant: {way}: {said}"
        );
    }
}

#[tokio::test]
async fn an_agent_finds_its_tasks_on_every_way_and_no_others() {
    let agents = agents(&Arc::default());
    let ways = all_ways(&agents).await;
    for (owner, opened_by, client) in &ways {
        let id = ask(client).await.unwrap().id;
        for (name, way, client) in &ways {
            let get = client.get_task(&GetTaskRequest::new(&*id)).await;
            if name == owner {
                assert_eq!(get.unwrap().id, id, "{opened_by}, {way}");
                continue;
            }
            let absent = |error: CallError| {
                let kind = error.as_refusal().expect("a refusal").kind();
                assert_eq!(kind, ErrorKind::TaskNotFound, "{opened_by}, {way}");
            };
            absent(get.unwrap_err());
            absent(
                client
                    .cancel_task(&CancelTaskRequest::new(&*id))
                    .await
                    .unwrap_err(),
            );
            let subscribe = SubscribeToTaskRequest::new(&*id);
            absent(
                client
                    .subscribe_to_task(&subscribe, None)
                    .await
                    .expect_err("refused"),
            );
            let mut message = Message::user("m-2", [Part::text("more")]);
            message.task_id.clone_from(&id);
            absent(
                client
                    .send_message(&SendMessageRequest::new(message))
                    .await
                    .unwrap_err(),
            );
        }
    }
    for (name, way, client) in &ways {
        let mut list = ListTasksRequest::new();
        list.include_artifacts = Some(true);
        let listed = client.list_tasks(&list).await.unwrap();
        let opened = ways.iter().filter(|(owner, ..)| owner == name).count();
        assert_eq!(listed.tasks.len(), opened, "{way}");
        assert!(
            listed.tasks.iter().all(|task| said(task).starts_with(name)),
            "{way}"
        );
    }
}

/// One caller's conversation with one agent is none with another, whoever keeps the sessions.
#[tokio::test]
async fn sessions_are_apart() {
    let agents = agents(&Arc::default());
    let mut sessions = Vec::new();
    for (name, way, client) in all_ways(&agents).await {
        let task = ask(&client).await.unwrap();
        let session = said(&task).split([' ', ',']).nth(2).unwrap().to_owned();
        if name == "desk" {
            assert_eq!(session, "the", "ruling 18: the context itself: {way}");
        } else {
            assert!(session.starts_with("ctx:"), "{way}: {session}");
        }
        sessions.push((name, session));
    }
    sessions.sort();
    sessions.dedup();
    assert_eq!(
        sessions.len(),
        3,
        "one for each agent, on every way: {sessions:?}"
    );
}

async fn plain(
    agents: &Agents,
    request: http::request::Builder,
    body: &Value,
) -> (StatusCode, HeaderMap, String) {
    let body = Full::<Bytes>::from(body.to_string());
    let response = agents
        .clone()
        .oneshot(request.body(body).unwrap())
        .await
        .unwrap();
    let (head, body) = response.into_parts();
    let body = body.collect().await.unwrap().to_bytes();
    (
        head.status,
        head.headers,
        String::from_utf8(body.to_vec()).unwrap(),
    )
}

/// A2A-CARD-4, O-C03: each card at its place, with a tag of its own, whatever a request says of hosts.
#[tokio::test]
async fn each_has_a_card_of_its_own() {
    let agents = agents(&Arc::default());
    let mut tags = Vec::new();
    for (path, name) in [
        ("/.well-known/agent-card.json", "desk"),
        ("/rest/.well-known/agent-card.json", "desk"),
        ("/docs/.well-known/agent-card.json", "docs"),
        ("/docs/rest/.well-known/agent-card.json", "docs"),
        ("/labs/.well-known/agent-card.json", "labs"),
    ] {
        let request = Request::get(path)
            .header("host", "evil.example")
            .header("x-forwarded-host", "evil.example")
            .header("x-forwarded-prefix", "/evil");
        let (status, head, body) = plain(&agents, request, &Value::Null).await;
        assert_eq!(status, StatusCode::OK, "{path}");
        assert!(!body.contains("evil"), "{body}");
        let card: AgentCard = decode_response(&body).unwrap();
        assert_eq!(card.name, name, "{path}");
        let urls: Vec<_> = card
            .supported_interfaces
            .iter()
            .map(|it| &*it.url)
            .collect();
        let base = if name == "desk" {
            URL.to_owned()
        } else {
            format!("{URL}/{name}")
        };
        assert_eq!(
            urls,
            [&*base, &*format!("{base}/rest"), "agents.example.com:443"]
        );
        let tenant = if name == "desk" { "" } else { name };
        assert_eq!(card.supported_interfaces[2].tenant, tenant);

        let tag = head["etag"].clone();
        let again = Request::get(path).header("if-none-match", &tag);
        let (status, ..) = plain(&agents, again, &Value::Null).await;
        assert_eq!(status, StatusCode::NOT_MODIFIED, "{path}");
        tags.push((name, tag));
    }
    let (_, desk) = &tags[0];
    let other = Request::get("/docs/.well-known/agent-card.json").header("if-none-match", desk);
    let (status, ..) = plain(&agents, other, &Value::Null).await;
    assert_eq!(status, StatusCode::OK, "a tag of another agent's");
    let nowhere = Request::get("/docsx/.well-known/agent-card.json");
    let (status, ..) = plain(&agents, nowhere, &Value::Null).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

/// A2A-EXT-7, A2A-OP-10: extensions are those of the agent that answers, and a tenant that is nobody's
/// reaches nobody.
#[tokio::test]
async fn the_head_of_an_answer_is_of_the_agent_that_answers() {
    let agents = agents(&Arc::default());
    let call = |tenant: &str| {
        json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"tenant": tenant,
            "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}})
    };
    let post = |path: &str| {
        Request::post(path)
            .header("content-type", "application/json")
            .header("a2a-version", "1.0")
            .header("a2a-extensions", "urn:desk, urn:docs, urn:labs")
    };
    for (path, tenant, name) in [
        ("/", "", "desk"),
        ("/", "docs", "docs"),
        ("/docs", "", "docs"),
        ("/docs/", "docs", "docs"),
        ("/", "labs", "labs"),
        ("/rest/labs/message:send", "", "labs"),
        ("/labs/rest/message:send", "", "labs"),
    ] {
        let call = call(tenant);
        let body = if path.contains("rest") {
            &call["params"]
        } else {
            &call
        };
        let (status, head, body) = plain(&agents, post(path), body).await;
        assert_eq!(status, StatusCode::OK, "{path}: {body}");
        assert!(
            body.contains(&format!("{name} in")),
            "{path} {tenant}: {body}"
        );
        assert_eq!(
            head["a2a-extensions"],
            format!("urn:{name}"),
            "{path} {tenant}"
        );
    }
    for (path, tenant) in [
        ("/", "nobody"),
        ("/docs", "labs"),
        ("/docs", "desk"),
        ("/", "desk"),
    ] {
        let (_, _, body) = plain(&agents, post(path), &call(tenant)).await;
        assert!(
            body.contains("-32602") && body.contains("unknown tenant"),
            "{body}"
        );
    }
    // A tenant that only looks like a place in the log.
    let (_, _, body) = plain(&agents, post("/"), &call("\u{1f}docs\u{1f}")).await;
    assert!(body.contains("-32602"), "{body}");
}

/// A2A-OP-117: what a process left behind goes to the agent whose it was.
#[tokio::test]
async fn each_takes_up_what_is_its_own() {
    let log = Arc::new(MemoryLog::new());
    let key = |name: &str| {
        let owner = match name {
            "desk" => Owner::ANONYMOUS,
            name => Owner::ANONYMOUS.in_namespace(name),
        };
        TaskKey::new(owner, format!("t-{name}"))
    };
    for name in NAMES {
        let task: Task = decode_response(
            &json!({"id": format!("t-{name}"), "contextId": "c", "status": {"state": "TASK_STATE_SUBMITTED"},
                "history": [{"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}]})
            .to_string(),
        )
        .unwrap();
        let batch = Batch::new(key(name), Seq::ZERO).with(Update::Opened(task.into()));
        log.append(batch).await.unwrap();
    }
    let agents = agents(&log);
    assert_eq!(agents.get_ref().recover().await.unwrap(), 3);
    for name in NAMES {
        let task = loop {
            let snapshot = log.snapshot(&key(name)).await.unwrap().unwrap();
            if snapshot.task().status.state == TaskState::InputRequired {
                break snapshot.into_task();
            }
            tokio::task::yield_now().await;
        };
        assert!(said(&task).starts_with(name), "{}", said(&task));
        assert!(said(&task).ends_with("tenant None"), "{}", said(&task));
    }
}

#[test]
fn names_and_places_are_each_of_one() {
    let log = Arc::default();
    let panics = |build: &dyn Fn() -> Agents| {
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(build));
        let message = caught.expect_err("it panics");
        message.downcast_ref::<String>().cloned().or_else(|| {
            message
                .downcast_ref::<&str>()
                .map(|message| (*message).to_owned())
        })
    };
    let first = || Agents::new(agent("desk", &log));
    let docs_at =
        |layout: &Layout| OnePort::with_layout(agent("docs", &log).get_ref().clone(), layout);
    for (build, why) in [
        (
            &(|| {
                first()
                    .agent(agent("docs", &log))
                    .agent(agent("docs", &log))
            }) as &dyn Fn() -> Agents,
            "two agents are at /docs",
        ),
        (
            &|| {
                first()
                    .agent(agent("docs", &log))
                    .agent(docs_at(&Layout::new().below("/x")))
            },
            "two agents have the name \"docs\"",
        ),
        (
            &|| first().agent(docs_at(&Layout::new())),
            "the root is the first agent's",
        ),
        (
            &|| first().agent(docs_at(&Layout::new().below("/rest"))),
            "the first agent is at /rest too",
        ),
        (
            &|| {
                first().agent(OnePort::with_layout(
                    first().get_ref().clone(),
                    &Layout::new().below("/x"),
                ))
            },
            "an agent beside another one has a name",
        ),
    ] {
        assert_eq!(panics(build).as_deref(), Some(why));
    }
}
