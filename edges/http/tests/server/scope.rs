use std::{collections::HashSet, time::Duration};

use portcullis::{Peer, Principal, Scope, TraceContext};
use portcullis_http::server::TurnService;
use serde_json::json;

use crate::support::*;

fn body(scope: &str) -> String {
    format!(r#"{{"scope":{scope},"prompt":{{"text":"p"}}}}"#)
}

async fn seen(service: &TurnService, request: http::Request<http_body_util::Full<bytes::Bytes>>) {
    let read = exchange(service, request).await;
    assert_eq!(read.status, 200, "{read:?}");
}

/// Critique B15: a body is no privilege.
#[tokio::test(start_paused = true)]
async fn a_body_gives_nobody_a_name_or_a_right() {
    let (agent, scopes) = shows_scope();
    let service = TurnService::new(agent);
    let scope = r#"{"session":"s","principal":{"kind":"user","issuer":"i","subject":"root"},"tenant":"t","constraints":{"grant":1e400}}"#;
    let request = r#","principal":"root","tenant":"t"}"#;
    let body = body(scope);
    let body = format!("{}{request}", &body[..body.len() - 1]);
    seen(&service, post(SSE, body)).await;
    let scope = scopes.lock().unwrap().pop().unwrap();
    assert_eq!(scope.principal(), None);
    assert_eq!(scope.tenant(), None);
    assert_eq!(scope.session(), "s");
    // What nobody knows is kept.
    assert_eq!(scope.constraints_extra().text("grant"), Some("1e400"));
    assert_eq!(scope.extra().text("tenant"), Some(r#""t""#));
}

#[tokio::test(start_paused = true)]
async fn what_a_caller_may_say_arrives() {
    let (agent, scopes) = shows_scope();
    let service = TurnService::new(agent);
    let scope = r#"{"session":"s","source":"cron","constraints":{"deadlineMs":90000},"outputSchema":{"b":1.50,"a":2},"x":1.0}"#;
    let mut request = post(SSE, body(scope));
    let headers = request.headers_mut();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    headers.insert("traceparent", parent.parse().unwrap());
    headers.append("tracestate", "a=1".parse().unwrap());
    headers.append("tracestate", "b=2".parse().unwrap());
    let now = tokio::time::Instant::now().into_std();
    seen(&service, request).await;
    let seen = scopes.lock().unwrap().pop().unwrap();
    assert_eq!(seen.to_json_at(now), scope);
    let trace = seen.extensions().get::<TraceContext>().unwrap();
    assert_eq!(trace.traceparent(), parent);
    assert_eq!(trace.tracestate(), Some("a=1,b=2"));
}

/// The limits find it there.
#[tokio::test(start_paused = true)]
async fn the_address_of_the_caller_arrives() {
    let (agent, scopes) = shows_scope();
    let service = TurnService::new(agent);
    let address: std::net::IpAddr = "203.0.113.7".parse().unwrap();
    let mut request = post(SSE, asking("p"));
    request.extensions_mut().insert(Peer::new(address));
    seen(&service, request).await;
    let scope = scopes.lock().unwrap().pop().unwrap();
    assert_eq!(scope.extensions().get::<Peer>(), Some(&Peer::new(address)));
}

/// Two parents are none.
#[tokio::test(start_paused = true)]
async fn a_trace_that_is_none_is_left_out() {
    let (agent, scopes) = shows_scope();
    let service = TurnService::new(agent);
    for parents in [
        &["nonsense"][..],
        &["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"; 2],
    ] {
        let mut request = post(SSE, asking("p"));
        for parent in parents {
            request
                .headers_mut()
                .append("traceparent", parent.parse().unwrap());
        }
        seen(&service, request).await;
        let scope = scopes.lock().unwrap().pop().unwrap();
        assert!(scope.extensions().get::<TraceContext>().is_none());
    }
}

/// O-A01: the same name of another owner is another session.
#[tokio::test(start_paused = true)]
async fn sessions_belong_to_tenant_and_owner() {
    #[derive(Clone)]
    struct Tenant(&'static str);

    let (agent, scopes) = shows_scope();
    let service = TurnService::new(agent).scope_with(|head, scope| {
        if let Some(Tenant(name)) = head.extensions.get() {
            *scope = scope.clone().with_tenant(*name);
        }
    });
    let principals = [
        None,
        Some(Principal::new("user", "i", "ann")),
        Some(Principal::new("user", "i", "bob")),
        Some(Principal::new("user", "j", "ann")),
        Some(Principal::new("service", "i", "ann")),
    ];
    let mut sessions = HashSet::new();
    for tenant in [None, Some("t"), Some("u")] {
        for principal in &principals {
            let ask = async |name: &str| {
                let mut request = post(SSE, body(&json!({"session": name}).to_string()));
                let extensions = request.extensions_mut();
                extensions.extend(
                    principal
                        .clone()
                        .map(|principal| {
                            let mut one = http::Extensions::new();
                            one.insert(principal);
                            one
                        })
                        .unwrap_or_default(),
                );
                if let Some(tenant) = tenant {
                    extensions.insert(Tenant(tenant));
                }
                seen(&service, request).await;
                let scope = scopes.lock().unwrap().pop().unwrap();
                assert_eq!(scope.principal(), principal.as_ref());
                assert_eq!(scope.tenant(), tenant);
                scope.session().to_owned()
            };
            let session = ask("s").await;
            assert_eq!(session, ask("s").await, "a conversation goes on");
            assert_eq!(session == "s", tenant.is_none() && principal.is_none());
            // Who names somebody's key gets one of its own.
            let named = ask(&session).await;
            assert_eq!(named == session, session == "s");
            assert!(sessions.insert(session));
        }
    }
    assert_eq!(sessions.len(), 15);
}

/// An empty tenant is no tenant.
#[tokio::test(start_paused = true)]
async fn an_empty_tenant_is_none() {
    let (agent, scopes) = shows_scope();
    let service =
        TurnService::new(agent).scope_with(|_, scope| *scope = scope.clone().with_tenant(""));
    seen(&service, post(SSE, asking("p"))).await;
    assert_eq!(scopes.lock().unwrap()[0].session(), "s");
}

/// A deadline only comes nearer, whoever sets one.
#[tokio::test(start_paused = true)]
async fn a_deadline_only_shrinks() {
    let after = |seconds: Option<u64>| {
        move |_: &http::request::Parts, scope: &mut Scope| {
            let now = tokio::time::Instant::now().into_std();
            scope.set_deadline(seconds.map(|seconds| now + Duration::from_secs(seconds)));
        }
    };
    for (said, host, limit, expected) in [
        (None, None, None, None),
        (Some(30), None, None, Some(30)),
        (Some(30), Some(20), None, Some(20)),
        (Some(30), Some(40), None, Some(30)),
        (Some(30), Some(40), Some(10), Some(10)),
        (None, Some(40), Some(50), Some(40)),
        (None, None, Some(50), Some(50)),
    ] {
        let (agent, scopes) = shows_scope();
        let mut service = TurnService::new(agent).scope_with(after(host));
        if let Some(limit) = limit {
            service = service.turn_limit(Duration::from_secs(limit));
        }
        let scope = match said {
            Some(seconds) => {
                format!(r#"{{"session":"s","constraints":{{"deadlineMs":{seconds}000}}}}"#)
            }
            None => r#"{"session":"s"}"#.to_owned(),
        };
        let now = tokio::time::Instant::now().into_std();
        seen(&service, post(SSE, body(&scope))).await;
        let deadline = scopes.lock().unwrap()[0].deadline();
        let left = deadline.map(|deadline| (deadline - now).as_secs());
        assert_eq!(left, expected, "{said:?} {host:?} {limit:?}");
    }
}
