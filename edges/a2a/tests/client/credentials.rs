//! Credentials: where each scheme has them, how tokens are renewed, and where they never go.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use futures_util::future::join_all;
use http::{Request, Response};
use portcullis_a2a::{
    client::{Binding, CallError, Client, ClientCredentials, Credential, Wallet},
    model::{AgentCard, GetTaskRequest, decode_response},
};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::site::{Site, reply};

const SECRET: &str = "s3cret-TOP";

fn card(schemes: &Value, requirements: &Value) -> AgentCard {
    let card =
        json!({"name": "n", "securitySchemes": schemes, "securityRequirements": requirements});
    decode_response(&card.to_string()).unwrap()
}

fn one(scheme: &Value) -> AgentCard {
    card(&json!({"k": scheme}), &json!([{"schemes": {"k": {}}}]))
}

fn api_key(location: &str, name: &str) -> AgentCard {
    one(&json!({"apiKeySecurityScheme": {"location": location, "name": name}}))
}

fn bearer() -> AgentCard {
    one(&json!({"httpAuthSecurityScheme": {"scheme": "bearer"}}))
}

fn task() -> Response<Bytes> {
    reply(
        200,
        &[],
        r#"{"id":"t","status":{"state":"TASK_STATE_WORKING"}}"#,
    )
}

/// What the server is sent by a client with this wallet.
async fn sent(card: &AgentCard, credential: Credential) -> Request<Bytes> {
    let site = Site::new(|_| task());
    let client = Client::over(
        Binding::Rest,
        site.clone(),
        "https://a.example/x?v=1".parse().unwrap(),
    );
    let wallet = Wallet::new().with("k", credential);
    let client = client.layer(
        &wallet
            .layer(card, &"https://A.example:443".parse().unwrap())
            .unwrap(),
    );
    client.get_task(&GetTaskRequest::new("t")).await.unwrap();
    site.asked().remove(0)
}

#[tokio::test]
async fn each_scheme_has_its_place() {
    let header = sent(&api_key("header", "X-Api-Key"), Credential::api_key(SECRET)).await;
    assert_eq!(header.headers()["x-api-key"], SECRET);
    assert!(header.headers()["x-api-key"].is_sensitive());

    let query = sent(&api_key("query", "api key"), Credential::api_key("a&b=c é")).await;
    assert_eq!(
        query.uri(),
        "https://a.example/x/tasks/t?v=1&api%20key=a%26b%3Dc%20%C3%A9"
    );

    let cookie = sent(&api_key("cookie", "session"), Credential::api_key(SECRET)).await;
    assert_eq!(cookie.headers()["cookie"], format!("session={SECRET}"));
    assert!(cookie.headers()["cookie"].is_sensitive());

    let basic = one(&json!({"httpAuthSecurityScheme": {"scheme": "Basic"}}));
    let basic = sent(&basic, Credential::basic("ann", "p:ß")).await;
    let expected = format!("Basic {}", BASE64_STANDARD.encode("ann:p:ß"));
    assert_eq!(basic.headers()["authorization"], expected);
    assert!(basic.headers()["authorization"].is_sensitive());

    let flows = json!({"oauth2SecurityScheme": {"flows": {"clientCredentials": {"tokenUrl": "https://t.example", "scopes": {}}}}});
    let open_id = json!({"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://t.example"}});
    for card in [bearer(), one(&flows), one(&open_id)] {
        let token = sent(&card, Credential::bearer(SECRET)).await;
        assert_eq!(token.headers()["authorization"], format!("Bearer {SECRET}"));
    }
    // The connection has it.
    let mutual = one(&json!({"mtlsSecurityScheme": {}}));
    let certificate = sent(&mutual, Credential::certificate()).await;
    assert!(!certificate.headers().contains_key("authorization"));
}

