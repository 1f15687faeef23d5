//! The real layer for HTTP in front of the real bindings: who a task is of, and that nothing but
//! the layer says so.

mod grpc;

use std::convert::Infallible;

use bytes::Bytes;
use futures_util::future::join_all;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use portcullis::{AgentEvent, Principal, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    binding::{OnePort, ResponseBody},
    model::{AgentCard, AgentInterface, AgentSkill, Artifact, TaskState},
    server::{Caller, Operation, RequestContext, Server, executor_fn},
};
use portcullis_layers::auth::{
    ApiKeys, AuthLayer, Credentials, HttpAuth, HttpAuthLayer, Identity, NewApiKey,
};
use serde_json::{Value, json};
use tower::{Layer, ServiceBuilder, ServiceExt};

type Gate = HttpAuth<OnePort, ApiKeys>;

/// Somebody with a key.
struct Person {
    name: String,
    key: NewApiKey,
}

fn people<const N: usize>(names: [&str; N]) -> [Person; N] {
    names.map(|name| Person {
        name: name.to_owned(),
        key: NewApiKey::generate(name, ["agent"]).expect("words"),
    })
}

fn gate(server: Server, people: &[Person]) -> Gate {
    let lines: Vec<_> = people.iter().map(|person| person.key.line()).collect();
    let keys = ApiKeys::from_text(&lines.join("\n")).expect("lines as they are made");
    HttpAuthLayer::new(keys)
        .public("/.well-known/agent-card.json")
        .require_scopes(["agent"])
        .layer(OnePort::new(server))
}

fn card() -> AgentCard {
    let mut interface = AgentInterface::json_rpc("https://agent.example.com/");
    interface.tenant = "acme".to_owned();
    AgentCard::new("n", "d", interface)
}

/// Asks back, so that there is a task which every operation is about.
fn asks_back() -> Server {
    let executor = executor_fn(async |ctx: RequestContext, out| {
        out.emit(ctx.artifact(Artifact::text("a", "private"))).await;
        out.emit(ctx.status(TaskState::InputRequired)).await;
    });
    Server::builder(executor, card())
        .extended_card(|caller: &Caller| {
            let mut card = card();
            let name = caller.principal()?.subject().to_owned();
            card.skills.push(AgentSkill::new("for", name, "private"));
            Some(card)
        })
        .build()
}

/// Answers with who asks, in which tenant and session, and with what else it can see.
fn mirror() -> Server {
    let mirror = agent_fn(async |scope: Scope, _prompt: Prompt, out| {
        let principal = scope.principal().map_or("-", Principal::subject);
        let tenant = scope.tenant().unwrap_or("-");
        let rest = [
            scope.extensions().get::<Credentials>().is_some(),
            scope.extensions().get::<Identity>().is_some(),
        ];
        let shown = format!(
            "{principal} {tenant} {} {rest:?} {scope:?}",
            scope.session()
        );
        out.emit(AgentEvent::text(shown)).await;
        Ok(())
    });
    Server::agent_builder(mirror, card()).build()
}

struct Reply {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Reply {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.body))
    }

    fn challenge(&self) -> &str {
        self.headers["www-authenticate"].to_str().expect("a text")
    }
}

async fn send<S, B>(service: &S, request: Request<Full<Bytes>>) -> Reply
where
    S: tower::Service<Request<Full<Bytes>>, Response = http::Response<B>, Error = Infallible>
        + Clone,
    B: Body<Data = Bytes, Error = Infallible>,
{
    let response = service.clone().oneshot(request).await.expect("infallible");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("infallible").to_bytes();
    Reply {
        status: head.status,
        headers: head.headers,
        body: String::from_utf8(body.into()).expect("a text"),
    }
}

/// One of the two wires.
#[derive(Clone, Copy, Debug)]
enum Wire {
    JsonRpc,
    Rest,
}

const WIRES: [Wire; 2] = [Wire::JsonRpc, Wire::Rest];

