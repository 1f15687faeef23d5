//! Finding an agent: what of its card is kept, and where it may lead.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use portcullis_a2a::{
    client::{Binding, CallError, Cards, Choice, Discovered, Reach, Unusable},
    model::{AgentCard, decode_response},
};
use serde_json::{Value, json};
use tokio::time::advance;

use crate::site::{Site, reply};

fn card(interfaces: &Value) -> Value {
    json!({"name": "n", "supportedInterfaces": interfaces})
}

fn at(url: &str) -> Value {
    json!({"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"})
}

fn site(headers: &'static [(&'static str, &'static str)]) -> Site {
    Site::new(move |request| {
        let condition = request.headers().get("if-none-match");
        if condition.is_some_and(|etag| etag == "\"v1\"") {
            return reply(304, headers, "");
        }
        reply(200, headers, card(&json!([at("http://h/rpc")])).to_string())
    })
}

async fn seconds(seconds: u64) {
    advance(Duration::from_secs(seconds)).await;
}

#[tokio::test(start_paused = true)]
async fn a_card_is_kept_for_as_long_as_its_server_says() {
    // A2A-CARD-6
    let site = site(&[("cache-control", "max-age=300"), ("etag", "\"v1\"")]);
    let cards = Cards::new(site.clone());
    let first = cards.fetch("http://h").await.unwrap();
    seconds(299).await;
    // By another spelling, and by a clone.
    let again = cards.clone().fetch("http://h/").await.unwrap();
    assert!(Arc::ptr_eq(&first, &again));
    assert_eq!(site.count(), 1);
    seconds(1).await;
    let same = cards.fetch("http://h").await.unwrap();
    assert!(Arc::ptr_eq(&first, &same), "it was not changed");
    let asked = site.asked();
    assert_eq!(asked.len(), 1);
    assert_eq!(asked[0].headers()["if-none-match"], "\"v1\"");
    // It is fresh again.
    seconds(299).await;
    cards.fetch("http://h").await.unwrap();
    assert_eq!(site.count(), 0);
    // Another path is another agent.
    cards.fetch("http://h/other").await.unwrap();
    assert_eq!(site.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn headers_decide_what_is_kept() {
    for (headers, after, expected) in [
        (
            &[("cache-control", "no-store"), ("etag", "\"v1\"")][..],
            0,
            [200, 200],
        ),
        (
            &[("cache-control", "no-cache"), ("etag", "\"v1\"")],
            0,
            [200, 304],
        ),
        (
            &[
                ("last-modified", "Mon, 07 Dec 2026 12:00:00 GMT"),
                ("cache-control", "max-age=0"),
            ],
            0,
            [200, 200],
        ),
        // Nothing is said: a minute.
        (&[], 59, [200, 0]),
        (&[], 60, [200, 200]),
        // However long a server wants it: a day.
        (
            &[("cache-control", "max-age=99999999999"), ("etag", "\"v1\"")],
            86_399,
            [200, 0],
        ),
        (
            &[("cache-control", "max-age=99999999999"), ("etag", "\"v1\"")],
            86_400,
            [200, 304],
        ),
    ] {
        let site = site(headers);
        let cards = Cards::new(site.clone());
        cards.fetch("http://h").await.unwrap();
        seconds(after).await;
        cards.fetch("http://h").await.unwrap();
        let asked = site.asked();
        assert_eq!(
            asked.len(),
            if expected[1] == 0 { 1 } else { 2 },
            "{headers:?} {after}"
        );
        if let Some(second) = asked.get(1) {
            let by_tag = second.headers().contains_key("if-none-match");
            assert_eq!(by_tag, expected[1] == 304, "{headers:?}");
            let date = headers.iter().any(|(name, _)| *name == "last-modified");
            assert_eq!(second.headers().contains_key("if-modified-since"), date);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_thousand_callers_ask_once() {
    let site = site(&[("cache-control", "max-age=300")]);
    let cards = Cards::new(site.clone());
    let all = join_all((0..1_000).map(|_| cards.fetch("http://h"))).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(site.count(), 1);
    // One who gives up leaves the way to the next.
    seconds(300).await;
    let mut gives_up = Box::pin(cards.fetch("http://h"));
    assert!(futures_util::poll!(&mut gives_up).is_pending());
    drop(gives_up);
    cards.fetch("http://h").await.unwrap();
    assert_eq!(site.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_fault_leaves_nothing_behind() {
    let calls = Arc::new(AtomicUsize::new(0));
    let site = Site::new(move |_| match calls.fetch_add(1, Ordering::Relaxed) {
        0 => reply(304, &[], ""),
        1 => reply(503, &[("retry-after", "9")], ""),
        2 => reply(200, &[], "[]"),
        3 => reply(200, &[], [0xff].as_slice()),
        _ => reply(200, &[], card(&json!([at("http://h/rpc")])).to_string()),
    });
    let cards = Cards::new(site);
    assert!(matches!(
        cards.fetch("http://h").await,
        Err(CallError::Protocol(_))
    ));
    let busy = cards.fetch("http://h").await.unwrap_err();
    assert_eq!(busy.retry_after(), Some(Duration::from_secs(9)));
    assert!(cards.fetch("ftp://h").await.is_err());
    for _ in 0..2 {
        assert!(matches!(
            cards.fetch("http://h").await,
            Err(CallError::Protocol(_))
        ));
    }
    cards.fetch("http://h").await.unwrap();
}

#[tokio::test]
async fn many_agents_do_not_fill_the_memory() {
    let site = site(&[("cache-control", "max-age=300")]);
    let cards = Cards::new(site.clone());
    for agent in 0..1_000 {
        cards.fetch(&format!("http://h/{agent}")).await.unwrap();
    }
    assert_eq!(site.count(), 1_000);
    for agent in 0..1_000 {
        cards.fetch(&format!("http://h/{agent}")).await.unwrap();
    }
    let again = site.count();
    assert!(again >= 1_000 - 256, "{again} were not kept");
}

async fn discovered(from: &str, interfaces: Value) -> Arc<Discovered> {
    let site = Site::new(move |_| reply(200, &[], card(&interfaces).to_string()));
    Cards::new(site).fetch(from).await.unwrap()
}

fn nobody() -> Site {
    Site::new(|request| panic!("nobody was to be asked: {request:?}"))
}

async fn url(from: &str, interfaces: Value, choice: Choice) -> Result<String, Unusable> {
    let client = discovered(from, interfaces)
        .await
        .client(nobody(), &choice)?;
    Ok(format!("{} {}", client.binding(), client.url()))
}

#[tokio::test]
async fn a_card_leads_to_its_own_host() {
    // O-C07, A2A-CARD-22
    for (from, to, expected) in [
        (
            "https://a.example",
            "https://a.example/rpc",
            Some("https://a.example/rpc"),
        ),
        (
            "https://a.example/x/",
            "/rpc?k=v",
            Some("https://a.example/rpc?k=v"),
        ),
        (
            "https://a.example/x",
            "../rpc",
            Some("https://a.example/x/rpc"),
        ),
        (
            "http://localhost:1",
            "http://127.0.0.1:2/",
            Some("http://127.0.0.1:2/"),
        ),
        (
            "https://a.example",
            "//a.example:9/rpc",
            Some("https://a.example:9/rpc"),
        ),
        ("https://a.example", "https://b.example/rpc", None),
        ("https://a.example", "//b.example/rpc", None),
        ("https://a.example", "http://a.example/rpc", None),
        ("https://a.example", "http://127.0.0.1/rpc", None),
    ] {
        let chosen = url(from, json!([at(to)]), Choice::new()).await;
        match expected {
            Some(expected) => assert_eq!(chosen.unwrap(), format!("JSONRPC {expected}")),
            None => assert!(
                matches!(chosen, Err(Unusable::Elsewhere(_))),
                "{to}: {chosen:?}"
            ),
        }
    }
    // What is no address of the web is no interface.
    for to in ["file:///etc/passwd", "mailto:a@b", "http://", "https:///x"] {
        let chosen = url("https://a.example", json!([at(to)]), Choice::new()).await;
        assert!(chosen.is_err(), "{to}: {chosen:?}");
    }
    let there = json!([at("https://b.example/rpc")]);
    let told = url("https://a.example", there.clone(), Choice::new())
        .await
        .unwrap_err();
    assert!(told.to_string().contains("https://b.example/rpc"), "{told}");
    // One that may be reached goes before one that may not.
    let both = json!([at("https://b.example/rpc"), at("/rpc")]);
    assert_eq!(
        url("https://a.example", both, Choice::new()).await.unwrap(),
        "JSONRPC https://a.example/rpc"
    );
    for reach in [Reach::same_host().and("b.example"), Reach::anywhere()] {
        let choice = Choice::new().reach(reach);
        let chosen = url("https://a.example", there.clone(), choice).await;
        assert_eq!(chosen.unwrap(), "JSONRPC https://b.example/rpc");
    }
}

#[tokio::test]
async fn the_card_prefers_or_the_caller() {
    // A2A-CARD-18, O-C06
    let of = |binding: &str, url: &str, version: &str| json!({"url": url, "protocolBinding": binding, "protocolVersion": version, "tenant": binding});
    let card = || {
        json!([
            of("GRPC", "h:50051", "1.0"),
            of("JSONRPC", "/old", "0.3"),
            of("http+json", "/rest", "1.0"),
            of("JSONRPC", "/rpc", "1.0.1"),
        ])
    };
    for (choice, expected) in [
        (Choice::new(), "HTTP+JSON https://h/rest"),
        (
            Choice::new().any_of(&[Binding::JsonRpc]),
            "JSONRPC https://h/rpc",
        ),
        (
            Choice::new().any_of(&[Binding::JsonRpc, Binding::Rest]),
            "HTTP+JSON https://h/rest",
        ),
        (
            Choice::new().prefer(&[Binding::JsonRpc, Binding::Rest]),
            "JSONRPC https://h/rpc",
        ),
        #[cfg(feature = "grpc")]
        (Choice::new().any_of(Binding::ALL), "GRPC https://h:50051/"),
        #[cfg(feature = "grpc")]
        (
            Choice::new().prefer(&[Binding::Rest, Binding::Grpc]),
            "HTTP+JSON https://h/rest",
        ),
    ] {
        assert_eq!(url("https://h", card(), choice).await.unwrap(), expected);
    }
    let none = url(
        "https://h",
        json!([of("SOAP", "/soap", "1.0")]),
        Choice::new(),
    )
    .await;
    assert!(none.unwrap_err().to_string().contains("SOAP 1.0"));
}

#[tokio::test]
async fn what_an_agent_requires_has_to_be_understood() {
    // A2A-CARD-23
    let card: AgentCard = decode_response(
        &json!({"name": "n", "supportedInterfaces": [at("http://h/rpc")], "capabilities": {"extensions": [
            {"uri": "https://e.example/a", "required": true}, {"uri": "https://e.example/b"}]}})
        .to_string(),
    )
    .unwrap();
    let given = Discovered::given(card);
    let refused = given.client(nobody(), &Choice::new()).unwrap_err();
    assert_eq!(
        refused,
        Unusable::Extension("https://e.example/a".to_owned())
    );
    let site = Site::new(|request| {
        assert_eq!(request.headers()["a2a-extensions"], "https://e.example/a");
        reply(401, &[], "")
    });
    let choice = Choice::new().extensions(["https://e.example/a"]);
    let client = given.client(site.clone(), &choice).unwrap();
    assert!(client.list_tasks(&Default::default()).await.is_err());
    assert_eq!(site.count(), 1);
}

#[tokio::test]
async fn a_card_that_was_given_is_taken_at_its_word() {
    let card = AgentCard::of_interfaces(
        "n",
        "d",
        vec![portcullis_a2a::model::AgentInterface::rest(
            "http://10.0.0.1/",
        )],
    );
    let given = Discovered::given(card);
    assert!(given.url().is_none());
    let client = given.client(nobody(), &Choice::new()).unwrap();
    assert_eq!(client.url(), "http://10.0.0.1/");
    let relative: AgentCard = decode_response(&card_of("/rpc")).unwrap();
    let refused = Discovered::given(relative).client(nobody(), &Choice::new());
    assert!(matches!(refused, Err(Unusable::NoInterface(_))));
}

fn card_of(url: &str) -> String {
    card(&json!([at(url)])).to_string()
}

#[tokio::test]
async fn the_extended_card_takes_the_place_of_the_public_one() {
    let site = Site::new(|request| {
        if request.method() == "GET" {
            let mut card = card(&json!([at("/rpc")]));
            card["capabilities"] = json!({"extendedAgentCard": request.uri().host() == Some("h")});
            return reply(200, &[], card.to_string());
        }
        let mut card = card(&json!([at("/rpc"), at("https://elsewhere.example/")]));
        card["name"] = json!("for you");
        let body: Value = serde_json::from_slice(request.body()).unwrap();
        assert_eq!(body["method"], "GetExtendedAgentCard");
        let reply_ = json!({"jsonrpc": "2.0", "id": body["id"], "result": card});
        reply(200, &[], reply_.to_string())
    });
    let cards = Cards::new(site.clone());
    let public = cards.fetch("https://h").await.unwrap();
    let client = public.client(site.clone(), &Choice::new()).unwrap();
    let extended = cards.extended(&public, &client).await.unwrap();
    assert_eq!(extended.card().name, "for you");
    // It came from the same place, so the same policy holds.
    assert_eq!(extended.url(), public.url());
    let client = extended.client(site.clone(), &Choice::new()).unwrap();
    assert_eq!(client.url(), "https://h/rpc");
    assert_eq!(site.count(), 2);
    // It is the caller's own: another caller still gets the public one.
    assert_eq!(cards.fetch("https://h").await.unwrap().card().name, "n");
    // Who has no other is not asked.
    let public = cards.fetch("https://other").await.unwrap();
    let client = public.client(site.clone(), &Choice::new()).unwrap();
    site.count();
    let same = cards.extended(&public, &client).await.unwrap();
    assert!(Arc::ptr_eq(&same, &public));
    assert_eq!(site.count(), 0);
}
