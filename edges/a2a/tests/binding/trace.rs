//! The trace that a request belongs to reaches the agent (A2A-SEC-20).

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Request};
use http_body_util::Full;
use portcullis::{Emitter, Prompt, Scope, TraceContext, agent_fn};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    client::{Binding, Client},
    model::{AgentCard, Message, Part, SendMessageRequest},
    server::{RequestContext, Server},
};
use tower::ServiceExt;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// What the agent finds in its scope, the same over every binding.
async fn seen(headers: &[(&str, &str)]) -> Option<TraceContext> {
    let mut all = Vec::new();
    for &binding in Binding::ALL {
        all.push(seen_over(binding, headers).await);
    }
    all.dedup();
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

async fn seen_over(binding: Binding, headers: &[(&str, &str)]) -> Option<TraceContext> {
    let seen = Arc::<Mutex<Option<TraceContext>>>::default();
    let sees = Arc::clone(&seen);
    let agent = agent_fn(move |scope: Scope, _: Prompt, _: Emitter<_>| {
        let trace = scope.extensions().get::<TraceContext>().cloned();
        let request = scope.extensions().get::<RequestContext>().expect("an edge");
        assert_eq!(request.trace(), trace.as_ref());
        *sees.lock().unwrap() = trace;
        async { Ok::<_, portcullis::Failure>(()) }
    });
    let interfaces = Layout::new().interfaces("http://in.process");
    let card = AgentCard::of_interfaces("n", "d", interfaces);
    let headers: Vec<(HeaderName, HeaderValue)> = headers
        .iter()
        .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
        .collect();
    let service = OnePort::new(Server::agent(agent, card));
    let service = service.map_request(move |mut request: Request<Full<Bytes>>| {
        for (name, value) in &headers {
            request.headers_mut().append(name, value.clone());
        }
        request
    });
    let url = if binding == Binding::Rest {
        "http://in.process/rest"
    } else {
        "http://in.process/"
    };
    let client = Client::over(binding, service, url.parse().unwrap());
    let request = SendMessageRequest::new(Message::user("m", [Part::text("hi")]));
    let answer = client.send_message(&request).await;
    answer.expect("a trace never costs a turn");
    seen.lock().unwrap().take()
}

#[tokio::test]
async fn the_trace_of_a_request_reaches_the_agent() {
    let trace = seen(&[
        ("traceparent", PARENT),
        ("tracestate", "congo=t61rcWkgMzE"),
        ("tracestate", "rojo=1"),
    ]);
    let trace = trace.await.expect("it is there");
    assert_eq!(trace.traceparent(), PARENT);
    assert_eq!(trace.tracestate(), Some("congo=t61rcWkgMzE,rojo=1"));
}

#[tokio::test]
async fn a_trace_that_is_none_is_left_out() {
    assert_eq!(seen(&[]).await, None);
    assert_eq!(seen(&[("traceparent", "00-0-0-01")]).await, None);
    assert_eq!(seen(&[("tracestate", "a=1")]).await, None);
    let two = [("traceparent", PARENT), ("traceparent", PARENT)];
    assert_eq!(seen(&two).await, None);
    let broken = [("traceparent", PARENT), ("tracestate", "no list")];
    assert_eq!(seen(&broken).await.expect("a parent").tracestate(), None);
}
