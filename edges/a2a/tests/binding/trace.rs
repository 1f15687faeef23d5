//! The trace that a request belongs to reaches the agent (A2A-SEC-20).

use std::sync::{Arc, Mutex};

use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis::{Emitter, Prompt, Scope, TraceContext, agent_fn};
use portcullis_a2a::{
    binding::JsonRpc,
    model::{AgentCard, AgentInterface},
    server::{RequestContext, Server},
};
use serde_json::json;
use tower::ServiceExt;

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// What the agent finds in its scope.
async fn seen(headers: &[(&str, &str)]) -> Option<TraceContext> {
    let seen = Arc::<Mutex<Option<TraceContext>>>::default();
    let sees = Arc::clone(&seen);
    let agent = agent_fn(move |scope: Scope, _: Prompt, _: Emitter<_>| {
        let trace = scope.extensions().get::<TraceContext>().cloned();
        let request = scope.extensions().get::<RequestContext>().expect("an edge");
        assert_eq!(request.trace(), trace.as_ref());
        *sees.lock().unwrap() = trace;
        async { Ok::<_, portcullis::Failure>(()) }
    });
    let card = AgentCard::new("n", "d", AgentInterface::json_rpc("http://h/"));
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {
        "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "hi"}]}}});
    let mut request = Request::post("/")
        .header("content-type", "application/json")
        .header("a2a-version", "1.0");
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<bytes::Bytes>::from(body.to_string()));
    let service = JsonRpc::new(Server::agent(agent, card));
    let response = service.oneshot(request.unwrap()).await.unwrap();
    assert_eq!(response.status(), 200, "a trace never costs a turn");
    drop(response.into_body().collect().await.unwrap());
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