impl Wire {
    fn request(self, operation: Operation, params: &Value) -> Request<Full<Bytes>> {
        let id = params["id"]
            .as_str()
            .or(params["taskId"].as_str())
            .unwrap_or_default();
        let (method, path, body) = match self {
            Self::JsonRpc => {
                let call = json!({"jsonrpc": "2.0", "id": 1, "method": operation.as_str(), "params": params});
                (Method::POST, "/".to_owned(), Some(call))
            }
            Self::Rest => {
                let (method, path, body) = match operation {
                    Operation::SendMessage => (Method::POST, "/message:send".to_owned(), true),
                    Operation::SendStreamingMessage => {
                        (Method::POST, "/message:stream".to_owned(), true)
                    }
                    Operation::GetTask => (Method::GET, format!("/tasks/{id}"), false),
                    Operation::ListTasks => (
                        Method::GET,
                        "/tasks?includeArtifacts=true".to_owned(),
                        false,
                    ),
                    Operation::CancelTask => (Method::POST, format!("/tasks/{id}:cancel"), true),
                    Operation::SubscribeToTask => {
                        (Method::POST, format!("/tasks/{id}:subscribe"), false)
                    }
                    Operation::CreateTaskPushNotificationConfig => (
                        Method::POST,
                        format!("/tasks/{id}/pushNotificationConfigs"),
                        true,
                    ),
                    Operation::GetTaskPushNotificationConfig => (
                        Method::GET,
                        format!("/tasks/{id}/pushNotificationConfigs/p"),
                        false,
                    ),
                    Operation::ListTaskPushNotificationConfigs => (
                        Method::GET,
                        format!("/tasks/{id}/pushNotificationConfigs"),
                        false,
                    ),
                    Operation::DeleteTaskPushNotificationConfig => (
                        Method::DELETE,
                        format!("/tasks/{id}/pushNotificationConfigs/p"),
                        false,
                    ),
                    Operation::GetExtendedAgentCard => {
                        (Method::GET, "/extendedAgentCard".to_owned(), false)
                    }
                };
                (method, format!("/rest{path}"), body.then(|| params.clone()))
            }
        };
        let mut request = Request::builder()
            .method(method)
            .uri(path)
            .header("a2a-version", "1.0");
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        let body = body.map_or_else(Bytes::new, |body| body.to_string().into());
        request.body(Full::from(body)).expect("a request")
    }
}

fn as_person(mut request: Request<Full<Bytes>>, person: &Person) -> Request<Full<Bytes>> {
    let bearer = format!("Bearer {}", person.key.reveal())
        .parse()
        .expect("a value");
    request.headers_mut().insert("authorization", bearer);
    request
}

/// How a stranger tries an operation on somebody's task. A new operation does not compile until
/// it stands here and above.
fn attempt(operation: Operation, id: &str) -> Value {
    let message = json!({"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]});
    match operation {
        Operation::SendMessage | Operation::SendStreamingMessage => {
            let mut follow_up = json!({"message": message});
            follow_up["message"]["taskId"] = json!(id);
            follow_up
        }
        Operation::GetTask | Operation::CancelTask | Operation::SubscribeToTask => {
            json!({"id": id})
        }
        Operation::ListTasks => json!({"includeArtifacts": true}),
        Operation::CreateTaskPushNotificationConfig => {
            json!({"taskId": id, "url": "https://example.com/"})
        }
        Operation::GetTaskPushNotificationConfig | Operation::DeleteTaskPushNotificationConfig => {
            json!({"taskId": id, "id": "p"})
        }
        Operation::ListTaskPushNotificationConfigs => json!({"taskId": id}),
        Operation::GetExtendedAgentCard => json!({}),
    }
}

fn first_message() -> Value {
    json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}})
}