#[test]
fn the_card_says_which_are_needed() {
    // A2A-CARD-17: any alternative, and all schemes of it.
    let schemes = json!({
        "key": {"apiKeySecurityScheme": {"location": "header", "name": "x-key"}},
        "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer"}},
        "cert": {"mtlsSecurityScheme": {}},
    });
    let both = json!([{"schemes": {"key": {}, "cert": {}}}, {"schemes": {"bearer": {}}}]);
    let url = "https://h/".parse().unwrap();
    let key = Wallet::new().with("key", Credential::api_key("k"));
    let certified = key.clone().with("cert", Credential::certificate());
    let token = Wallet::new().with("bearer", Credential::bearer("t"));
    let wrong = Wallet::new().with("bearer", Credential::api_key("t"));
    for (wallet, meets) in [
        (&certified, true),
        (&token, true),
        (&key, false),
        (&wrong, false),
        (&Wallet::new(), false),
    ] {
        let layer = wallet.layer(&card(&schemes, &both), &url);
        assert_eq!(layer.is_ok(), meets, "{wallet:?}");
        if let Err(error) = layer {
            assert_eq!(
                error.to_string(),
                "the agent requires credentials for cert and key, or for bearer"
            );
        }
    }
    // An alternative of nothing, and no alternative at all, ask for nothing.
    for free in [
        json!([]),
        json!([{"schemes": {}}]),
        json!([{"schemes": {"bearer": {}}}, {"schemes": {}}]),
    ] {
        assert!(Wallet::new().layer(&card(&schemes, &free), &url).is_ok());
    }
    // A scheme that nobody has described, and values that do not fit.
    let unknown = card(&json!({}), &json!([{"schemes": {"bearer": {}}}]));
    assert!(token.layer(&unknown, &url).is_err());
    for (location, name, value) in [
        ("header", "host", "v"),
        ("header", "Content-Length", "7"),
        ("header", "transfer-encoding", "chunked"),
        ("header", "x y", "v"),
        ("header", "x-key", "a\r\nb: c"),
        ("cookie", "a=b", "v"),
        ("cookie", "a", "v; b=c"),
        ("body", "a", "v"),
    ] {
        let wallet = Wallet::new().with("k", Credential::api_key(value));
        assert!(
            wallet.layer(&api_key(location, name), &url).is_err(),
            "{location} {name} {value:?}"
        );
    }
}

#[tokio::test]
async fn no_other_origin_sees_them() {
    let site = Site::new(|_| task());
    for (location, name) in [("header", "x-key"), ("query", "key"), ("cookie", "key")] {
        let wallet = Wallet::new().with("k", Credential::api_key(SECRET));
        let layer = wallet
            .layer(
                &api_key(location, name),
                &"https://a.example/".parse().unwrap(),
            )
            .unwrap();
        for url in [
            "http://a.example/",
            "https://a.example:444/",
            "https://b.example/",
            "https://a.example.b.example/",
        ] {
            let client =
                Client::over(Binding::Rest, site.clone(), url.parse().unwrap()).layer(&layer);
            client.get_task(&GetTaskRequest::new("t")).await.unwrap();
            let asked = format!("{:?}", site.asked());
            // Headers that are marked are not shown, so look for their names.
            assert!(
                !asked.contains(SECRET) && !asked.contains("Sensitive"),
                "{url}: {asked}"
            );
        }
    }
}

/// A server of tokens, which are numbered, and of tasks, for the holders of good ones.
#[derive(Clone)]
struct Rig {
    site: Site,
    /// The least number that is good.
    good: Arc<AtomicU64>,
    tokens: Arc<AtomicU64>,
    tasks: Arc<AtomicUsize>,
}

impl Rig {
    fn new(expires_in: Option<u64>) -> Self {
        let good = Arc::new(AtomicU64::new(1));
        let tokens = Arc::new(AtomicU64::new(0));
        let tasks = Arc::new(AtomicUsize::new(0));
        let (least, made, served) = (Arc::clone(&good), Arc::clone(&tokens), Arc::clone(&tasks));
        let site = Site::new(move |request| {
            if request.uri().path() == "/token" {
                let number = made.fetch_add(1, Ordering::Relaxed) + 1;
                let mut answer =
                    json!({"access_token": format!("{SECRET}-{number}"), "token_type": "Bearer"});
                if let Some(seconds) = expires_in {
                    answer["expires_in"] = json!(seconds);
                }
                return reply(200, &[], answer.to_string());
            }
            served.fetch_add(1, Ordering::Relaxed);
            let shown = request.headers()["authorization"].to_str().unwrap();
            let number: u64 = shown.rsplit('-').next().unwrap().parse().unwrap();
            if number < least.load(Ordering::Relaxed) {
                return reply(401, &[], "");
            }
            task()
        });
        Self {
            site,
            good,
            tokens,
            tasks,
        }
    }

    fn source(&self) -> ClientCredentials<Site> {
        ClientCredentials::new(
            self.site.clone(),
            "https://t.example/token".parse().unwrap(),
            "me+you",
            SECRET,
        )
    }

    fn client(&self) -> Client<impl portcullis_a2a::client::Transport> {
        client_of(&self.site, Credential::tokens(self.source()))
    }

