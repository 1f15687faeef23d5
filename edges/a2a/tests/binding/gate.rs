//! What an agent, or a layer before it, refuses without waiting: an operation error, and a status
//! that proxies and simple clients understand.

use std::time::Duration;

use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis::{Emitter, Failure, FailureCode, Prompt, Scope, agent_fn};
use portcullis_a2a::{
    binding::{Layout, OnePort},
    model::AgentCard,
    server::Server,
};
use serde_json::Value;
use tower::ServiceExt;

/// Fails with the code that the prompt names, with its details for the caller.
fn service() -> OnePort {
    let agent = agent_fn(
        async |_: Scope, prompt: Prompt, _: Emitter<_>| -> Result<(), Failure> {
            let code = FailureCode::new(prompt.as_text().to_owned());
            let failure = Failure::with_code(code, "not now").retryable(true);
            Err(failure.retry_after(Duration::from_millis(1_500)))
        },
    );
    let interfaces = Layout::new().interfaces("http://h");
    OnePort::new(Server::agent(
        agent,
        AgentCard::of_interfaces("n", "d", interfaces),
    ))
}

// A2A-SEC-14, A2A-SEC-17
#[tokio::test]
async fn refusals_have_a_status() {
    // A2A-RPC-11, A2A-RPC-35
    for (code, status) in [
        ("unauthenticated", 401),
        ("permission_denied", 403),
        ("rate_limited", 429),
        ("overloaded", 503),
        ("session_busy", 503),
        ("unavailable", 503),
    ] {
        for method in ["SendMessage", "SendStreamingMessage"] {
            let body = serde_json::json!({"jsonrpc": "2.0", "id": 5, "method": method, "params": {
                "message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": code}]}}});
            let request = Request::post("/")
                .header("content-type", "application/json")
                .header("a2a-version", "1.0")
                .body(Full::<bytes::Bytes>::from(body.to_string()))
                .unwrap();
            let response = service().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status, "{code}");
            let headers = response.headers().clone();
            assert_eq!(headers["content-type"], "application/json");
            assert_eq!(headers.contains_key("www-authenticate"), status == 401);
            // O-B09
            assert_eq!(headers["retry-after"], "2", "rounded up");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let reply: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(
                (&reply["id"], &reply["error"]["code"]),
                (&5.into(), &(-32000).into())
            );
        }
    }
}

#[tokio::test]
async fn refusals_have_their_status_over_http_json() {
    // A2A-REST-23, O-B09
    for (code, status, name) in [
        ("unauthenticated", 401, "UNAUTHENTICATED"),
        ("permission_denied", 403, "PERMISSION_DENIED"),
        ("rate_limited", 429, "RESOURCE_EXHAUSTED"),
        ("overloaded", 503, "UNAVAILABLE"),
        ("session_busy", 503, "UNAVAILABLE"),
        ("unavailable", 503, "UNAVAILABLE"),
    ] {
        for method in ["send", "stream"] {
            let body = serde_json::json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": code}]}});
            let request = Request::post(format!("/rest/message:{method}"))
                .header("a2a-version", "1.0")
                .body(Full::<bytes::Bytes>::from(body.to_string()))
                .unwrap();
            let response = service().oneshot(request).await.unwrap();
            assert_eq!(response.status(), status, "{code}");
            let headers = response.headers().clone();
            assert_eq!(headers["content-type"], "application/a2a+json");
            assert_eq!(headers.contains_key("www-authenticate"), status == 401);
            assert_eq!(headers["retry-after"], "2", "rounded up");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let reply: Value = serde_json::from_slice(&body).unwrap();
            let error = &reply["error"];
            assert_eq!(
                (&error["code"], &error["status"]),
                (&status.into(), &name.into())
            );
        }
    }
}