async fn open_task(gate: &Gate, person: &Person) -> String {
    let request = Wire::JsonRpc.request(Operation::SendMessage, &first_message());
    let reply = send(gate, as_person(request, person)).await.json();
    reply["result"]["task"]["id"]
        .as_str()
        .unwrap_or_else(|| panic!("{reply}"))
        .to_owned()
}

// O-A01, O-A02, O-A04: over the wire, with keys that are both good.
#[tokio::test]
async fn the_holder_of_another_key_finds_nothing() {
    let people = people(["alice", "bob"]);
    let [alice, bob] = &people;
    let gate = gate(asks_back(), &people);
    let id = open_task(&gate, alice).await;
    for wire in WIRES {
        for operation in Operation::ALL {
            let ask = async |person: &Person, id: &str| {
                let request = wire.request(operation, &attempt(operation, id));
                let reply = send(&gate, as_person(request, person)).await;
                (reply.status, reply.body.replace(id, "ID"))
            };
            // What is somebody else's, and what does not exist, are the same.
            let theirs = ask(bob, &id).await;
            assert_eq!(theirs, ask(bob, "absent").await, "{wire:?} {operation:?}");
            assert!(
                !theirs.1.contains("alice"),
                "{wire:?} {operation:?}: {theirs:?}"
            );
            if operation == Operation::GetExtendedAgentCard {
                assert!(theirs.1.contains("bob"), "{theirs:?}");
            } else {
                assert!(
                    !theirs.1.contains("private"),
                    "{wire:?} {operation:?}: {theirs:?}"
                );
            }
        }
        // It is as it was, and its owner has it.
        for operation in [
            Operation::GetTask,
            Operation::ListTasks,
            Operation::GetExtendedAgentCard,
        ] {
            let request = wire.request(operation, &attempt(operation, &id));
            let reply = send(&gate, as_person(request, alice)).await;
            assert_eq!(reply.status, StatusCode::OK, "{}", reply.body);
            assert!(
                reply.body.contains("private"),
                "{wire:?} {operation:?}: {}",
                reply.body
            );
        }
        let request = wire.request(Operation::GetTask, &attempt(Operation::GetTask, &id));
        let body = send(&gate, as_person(request, alice)).await.body;
        assert!(body.contains("TASK_STATE_INPUT_REQUIRED"), "{body}");
    }
}

// A2A-OP-107, A2A-OP-108, A2A-CARD-9: a tag is of one caller's card, and no shared cache keeps it.
#[tokio::test]
async fn the_extended_card_is_cached_for_nobody_else() {
    let people = people(["ann", "ben"]);
    let gate = gate(asks_back(), &people);
    let get = async |person: &Person, tag: Option<&str>| {
        let mut request = Wire::Rest.request(Operation::GetExtendedAgentCard, &json!({}));
        if let Some(tag) = tag {
            let tag = tag.parse().expect("a value");
            request.headers_mut().insert("if-none-match", tag);
        }
        send(&gate, as_person(request, person)).await
    };
    let [ann, ben] = &people;
    let mut tags = Vec::new();
    for person in [ann, ben] {
        let reply = get(person, None).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert_eq!(reply.headers["cache-control"], "private, no-cache");
        assert_eq!(reply.headers["vary"], "accept, authorization");
        assert_eq!(reply.json()["skills"][1]["name"], *person.name);
        tags.push(reply.headers["etag"].to_str().expect("a text").to_owned());
    }
    assert_ne!(tags[0], tags[1]);

    let again = get(ann, Some(&tags[0])).await;
    assert_eq!(again.status, StatusCode::NOT_MODIFIED);
    assert_eq!(again.body, "");
    assert_eq!(again.headers["etag"], *tags[0]);
    assert_eq!(again.headers["cache-control"], "private, no-cache");
    let other = get(ben, Some(&tags[0])).await;
    assert_eq!(other.status, StatusCode::OK, "a tag of somebody else's");
    assert_eq!(other.json()["skills"][1]["name"], "ben");
}

