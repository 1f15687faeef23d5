//! Who sends a request: 401 with a challenge, 403, and a principal for whoever is behind.

mod support;

use std::{
    convert::Infallible,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use futures_util::{
    FutureExt,
    future::{BoxFuture, join_all},
};
use http::{HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::{BodyExt, Full};
use portcullis::Principal;
use portcullis_layers::auth::{
    ApiKeys, AuthError, Challenge, Credentials, HttpAuthLayer, Identity, NewApiKey, Refusal,
    Scheme, Verifier, verify_fn,
};
use tokio::time::sleep;
use tower::{Layer, Service};

use support::{Log, secs};

/// Says who it was called by, and keeps the request's head. Not ready at first.
#[derive(Clone, Debug, Default)]
struct Behind {
    seen: Arc<Mutex<Vec<http::request::Parts>>>,
    ready: bool,
    reserved: Arc<AtomicUsize>,
}

impl Behind {
    fn calls(&self) -> usize {
        self.seen.lock().unwrap().len()
    }

    fn headers(&self) -> HeaderMap {
        self.seen
            .lock()
            .unwrap()
            .last()
            .expect("called")
            .headers
            .clone()
    }
}

impl Service<Request<Full<Bytes>>> for Behind {
    type Response = Response<Full<Bytes>>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.reserved.fetch_add(1, Ordering::SeqCst);
        if std::mem::replace(&mut self.ready, true) {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        assert!(
            std::mem::take(&mut self.ready),
            "called before it was ready"
        );
        let (head, body) = request.into_parts();
        let name = head
            .extensions
            .get::<Principal>()
            .map_or_else(|| "nobody".to_owned(), |who| who.subject().to_owned());
        let same = head.extensions.get::<Identity>().map(Identity::principal)
            == head.extensions.get::<Principal>();
        self.seen.lock().unwrap().push(head);
        async move {
            assert!(same, "the identity is the principal's");
            let body = body.collect().await.expect("bytes").to_bytes();
            tokio::task::yield_now().await;
            let said = format!("{name} {}", String::from_utf8_lossy(&body));
            Ok(Response::new(Full::from(said)))
        }
        .boxed()
    }
}

fn request(headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    to("/", headers)
}

fn to(path: &str, headers: &[(&str, &str)]) -> Request<Full<Bytes>> {
    let mut request = Request::post(path);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.body(Full::from("body")).expect("a request")
}

async fn call<S, B>(service: &S, request: Request<Full<Bytes>>) -> Response<String>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>, Error = Infallible> + Clone,
    B: Body<Data = Bytes, Error = Infallible>,
{
    let mut service = service.clone();
    let ready = std::future::poll_fn(|cx| service.poll_ready(cx));
    assert!(ready.now_or_never().is_some(), "it is always ready");
    let response = service.call(request).await.expect("infallible");
    let (head, body) = response.into_parts();
    let body = body.collect().await.expect("infallible").to_bytes();
    if let Some(length) = head.headers.get("content-length") {
        assert_eq!(length, &body.len().to_string());
    }
    Response::from_parts(head, String::from_utf8(body.into()).expect("a text"))
}

fn challenges<B>(response: &Response<B>) -> Vec<&str> {
    let lines = response.headers().get_all("www-authenticate").iter();
    lines.map(|line| line.to_str().expect("a text")).collect()
}

fn key(subject: &str, scopes: &[&str]) -> NewApiKey {
    NewApiKey::generate(subject, scopes).expect("words")
}

fn keys(keys: &[&NewApiKey]) -> ApiKeys {
    let lines: Vec<_> = keys.iter().map(|key| key.line()).collect();
    ApiKeys::from_text(&lines.join("\n")).expect("lines as they are made")
}

fn bearer(key: &NewApiKey) -> String {
    format!("Bearer {}", key.reveal())
}

#[tokio::test]
async fn a_known_caller_is_named_to_whoever_is_behind() {
    let alice = key("alice", &[]);
    let behind = Behind::default();
    let service = HttpAuthLayer::new(keys(&[&alice])).layer(behind.clone());
    let authorization = bearer(&alice);
    for headers in [
        [("authorization", &*authorization)],
        [(
            "authorization",
            &*authorization.replace("Bearer", "bEARER  "),
        )],
        [("x-api-key", alice.reveal())],
    ] {
        let response = call(&service, request(&headers)).await;
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.body(), "alice body");
        // The credentials end here.
        assert!(behind.headers().is_empty(), "{:?}", behind.headers());
    }
    let keeps = HttpAuthLayer::new(keys(&[&alice]))
        .key_header(HeaderName::from_static("x-secret"))
        .keep_credentials()
        .layer(behind.clone());
    call(&keeps, request(&[("x-secret", alice.reveal())])).await;
    assert_eq!(behind.headers()["x-secret"], alice.reveal());
    // The name of another header is not looked at.
    let response = call(&keeps, request(&[("x-api-key", alice.reveal())])).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
}

/// RFC 6750, section 3; A2A-SEC-1, A2A-SEC-4.
#[tokio::test]
async fn nobody_is_told_how_to_say_who_they_are() {
    let (alice, other) = (key("alice", &[]), key("alice", &[]));
    let behind = Behind::default();
    let service = HttpAuthLayer::new(keys(&[&alice])).layer(behind.clone());
    let response = call(&service, request(&[])).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(challenges(&response), [r#"Bearer realm="portcullis""#]);
    assert_eq!(response.headers()["content-type"], "application/json");
    assert_eq!(response.headers()["cache-control"], "no-store");
    assert_eq!(
        response.body(),
        r#"{"error":"authentication_required","error_description":"authentication is required"}"#
    );
    let wrong = bearer(&other);
    let response = call(&service, request(&[("authorization", &*wrong)])).await;
    assert_eq!(response.status(), StatusCode::UNAUTHORIZED);
    assert_eq!(
        challenges(&response),
        [
            r#"Bearer realm="portcullis", error="invalid_token", error_description="the key is not valid""#
        ]
    );
    let value: serde_json::Value = serde_json::from_str(response.body()).expect("JSON");
    assert_eq!(value["error"], "invalid_token");
    for unknown in [
        "Digest username=\"a\"",
        "Bearer abc",
        "Negotiate",
        "Basic YTpi",
    ] {
        let response = call(&service, request(&[("authorization", unknown)])).await;
        assert_eq!(response.status(), StatusCode::UNAUTHORIZED, "{unknown}");
        assert!(
            challenges(&response)[0].contains("invalid_token"),
            "{unknown}"
        );
    }
    assert_eq!(behind.calls(), 0);
}

/// Two readers could disagree on which one counts.
#[tokio::test]
async fn what_is_ambiguous_or_cannot_be_read_is_refused() {
    let alice = key("alice", &[]);
    let behind = Behind::default();
    let service = HttpAuthLayer::new(keys(&[&alice])).layer(behind.clone());
    let good = bearer(&alice);
    let good = &*good;
    let long = format!("Bearer {}", "a".repeat(17 << 10));
    for headers in [
        vec![("authorization", good), ("authorization", good)],
        vec![("authorization", good), ("authorization", "Bearer x")],
        vec![("authorization", good), ("x-api-key", alice.reveal())],
        vec![("x-api-key", alice.reveal()), ("x-api-key", "x")],
        vec![("authorization", "Bearer")],
        vec![("authorization", "Bearer ")],
        vec![("authorization", "Bearer a b")],
        vec![("authorization", "Basic")],
        vec![("authorization", "Basic !!!")],
        vec![("authorization", "Basic YWI=")],
        vec![("authorization", "Basic //79")],
        vec![("authorization", &*long)],
        vec![("x-api-key", "")],
    ] {
        let response = call(&service, request(&headers)).await;
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{headers:?}");
        assert!(challenges(&response)[0].contains(r#"error="invalid_request""#));
    }
    let mut binary = request(&[]);
    let value = HeaderValue::from_bytes(b"Bearer \xff").expect("opaque bytes");
    binary.headers_mut().insert("authorization", value);
    assert_eq!(
        call(&service, binary).await.status(),
        StatusCode::BAD_REQUEST
    );
    assert_eq!(behind.calls(), 0);
}

// A2A-SEC-4, A2A-SEC-5, A2A-SEC-13: told, and in the log.
#[tokio::test]
async fn a_missing_scope_is_403_and_named() {
    let (log, _guard) = Log::start();
    let (reader, writer) = (key("r", &["read"]), key("w", &["read", "wr\"ite"]));
    let behind = Behind::default();
    let layer = HttpAuthLayer::new(keys(&[&reader, &writer])).require_scopes(["read", "wr\"ite"]);
    let service = layer.layer(behind.clone());
    let response = call(&service, request(&[("authorization", &*bearer(&reader))])).await;
    assert_eq!(response.status(), StatusCode::FORBIDDEN);
    // What does not fit between quotes does not end them.
    assert_eq!(
        challenges(&response),
        [concat!(
            r#"Bearer realm="portcullis", error="insufficient_scope", "#,
            r#"error_description="this takes the scopes: read wr'ite", scope="read wr'ite""#
        )]
    );
    let value: serde_json::Value = serde_json::from_str(response.body()).expect("JSON");
    assert_eq!(
        value["error_description"],
        "this takes the scopes: read wr\"ite"
    );
    assert_eq!(behind.calls(), 0);
    let response = call(&service, request(&[("authorization", &*bearer(&writer))])).await;
    assert_eq!(response.status(), StatusCode::OK);
    // Who is nobody is not told what it takes.
    let response = call(&service, request(&[])).await;
    assert_eq!(challenges(&response), [r#"Bearer realm="portcullis""#]);
    let told = log.text();
    for kind in ["kind=Denied", "kind=Missing"] {
        let line = told.lines().find(|line| line.contains(kind));
        let line = line.unwrap_or_else(|| panic!("no {kind} in {told}"));
        assert!(line.contains("INFO") && line.contains("refused"), "{line}");
    }
    assert!(!told.contains(reader.reveal()) && !told.contains(writer.reveal()));
}

#[tokio::test(start_paused = true)]
async fn nobody_can_tell_is_503() {
    let down = verify_fn(async |_| {
        sleep(secs(1)).await;
        Err(AuthError::unavailable()
            .retry_after(std::time::Duration::from_millis(2100))
            .caused_by("password=secret host=db"))
    });
    let behind = Behind::default();
    let service = HttpAuthLayer::new(down).layer(behind.clone());
    let response = call(&service, request(&[("x-api-key", "x")])).await;
    assert_eq!(response.status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(response.headers()["retry-after"], "3");
    assert!(challenges(&response).is_empty());
    assert!(response.body().contains("temporarily_unavailable"));
    assert!(!format!("{response:?}").contains("secret"), "O-A03");
    assert_eq!(behind.calls(), 0);
}

/// O-A05: nothing of a request says who it is, and nothing that was there before.
#[tokio::test]
async fn nobody_names_themselves() {
    let alice = key("alice", &[]);
    let behind = Behind::default();
    let layer = HttpAuthLayer::new(keys(&[&alice])).public("card.json");
    let service = layer.layer(behind.clone());
    let root = Principal::new("user", "test", "root");
    let claims = [
        ("x-principal", "root"),
        ("x-user", "root"),
        ("x-forwarded-user", "root"),
        ("remote-user", "root"),
    ];
    let mut claimed = request(&claims);
    claimed.extensions_mut().insert(root.clone());
    claimed.extensions_mut().insert(Identity::new(root.clone()));
    assert_eq!(
        call(&service, claimed.clone()).await.status(),
        StatusCode::UNAUTHORIZED
    );
    claimed
        .headers_mut()
        .insert("x-api-key", alice.reveal().parse().expect("a value"));
    assert_eq!(call(&service, claimed.clone()).await.body(), "alice body");
    // On a public path they are nobody, whatever they present.
    *claimed.uri_mut() = "/card.json".parse().expect("a path");
    assert_eq!(call(&service, claimed.clone()).await.body(), "nobody body");
    claimed
        .headers_mut()
        .insert("x-api-key", HeaderValue::from_static("pck_1_2"));
    assert_eq!(call(&service, claimed).await.body(), "nobody body");
}

#[tokio::test]
async fn only_the_very_path_is_public() {
    let alice = key("alice", &[]);
    let behind = Behind::default();
    let layer = HttpAuthLayer::new(keys(&[&alice]))
        .public("/.well-known/agent-card.json")
        .require_scopes(["agent"]);
    let service = layer.layer(behind.clone());
    for (path, public) in [
        ("/.well-known/agent-card.json", true),
        ("/.well-known/agent-card.json?x=1", true),
        ("http://example.com/.well-known/agent-card.json", true),
        ("/.well-known/agent-card.json/", false),
        ("/.well-known/agent-card.json/../../", false),
        ("/.well-known/agent-card.jsonx", false),
        ("//.well-known/agent-card.json", false),
        ("/.well-known/%61gent-card.json", false),
        ("/.well-known/Agent-card.json", false),
        ("/?/.well-known/agent-card.json", false),
        ("/.well-known", false),
        ("/", false),
    ] {
        let response = call(&service, to(path, &[])).await;
        assert_eq!(response.status() == StatusCode::OK, public, "{path}");
    }
}

#[tokio::test]
async fn challenges_and_bodies_can_be_worded() {
    let passwords = verify_fn(async |presented: Credentials| match presented.scheme() {
        Scheme::Basic if presented.secret() == "open: sesame" => {
            let who = Principal::new("user", "test", presented.user());
            Ok(Identity::new(who))
        }
        Scheme::Basic => Err(AuthError::invalid("no \"such\" user \\")),
        _ => Err(AuthError::unrecognized()),
    });
    let layer = HttpAuthLayer::new(passwords)
        .challenges([
            Challenge::bearer("a \"realm\"\\"),
            Challenge::basic("all\r\nmine"),
            Challenge::other(HeaderValue::from_static("Mutual")),
        ])
        .refusal_body(|refusal: &Refusal<'_>| {
            let (status, path) = (refusal.status().as_u16(), refusal.path());
            format!(r#"[{status},"{path}","{:?}"]"#, refusal.error().kind())
        });
    let service = layer.layer(Behind::default());
    let basic = |text: &str| format!("Basic {}", STANDARD.encode(text));
    let response = call(
        &service,
        request(&[("authorization", &*basic("ali:open: sesame"))]),
    )
    .await;
    assert_eq!(response.body(), "ali body");
    let response = call(
        &service,
        to("/x", &[("authorization", &*basic("ali:baba"))]),
    )
    .await;
    assert_eq!(
        challenges(&response),
        [
            r#"Bearer realm="a 'realm''", error="invalid_token", error_description="no 'such' user '""#,
            r#"Basic realm="all''mine", charset="UTF-8""#,
            "Mutual",
        ]
    );
    assert_eq!(response.body(), r#"[401,"/x","Invalid"]"#);
}

/// A request that waits for a verifier takes nothing from what is behind, and one that is
/// dropped leaves nothing.
#[tokio::test(start_paused = true)]
async fn it_is_made_ready_and_called_only_when_let_through() {
    let slow = verify_fn(async |presented: Credentials| {
        sleep(secs(1)).await;
        Ok(Identity::new(Principal::new(
            "user",
            "test",
            presented.secret(),
        )))
    });
    let behind = Behind::default();
    let mut service = HttpAuthLayer::new(slow).layer(behind.clone());
    let mut waiting = Box::pin(service.call(request(&[("x-api-key", "a")])));
    assert!(waiting.as_mut().now_or_never().is_none());
    assert_eq!(behind.reserved.load(Ordering::SeqCst), 0);
    drop(waiting);
    sleep(secs(2)).await;
    assert_eq!(
        (behind.calls(), behind.reserved.load(Ordering::SeqCst)),
        (0, 0)
    );
    let response = call(&service, request(&[("x-api-key", "a")])).await;
    assert_eq!(response.body(), "a body");
    assert_eq!(behind.calls(), 1);
}

/// O-A05: nobody is taken for somebody else, however many there are.
#[tokio::test(start_paused = true)]
async fn a_hundred_callers_are_themselves() {
    let made: Vec<_> = (0..100).map(|n| key(&format!("user-{n}"), &[])).collect();
    let slow = |number: usize| {
        let keys = keys(&made.iter().collect::<Vec<_>>());
        verify_fn(move |presented: Credentials| {
            let keys = keys.clone();
            async move {
                sleep(std::time::Duration::from_millis(7 * number as u64 % 13)).await;
                keys.verify(&presented).await
            }
        })
    };
    let service = HttpAuthLayer::new(slow(5)).layer(Behind::default());
    let calls = made.iter().enumerate().map(|(n, key)| {
        let service = service.clone();
        async move {
            let response = call(&service, request(&[("authorization", &*bearer(key))])).await;
            assert_eq!(response.body(), &format!("user-{n} body"));
        }
    });
    join_all(calls).await;
}

#[tokio::test]
async fn secrets_are_nowhere() {
    let (log, _guard) = Log::start();
    let (alice, other) = (key("alice", &[]), key("alice", &["x"]));
    let behind = Behind::default();
    let layer = HttpAuthLayer::new(keys(&[&alice])).require_scopes(["x"]);
    let service = layer.layer(behind.clone());
    let mut shown = format!("{layer:?} {service:?}");
    let basic = format!("Basic {}", STANDARD.encode("planted:planted"));
    for (name, value) in [
        ("authorization", bearer(&alice)),
        ("authorization", bearer(&other)),
        ("authorization", "Bearer planted-token".to_owned()),
        ("authorization", "Planted planted-token".to_owned()),
        ("authorization", basic.clone()),
        ("authorization", format!("{basic}planted")),
        ("x-api-key", other.reveal().to_owned()),
        ("x-api-key", "planted-key".to_owned()),
    ] {
        let future = service.clone().call(request(&[(name, &*value)]));
        shown += &format!("{future:?}");
        shown += &format!("{:?}", call(&service, request(&[(name, &*value)])).await);
    }
    shown += &log.text();
    assert!(log.text().contains("refused"));
    let secret = |key: &NewApiKey| {
        key.reveal()
            .rsplit_once('_')
            .expect("a secret")
            .1
            .to_owned()
    };
    for secret in [&*secret(&alice), &*secret(&other), "lanted", "cGxhbnRlZ"] {
        assert!(!shown.contains(secret), "{secret} is in\n{shown}");
    }
}
