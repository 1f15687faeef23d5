//! Where a request comes from reaches the limits in front of the agent, on every binding, and goes no
//! further (O-B08).

use std::net::IpAddr;

use bytes::Bytes;
use http::Request;
use http_body_util::Full;
use portcullis::{AgentEvent, Peer, Principal, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client, Transport},
    model::{
        AgentCard, ErrorKind, GetTaskRequest, Message, Part, SendMessageRequest,
        SendMessageResponse,
    },
    server::{RequestContext, Server},
};
use portcullis_layers::rate_limit::{Rate, RateLimitLayer};
use tower::{Layer, ServiceExt, service_fn};

const BINDINGS: [Binding; 3] = [Binding::JsonRpc, Binding::Rest, Binding::Grpc];

/// An agent that answers each caller once a minute, and says what it can see of them.
fn once_a_minute() -> OnePort {
    let agent = agent_fn(async |scope: Scope, _: Prompt, out| {
        let peer = scope.extensions().get::<Peer>().copied();
        let context = scope.extensions().get::<RequestContext>().expect("an edge");
        assert_eq!(context.peer(), peer);
        out.emit(AgentEvent::text(format!("{scope:?} {context:?}")))
            .await;
        Ok(())
    });
    let agent = RateLimitLayer::per_principal(Rate::per_minute(1).unwrap()).layer(agent);
    let card = AgentCard::of_interfaces("n", "d", Layout::new().interfaces("http://in.process"));
    OnePort::new(Server::agent(agent, card))
}

/// A host that knows where requests come from, or does not.
fn client(
    binding: Binding,
    service: &OnePort,
    peer: Option<&str>,
    who: Option<&str>,
) -> Client<impl Transport> {
    let url = match binding {
        Binding::Rest => "http://in.process/rest",
        _ => "http://in.process/",
    };
    let peer = peer.map(|peer| Peer::new(peer.parse::<IpAddr>().unwrap()));
    let who = who.map(|who| Principal::new("user", "issuer", who));
    let service = service.clone();
    let transport = service_fn(move |mut request: Request<Full<Bytes>>| {
        // What a caller says of itself is nothing.
        for name in ["x-forwarded-for", "forwarded", "x-real-ip"] {
            request
                .headers_mut()
                .insert(name, "192.0.2.99".parse().unwrap());
        }
        if let Some(peer) = peer {
            request.extensions_mut().insert(peer);
        }
        if let Some(who) = &who {
            request.extensions_mut().insert(who.clone());
        }
        service.clone().oneshot(request)
    });
    Client::over(binding, transport, url.parse().unwrap())
}

async fn ask(client: &Client<impl Transport>) -> Result<String, ErrorKind> {
    let message = SendMessageRequest::new(Message::user("m", [Part::text("hi")]));
    match client.send_message(&message).await {
        Ok(SendMessageResponse::Task(task)) => {
            let again = client
                .get_task(&GetTaskRequest::new(&*task.id))
                .await
                .unwrap();
            Ok(serde_json::to_string(&(task, again)).unwrap())
        }
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.as_refusal().expect("a refusal").kind()),
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_tells_callers_apart_by_where_they_call_from() {
    for binding in BINDINGS {
        let service = once_a_minute();
        let from = |peer| client(binding, &service, Some(peer), None);
        let shown = ask(&from("192.0.2.1")).await.unwrap();
        // The task and its answers have nothing of it.
        assert!(!shown.contains("192.0.2."), "{binding}: {shown}");
        assert_eq!(
            ask(&from("192.0.2.1")).await.unwrap_err(),
            ErrorKind::ResourceExhausted,
            "{binding}"
        );
        ask(&from("192.0.2.2")).await.unwrap();
        ask(&from("2001:db8::1")).await.unwrap();
        // Anybody has a whole /64.
        ask(&from("2001:db8::2")).await.unwrap_err();
        ask(&from("2001:db8:0:1::1")).await.unwrap();
        // Who is known is known anywhere.
        let ann = |peer| client(binding, &service, Some(peer), Some("ann"));
        ask(&ann("192.0.2.1")).await.unwrap();
        ask(&ann("192.0.2.3")).await.unwrap_err();
        ask(&from("192.0.2.3")).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn where_nobody_knows_all_are_one() {
    for binding in BINDINGS {
        let service = once_a_minute();
        ask(&client(binding, &service, None, None)).await.unwrap();
        ask(&client(binding, &service, None, None))
            .await
            .unwrap_err();
        ask(&client(binding, &service, Some("192.0.2.1"), None))
            .await
            .unwrap();
    }
}