/// A signature of ES256 is another one each time; the card is the same as long as nothing else of it
/// changes.
#[cfg(feature = "sign")]
#[tokio::test]
async fn a_card_that_is_signed_anew_is_not_a_new_card() {
    use portcullis_a2a::signing::CardSigner;
    use ring::{
        rand::SystemRandom,
        signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
    };

    let pkcs8 =
        EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new())
            .expect("random numbers");
    let people = people(["ann"]);
    let [ann] = &people;
    let signed_by = |key: &str| {
        let signer = CardSigner::es256(key, pkcs8.as_ref()).expect("a key");
        let server = Server::builder(executor_fn(async |_ctx: RequestContext, _out| {}), card())
            .extended_card(|_: &Caller| Some(card()))
            .sign_cards(signer);
        gate(server.build(), &people)
    };
    let get = async |gate: &Gate, tag: &str| {
        let mut request = Wire::Rest.request(Operation::GetExtendedAgentCard, &json!({}));
        let tag = tag.parse().expect("a value");
        request.headers_mut().insert("if-none-match", tag);
        send(gate, as_person(request, ann)).await
    };
    let old = signed_by("2025");
    let first = get(&old, "\"x\"").await;
    let tag = first.headers["etag"].to_str().expect("a text");
    assert!(tag.starts_with("W/"), "the bytes differ each time: {tag}");
    assert_ne!(first.body, get(&old, "\"x\"").await.body);
    assert_eq!(get(&old, tag).await.status, StatusCode::NOT_MODIFIED);
    // Another key is told: nobody believes the old one for ever.
    assert_eq!(get(&signed_by("2026"), tag).await.status, StatusCode::OK);
}

