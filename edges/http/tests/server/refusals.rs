use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request};
use http_body_util::Full;
use portcullis::{AgentEvent, Failure, FailureCode};
use serde_json::json;

use crate::support::*;

#[tokio::test(start_paused = true)]
async fn a_refusal_is_a_status_and_problem_details() {
    let failure = Failure::with_code(FailureCode::RATE_LIMITED, "slow down")
        .retryable(true)
        .retry_after(Duration::from_millis(1500));
    for accept in [SSE, LINES] {
        let read = exchange(&fails(failure.clone()), post(accept, asking("p"))).await;
        assert_eq!(read.status, 429);
        assert_eq!(read.header("content-type"), "application/problem+json");
        assert_eq!(read.header("retry-after"), "2");
        assert_eq!(read.header("cache-control"), "no-store");
        let length = read.body.len().to_string();
        assert_eq!(read.header("content-length"), length);
        let problem = read.json();
        assert_eq!(problem["title"], "Too Many Requests");
        assert_eq!(problem["status"], 429);
        assert_eq!(problem["detail"], "slow down");
        let event = AgentEvent::from(failure.clone()).to_json();
        assert!(
            read.body.contains(&format!("\"event\":{event}")),
            "{read:?}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn each_code_has_its_status() {
    for (code, status) in [
        ("invalid_prompt", 422),
        ("unauthenticated", 401),
        ("permission_denied", 403),
        ("budget_exceeded", 402),
        ("session_busy", 409),
        ("aborted", 409),
        ("rate_limited", 429),
        ("overloaded", 503),
        ("unavailable", 503),
        ("timeout", 504),
        ("invalid_output", 502),
        ("contract_violation", 502),
        ("internal", 500),
        ("no_such_city", 200),
    ] {
        let failure = Failure::with_code(FailureCode::new(code), "no");
        let read = exchange(&fails(failure), post(LINES, asking("p"))).await;
        assert_eq!(read.status, status, "{code}");
        assert_eq!(read.headers.contains_key("www-authenticate"), status == 401);
        assert!(
            read.body.contains(&format!("\"code\":\"{code}\"")),
            "{read:?}"
        );
    }
    let read = exchange(&fails(Failure::new("no")), post(LINES, asking("p"))).await;
    assert_eq!(read.status, 200);
    assert_eq!(
        read.body,
        "{\"type\":\"failed\",\"details\":\"no\",\"retryable\":false}\n"
    );
}

/// Ruling 9.
#[tokio::test(start_paused = true)]
async fn what_is_internal_stays_here() {
    let failure = Failure::with_code(FailureCode::INTERNAL, "hunter2").caused_by("hunter3");
    let read = exchange(&fails(failure), post(SSE, asking("p"))).await;
    assert_eq!(read.status, 500);
    assert!(!read.body.contains("hunter"), "{read:?}");
    assert!(read.body.contains("Reference: "));
}

/// After something was shown, a failure is an event.
#[tokio::test(start_paused = true)]
async fn a_later_failure_is_an_event() {
    let service = emits([
        r#"{"type":"usage","id":"1"}"#,
        r#"{"type":"failed","details":"no","retryable":true,"code":"overloaded"}"#,
    ]);
    let read = exchange(&service, post(SSE, asking("p"))).await;
    assert_eq!(read.status, 200);
    assert!(
        read.body.contains("id: 2\ndata: {\"type\":\"failed\""),
        "{read:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_none() {
    let service = emits([]);
    let well = || post(SSE, asking("p"));
    let with = |name: &'static str, value: &'static str| {
        let mut request = well();
        request.headers_mut().insert(name, value.parse().unwrap());
        request
    };
    let of_body = |body: &str| post(SSE, body.to_owned());
    let of_method = |method| {
        let mut request = well();
        *request.method_mut() = method;
        request
    };
    let no_type = {
        let mut request = well();
        request.headers_mut().remove("content-type");
        request
    };
    let cases: Vec<(Request<Full<Bytes>>, u16)> = vec![
        (of_method(Method::GET), 405),
        (of_method(Method::PUT), 405),
        (with("accept", "application/json"), 406),
        (no_type, 415),
        (with("content-type", "text/plain"), 415),
        (
            with("content-type", "application/x-www-form-urlencoded"),
            415,
        ),
        (of_body(""), 400),
        (of_body("[]"), 400),
        (of_body("{}"), 400),
        (of_body(r#"{"scope":{"session":"s"}}"#), 400),
        (of_body(r#"{"prompt":{"text":"p"}}"#), 400),
        (of_body(r#"{"scope":null,"prompt":{"text":"p"}}"#), 400),
        (of_body(r#"{"scope":{},"prompt":{"text":"p"}}"#), 400),
        (of_body(r#"{"scope":{"session":"s"},"prompt":"p"}"#), 400),
        (
            of_body(r#"{"scope":{"session":"s"},"prompt":{"text":"p"}} x"#),
            400,
        ),
        (
            of_body(
                r#"{"scope":{"session":"s"},"prompt":{"text":"p"},"sc\u006fpe":{"session":"t"}}"#,
            ),
            400,
        ),
        (
            of_body(r#"{"scope":{"session":"s","sessio\u006e":"t"},"prompt":{"text":"p"}}"#),
            400,
        ),
        (
            of_body(
                r#"{"scope":{"session":"s","constraints":{"deadlineMs":-1}},"prompt":{"text":"p"}}"#,
            ),
            400,
        ),
        (
            of_body(
                &json!({"scope": {"session": "s".repeat(1025)}, "prompt": {"text": "p"}})
                    .to_string(),
            ),
            400,
        ),
        (
            post(
                SSE,
                &b"{\"x\":\"\xff\",\"scope\":{\"session\":\"s\"},\"prompt\":{\"text\":\"p\"}}"[..],
            ),
            400,
        ),
        (
            post(
                SSE,
                &b"{\"scope\":{\"session\":\"\xff\"},\"prompt\":{\"text\":\"p\"}}"[..],
            ),
            400,
        ),
    ];
    for (request, status) in cases {
        let shown = format!("{request:?}");
        let read = exchange(&service, request).await;
        assert_eq!(read.status, status, "{shown}: {read:?}");
        assert_eq!(read.header("content-type"), "application/problem+json");
        assert_eq!(
            read.header("allow"),
            if status == 405 { "POST" } else { "" }
        );
        assert_eq!(read.json()["event"]["type"], "failed", "{shown}");
    }
    for media_type in [
        "application/json; charset=utf-8",
        "Application/JSON",
        "application/x+json",
    ] {
        let read = exchange(&service, with("content-type", media_type)).await;
        assert_eq!(read.status, 200, "{media_type}");
    }
}