    fn counts(&self) -> (u64, usize) {
        (
            self.tokens.load(Ordering::Relaxed),
            self.tasks.swap(0, Ordering::Relaxed),
        )
    }
}

fn client_of(
    site: &Site,
    credential: Credential,
) -> Client<impl portcullis_a2a::client::Transport> {
    let url = "https://a.example/".parse().unwrap();
    let layer = Wallet::new()
        .with("k", credential)
        .layer(&bearer(), &url)
        .unwrap();
    Client::over(Binding::Rest, site.clone(), url).layer(&layer)
}

async fn get<T: portcullis_a2a::client::Transport>(client: &Client<T>) -> Result<(), CallError> {
    client.get_task(&GetTaskRequest::new("t")).await.map(drop)
}

#[tokio::test(start_paused = true)]
async fn a_token_is_asked_for_as_the_standard_says() {
    // RFC 6749, sections 2.3.1 and 4.4.2
    let rig = Rig::new(Some(3_600));
    let client = client_of(
        &rig.site,
        Credential::tokens(rig.source().scopes(["a", "b c"])),
    );
    get(&client).await.unwrap();
    let asked = rig.site.asked();
    assert_eq!(asked[0].method(), "POST");
    assert_eq!(
        asked[0].headers()["content-type"],
        "application/x-www-form-urlencoded"
    );
    let basic = BASE64_STANDARD.encode(format!("me%2Byou:{SECRET}"));
    assert_eq!(
        asked[0].headers()["authorization"],
        format!("Basic {basic}")
    );
    assert!(asked[0].headers()["authorization"].is_sensitive());
    assert_eq!(
        asked[0].body(),
        "grant_type=client_credentials&scope=a%20b%20c"
    );
    assert_eq!(
        asked[1].headers()["authorization"],
        format!("Bearer {SECRET}-1")
    );

    let client = client_of(&rig.site, Credential::tokens(rig.source().secret_in_body()));
    get(&client).await.unwrap();
    let asked = rig.site.asked();
    assert!(!asked[0].headers().contains_key("authorization"));
    let form = format!("grant_type=client_credentials&client_id=me%2Byou&client_secret={SECRET}");
    assert_eq!(asked[0].body(), &form);
}