// A2A-OP-1, A2A-OP-2, A2A-SEC-4, O-A04, A2A-SEC-1, A2A-RPC-35, A2A-REST-23: nobody gets no further
// than the card.
#[tokio::test]
async fn nobody_gets_the_card_and_a_challenge() {
    let people = people(["alice"]);
    let [alice] = &people;
    let gate = gate(asks_back(), &people);
    let id = open_task(&gate, alice).await;
    for wire in WIRES {
        for operation in Operation::ALL {
            for id in [&*id, "absent"] {
                let request = wire.request(operation, &attempt(operation, id));
                let reply = send(&gate, request).await;
                assert_eq!(
                    reply.status,
                    StatusCode::UNAUTHORIZED,
                    "{wire:?} {operation:?}"
                );
                assert_eq!(reply.challenge(), r#"Bearer realm="portcullis""#);
                assert!(!reply.body.contains(id), "{}", reply.body);
            }
        }
    }
    // What is wrong otherwise is not told to nobody either (A2A-OP-11).
    for request in [
        Request::post("/").body(Full::from("{")),
        Request::post("/nowhere").body(Full::default()),
        Request::put("/").body(Full::default()),
    ] {
        let reply = send(&gate, request.expect("a request")).await;
        assert_eq!(reply.status, StatusCode::UNAUTHORIZED);
    }
    let public = Request::get("/.well-known/agent-card.json").body(Full::default());
    let reply = send(&gate, public.expect("a request")).await;
    assert_eq!(reply.status, StatusCode::OK);
    assert_eq!(reply.json()["name"], "n");
}

/// What the agent saw of whoever asks.
async fn reflection(gate: &Gate, wire: Wire, request: Request<Full<Bytes>>) -> String {
    let reply = send(gate, request).await;
    let json = reply.json();
    let task = match wire {
        Wire::JsonRpc => &json["result"]["task"],
        Wire::Rest => &json["task"],
    };
    let text = task["artifacts"][0]["parts"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{}", reply.body)).to_owned()
}

// A2A-OP-110, A2A-OP-114, O-A05, A2A-SEC-2, critique B15.
#[tokio::test]
async fn nothing_in_a_request_names_a_principal() {
    let people = people(["alice"]);
    let [alice] = &people;
    let gate = gate(mirror(), &people);
    let root = json!({"kind": "user", "issuer": "api-keys", "subject": "root", "type": "user"});
    let mut claims = first_message();
    for place in ["principal", "user", "scope"] {
        claims[place] = root.clone();
        claims["metadata"][place] = root.clone();
        claims["message"]["metadata"][place] = root.clone();
        claims["message"][place] = root.clone();
    }
    for wire in WIRES {
        let request = || {
            let mut request = wire.request(Operation::SendMessage, &claims);
            for name in [
                "x-principal",
                "x-user",
                "x-forwarded-user",
                "a2a-principal",
                "from",
            ] {
                request
                    .headers_mut()
                    .insert(name, "root".parse().expect("a value"));
            }
            // As somebody in front may have left it behind.
            request
                .extensions_mut()
                .insert(Principal::new("user", "api-keys", "root"));
            request
        };
        assert_eq!(
            send(&gate, request()).await.status,
            StatusCode::UNAUTHORIZED
        );
        let shown = reflection(&gate, wire, as_person(request(), alice)).await;
        assert!(shown.starts_with("alice - ctx:"), "{shown}");
        assert!(!shown.contains("root"), "{shown}");
        // Neither the credentials nor what else is known of them got in.
        assert!(shown.contains("[false, false]"), "{shown}");
        assert!(!shown.contains(alice.key.reveal()), "{shown}");
    }
}

// O-A05: with and without what makes a context be built anew on the way.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn over_http_a_hundred_callers_each_see_themselves() {
    let names: Vec<String> = (0..100).map(|n| format!("user-{n}")).collect();
    let people: Vec<Person> = names
        .iter()
        .map(|name| people([name]).into_iter().next().expect("one"))
        .collect();
    let gate = gate(mirror(), &people);
    let mut sessions = Vec::new();
    let calls = people.iter().enumerate().map(|(n, person)| {
        let gate = gate.clone();
        async move {
            let wire = WIRES[n % 2];
            let mut params = first_message();
            params["message"]["contextId"] = json!("the same for all");
            let mut request = wire.request(Operation::SendMessage, &params);
            if n % 3 == 0 {
                let uri = "https://example.com/an-extension";
                request
                    .headers_mut()
                    .insert("a2a-extensions", uri.parse().expect("a value"));
            }
            let shown = reflection(&gate, wire, as_person(request, person)).await;
            let words: Vec<_> = shown.split(' ').collect();
            assert_eq!(words[0], person.name);
            words[2].to_owned()
        }
    });
    sessions.extend(join_all(calls).await);
    sessions.sort();
    sessions.dedup();
    assert_eq!(sessions.len(), 100, "nobody shares a session");
}

// O-A06: the tenant is a part of what one asks for, and a key is no way around it.
#[tokio::test]
async fn a_key_opens_no_other_tenant() {
    let people = people(["alice", "bob"]);
    let [alice, bob] = &people;
    let gate = gate(asks_back(), &people);
    let in_tenant = |mut params: Value, tenant: &str| {
        params["tenant"] = json!(tenant);
        params
    };
    let request =
        Wire::JsonRpc.request(Operation::SendMessage, &in_tenant(first_message(), "acme"));
    let reply = send(&gate, as_person(request, alice)).await.json();
    let id = reply["result"]["task"]["id"]
        .as_str()
        .expect("a task")
        .to_owned();
    let get = async |person: &Person, tenant: &str| {
        let params = json!({"id": id});
        let params = if tenant.is_empty() {
            params
        } else {
            in_tenant(params, tenant)
        };
        let request = Wire::JsonRpc.request(Operation::GetTask, &params);
        let of_rpc = send(&gate, as_person(request, person)).await.json();
        let slash = if tenant.is_empty() { "" } else { "/" };
        let path = format!("/rest/{tenant}{slash}tasks/{id}");
        let request = Request::get(path)
            .header("a2a-version", "1.0")
            .body(Full::default());
        let of_rest = send(&gate, as_person(request.expect("a request"), person)).await;
        let found = of_rpc["result"]["id"] == json!(id);
        assert_eq!(
            found,
            of_rest.status == StatusCode::OK,
            "{of_rpc} {}",
            of_rest.body
        );
        if !found {
            assert_eq!(of_rpc["error"]["code"], -32001, "{of_rpc}");
            assert_eq!(of_rest.status, StatusCode::NOT_FOUND);
        }
        found
    };
    assert!(get(alice, "acme").await);
    for (person, tenant) in [(alice, ""), (alice, "other"), (bob, "acme"), (bob, "")] {
        assert!(!get(person, tenant).await, "{} in {tenant:?}", person.name);
    }
}

/// The agent's own layer, behind an edge that nothing guards: a refusal is the operation's, and
/// no task is left behind.
#[tokio::test]
async fn an_agent_that_demands_a_principal_is_never_reached_without() {
    let engine = agent_fn(async |_: Scope, _: Prompt, out| {
        out.emit(AgentEvent::text("private")).await;
        Ok(())
    });
    let agent = ServiceBuilder::new()
        .layer(
            AuthLayer::demand().authorize_if(|who: &Identity, _: &Scope, prompt: &Prompt| {
                prompt.as_text() == "hi" && who.principal().subject() == "alice"
            }),
        )
        .service(engine);
    let server = Server::agent_builder(agent, card()).build();
    let people = people(["alice", "bob"]);
    let [alice, bob] = &people;
    let gate = gate(server.clone(), &people);
    let open = OnePort::new(server);
    for wire in WIRES {
        let request = || wire.request(Operation::SendMessage, &first_message());
        let reply = send::<_, ResponseBody>(&open, request()).await;
        assert_eq!(
            reply.status,
            StatusCode::UNAUTHORIZED,
            "{wire:?}: {}",
            reply.body
        );
        assert_eq!(reply.challenge(), "Bearer");
        let list =
            send::<_, ResponseBody>(&open, wire.request(Operation::ListTasks, &json!({}))).await;
        assert!(
            !list.body.contains("private") && list.body.contains("\"totalSize\":0"),
            "{}",
            list.body
        );
        let reply = send(&gate, as_person(request(), bob)).await;
        assert_eq!(
            reply.status,
            StatusCode::FORBIDDEN,
            "{wire:?}: {}",
            reply.body
        );
        let reply = send(&gate, as_person(request(), alice)).await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(reply.body.contains("private"));
    }
}

/// Over sockets, with a body that is no test's.
#[tokio::test]
async fn over_a_socket_too() {
    let people = people(["alice"]);
    let [alice] = &people;
    let listener = portcullis_net::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let served = portcullis_net::Server::new().serve(
        listener,
        gate(mirror(), &people),
        std::future::pending(),
    );
    let client = portcullis_net::HttpClient::<_, Full<Bytes>>::new();
    let asks = async {
        let params = first_message();
        for (person, status) in [
            (None, StatusCode::UNAUTHORIZED),
            (Some(alice), StatusCode::OK),
        ] {
            let mut request = Wire::JsonRpc.request(Operation::SendMessage, &params);
            *request.uri_mut() = format!("http://{address}/").parse().expect("an address");
            if let Some(person) = person {
                request = as_person(request, person);
            }
            let response = client.clone().oneshot(request).await.expect("answered");
            assert_eq!(response.status(), status);
            let body = response
                .into_body()
                .collect()
                .await
                .expect("bytes")
                .to_bytes();
            let body = String::from_utf8(body.into()).expect("a text");
            assert_eq!(body.contains("alice - ctx:"), person.is_some(), "{body}");
        }
    };
    tokio::select! {
        _ = served => panic!("it serves for ever"),
        () = asks => {}
    }
}
