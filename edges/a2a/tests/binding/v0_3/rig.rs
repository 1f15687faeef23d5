//! A server of both versions, with webhooks and a card for those who authenticate.

use std::convert::Infallible;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use portcullis::Principal;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    model::{AgentCard, AgentSkill, Artifact, TaskState},
    server::{
        Caller, RequestContext, SequentialIds, Server, StepClock, executor_fn,
        push::{HttpDelivery, Push},
    },
};
use serde_json::{Value, json};
use tower::{ServiceExt, service_fn};

pub(crate) struct Dual {
    pub(crate) service: OnePort,
    pub(crate) principal: Option<Principal>,
}

/// What comes back, and what the head says of it.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: http::HeaderMap,
    pub(crate) text: String,
}

impl Reply {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text)
            .unwrap_or_else(|error| panic!("{error}: {} {}", self.status, self.text))
    }

    /// The `data` of a stream.
    pub(crate) fn frames(&self) -> Vec<Value> {
        assert_eq!(
            self.headers["content-type"], "text/event-stream",
            "{}",
            self.text
        );
        let data = self
            .text
            .lines()
            .filter_map(|line| line.strip_prefix("data: "));
        data.map(|json| serde_json::from_str(json).unwrap())
            .collect()
    }
}

pub(crate) fn card() -> AgentCard {
    let layout = Layout::new().with_v0_3();
    let interfaces = layout.interfaces("https://agent.example.com");
    let mut card = AgentCard::of_interfaces("Echo", "Repeats.", interfaces);
    card.default_input_modes = vec!["*/*".to_owned()];
    card.capabilities.extended_agent_card = Some(true);
    card
}

/// Echoes parts; `who` answers who asks, `ask` asks, `login` waits for credentials, `hang` hangs.
pub(crate) fn dual() -> Dual {
    dual_of(card())
}

pub(crate) fn dual_of(card: AgentCard) -> Dual {
    let receiver = service_fn(async |_: Request<Full<Bytes>>| {
        Ok::<_, Infallible>(Response::new(Empty::<Bytes>::new()))
    });
    let executor = executor_fn(async |ctx: RequestContext, out| {
        let parts = ctx.message().parts.clone();
        let text = ctx.message().text();
        out.emit(ctx.status(TaskState::Working)).await;
        match &*text {
            "who" => {
                let who = ctx
                    .principal()
                    .map_or("nobody", |principal| principal.subject());
                let artifact = Artifact::text("a-1", who);
                out.emit(ctx.artifact(artifact)).await;
            }
            "ask" => {
                let question = ctx.status(TaskState::InputRequired).with_text("which?");
                out.emit(question).await;
                return;
            }
            "login" => {
                out.emit(ctx.status(TaskState::AuthRequired)).await;
                std::future::pending().await
            }
            "hang" => std::future::pending().await,
            _ => {
                let artifact = Artifact::new("a-1", parts);
                out.emit(ctx.artifact(artifact)).await;
            }
        }
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let mut extended = card.clone();
    extended
        .skills
        .push(AgentSkill::new("more", "More", "For friends."));
    let start = "2026-01-15T10:00:00Z".parse().unwrap();
    let server = Server::builder(executor, card)
        .ids(SequentialIds::new())
        .clock(StepClock::new(start, 100))
        .push(Push::new(HttpDelivery::new(receiver)))
        .extended_card(move |caller: &Caller| caller.principal().map(|_| extended.clone()))
        .build();
    Dual {
        service: OnePort::with_layout(server, &Layout::new()),
        principal: None,
    }
}

impl Dual {
    pub(crate) fn as_somebody(&self, subject: &str) -> Self {
        Self {
            service: self.service.clone(),
            principal: Some(Principal::new("user", "issuer", subject)),
        }
    }

    pub(crate) async fn send(
        &self,
        verb: &str,
        uri: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> Reply {
        let mut request = Request::builder().method(verb).uri(uri);
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(principal) = &self.principal {
            request = request.extension(principal.clone());
        }
        let request = request.body(Full::<Bytes>::from(body.to_owned())).unwrap();
        let response = self.service.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Reply {
            status: head.status.as_u16(),
            headers: head.headers,
            text: String::from_utf8(body.to_vec()).unwrap(),
        }
    }

    /// A call of JSON-RPC as a client of 0.3 makes it: without a version.
    pub(crate) async fn call(&self, method: &str, params: Value) -> Reply {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        self.send("POST", "/", &[], &call.to_string()).await
    }

    pub(crate) async fn result(&self, method: &str, params: Value) -> Value {
        let reply = self.call(method, params).await.json();
        assert!(reply.get("error").is_none(), "{method}: {reply:#}");
        reply["result"].clone()
    }

    pub(crate) async fn error(&self, method: &str, params: Value) -> Value {
        let reply = self.call(method, params).await.json();
        assert!(reply.get("result").is_none(), "{method}: {reply:#}");
        reply["error"].clone()
    }
}

/// A message of a client of JSON-RPC that is one text.
pub(crate) fn says(text: &str) -> Value {
    json!({"message": {
        "kind": "message", "messageId": "m-u1", "role": "user",
        "parts": [{"kind": "text", "text": text}]
    }})
}

/// The same over HTTP+JSON.
pub(crate) fn says_in_proto(text: &str) -> Value {
    json!({"message": {"messageId": "m-u1", "role": "ROLE_USER", "content": [{"text": text}]}})
}