#[tokio::test(start_paused = true)]
async fn a_token_is_renewed_before_it_expires() {
    let rig = Rig::new(Some(600));
    let client = rig.client();
    get(&client).await.unwrap();
    advance(Duration::from_secs(569)).await;
    get(&client).await.unwrap();
    assert_eq!(rig.counts(), (1, 2));
    advance(Duration::from_secs(1)).await;
    get(&client).await.unwrap();
    assert_eq!(rig.counts(), (2, 1));
    // One whose server says nothing lasts an hour, and so does one for all eternity.
    for expires_in in [None, Some(u64::MAX)] {
        let rig = Rig::new(expires_in);
        let client = rig.client();
        for (after, tokens) in [(0, 1), (3_569, 1), (1, 2)] {
            advance(Duration::from_secs(after)).await;
            get(&client).await.unwrap();
            assert_eq!(rig.counts().0, tokens);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn many_calls_cause_one_renewal() {
    let rig = Rig::new(Some(600));
    let client = rig.client();
    for round in 1..=2 {
        let all = join_all((0..500).map(|_| get(&client))).await;
        assert!(all.iter().all(Result::is_ok));
        assert_eq!(rig.counts(), (round, 500));
        advance(Duration::from_secs(600)).await;
    }
    // Refused all at once, they still ask once, and each goes out once more.
    get(&client).await.unwrap();
    rig.counts();
    rig.good.store(4, Ordering::Relaxed);
    let all = join_all((0..500).map(|_| get(&client))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(rig.counts(), (4, 1_000));
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_taken_once_for_an_old_token() {
    let rig = Rig::new(Some(600));
    rig.good.store(u64::MAX, Ordering::Relaxed);
    let error = get(&rig.client()).await.unwrap_err();
    assert!(
        matches!(error, CallError::Status { status, .. } if status.as_u16() == 401),
        "{error:?}"
    );
    assert_eq!(rig.counts(), (2, 2));
    // What is no token is not sent again.
    let rig = Rig::new(None);
    rig.good.store(u64::MAX, Ordering::Relaxed);
    get(&client_of(
        &rig.site,
        Credential::bearer(format!("{SECRET}-0")),
    ))
    .await
    .unwrap_err();
    assert_eq!(rig.counts(), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn a_token_that_cannot_be_had_is_told_without_secrets() {
    for (answer, expected) in [
        (
            reply(401, &[], r#"{"error":"invalid_client"}"#),
            "401 Unauthorized (invalid_client)",
        ),
        (
            reply(400, &[], format!(r#"{{"error":"you said {SECRET}"}}"#)),
            "400 Bad Request",
        ),
        (reply(500, &[], SECRET), "500"),
        (reply(200, &[], SECRET), "answered with none"),
        (
            reply(
                200,
                &[],
                format!(r#"{{"access_token":"{SECRET}","token_type":"mac"}}"#),
            ),
            "no bearer token",
        ),
        (reply(302, &[("location", "https://b.example")], ""), "302"),
        (
            reply(
                200,
                &[],
                format!(r#"{{"access_token":"{SECRET}\n","token_type":"bearer"}}"#),
            ),
            "fits no header",
        ),
    ] {
        let site = Site::new(move |_| answer.clone());
        let source = ClientCredentials::new(
            site.clone(),
            "https://t.example/token".parse().unwrap(),
            "me",
            SECRET,
        );
        let client = client_of(&site, Credential::tokens(source));
        let error = get(&client).await.unwrap_err();
        let CallError::Transport(cause) = &error else {
            panic!("{error:?}")
        };
        assert!(cause.to_string().contains(expected), "{cause}");
        assert!(
            !format!("{error:?}{error}{cause}").contains(SECRET),
            "{error:?}"
        );
    }
    // Not in the clear.
    let site = Site::new(|request| panic!("nobody was to be asked: {request:?}"));
    let source = ClientCredentials::new(
        site.clone(),
        "http://t.example/token".parse().unwrap(),
        "me",
        SECRET,
    );
    let error = get(&client_of(&site, Credential::tokens(source)))
        .await
        .unwrap_err();
    assert!(format!("{error:?}").contains("in the clear"), "{error:?}");
}

#[tokio::test(start_paused = true)]
async fn after_a_failure_nobody_asks_for_a_second() {
    let works = Arc::new(AtomicU64::new(1));
    let asked = Arc::new(AtomicUsize::new(0));
    let (switch, count) = (Arc::clone(&works), Arc::clone(&asked));
    let site = Site::new(move |request| {
        if request.uri().path() != "/token" {
            return task();
        }
        count.fetch_add(1, Ordering::Relaxed);
        if switch.load(Ordering::Relaxed) == 0 {
            return reply(503, &[], "");
        }
        reply(
            200,
            &[],
            r#"{"access_token":"x","token_type":"bearer","expires_in":100}"#,
        )
    });
    let source = ClientCredentials::new(
        site.clone(),
        "https://t.example/token".parse().unwrap(),
        "me",
        SECRET,
    );
    let client = client_of(&site, Credential::tokens(source));
    get(&client).await.unwrap();
    works.store(0, Ordering::Relaxed);
    // Due for renewal, but it still holds.
    advance(Duration::from_secs(90)).await;
    for _ in 0..100 {
        get(&client).await.unwrap();
    }
    assert_eq!(asked.load(Ordering::Relaxed), 2);
    advance(Duration::from_secs(10)).await;
    for _ in 0..100 {
        get(&client).await.unwrap_err();
    }
    assert_eq!(asked.load(Ordering::Relaxed), 3);
    works.store(1, Ordering::Relaxed);
    advance(Duration::from_secs(1)).await;
    get(&client).await.unwrap();
}

#[tokio::test]
async fn nothing_shows_a_secret() {
    let url = "https://a.example/".parse().unwrap();
    let site = Site::new(|_| task());
    let tokens = ClientCredentials::new(
        site.clone(),
        "https://t.example".parse().unwrap(),
        "me",
        SECRET,
    );
    let mut shown = format!("{tokens:?}");
    for (card, credential) in [
        (api_key("query", "q"), Credential::api_key(SECRET)),
        (
            one(&json!({"httpAuthSecurityScheme": {"scheme": "basic"}})),
            Credential::basic("ann", SECRET),
        ),
        (bearer(), Credential::bearer(SECRET)),
        (bearer(), Credential::tokens(tokens)),
    ] {
        shown += &format!("{credential:?}");
        let wallet = Wallet::new().with("k", credential);
        let layer = wallet.layer(&card, &url).unwrap();
        let client = Client::new(site.clone(), url.clone()).layer(&layer);
        shown += &format!("{wallet:?}{layer:?}{client:?}{:?}", client.get_ref());
    }
    assert!(!shown.contains(SECRET), "{shown}");
    assert!(!shown.contains(&BASE64_STANDARD.encode(format!("ann:{SECRET}"))));
}
