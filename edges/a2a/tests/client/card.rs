//! Fetching a card and choosing an interface.

use portcullis_a2a::{
    client::{CallError, Client, fetch_card},
    model::{AgentCard, GetTaskRequest, decode_response},
};
use serde_json::json;

use crate::support::Fake;

/// The smallest card that says where the agent is (O-C08).
const CARD: &str = r#"{"name": "n", "supportedInterfaces": [{"url": "http://agent.example/x", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "later": 1}"#;

#[tokio::test]
async fn the_address_of_the_card() {
    // O-C01, O-C02
    let well_known = "/.well-known/agent-card.json";
    for (url, expected) in [
        ("http://h", format!("http://h{well_known}")),
        ("http://h/", format!("http://h{well_known}")),
        ("http://h/p", format!("http://h/p{well_known}")),
        ("http://h/p/", format!("http://h/p{well_known}")),
        ("http://h/p?x=1", format!("http://h/p{well_known}")),
        (
            "http://h:80/.well-known/agent-card.json",
            format!("http://h:80{well_known}"),
        ),
    ] {
        let fake = Fake::json(CARD);
        assert_eq!(fetch_card(&fake, url).await.unwrap().name, "n");
        assert_eq!(fake.asked()[0].uri, expected, "{url}");
    }
    for url in ["", "h", "ftp://h", "/p", "http://"] {
        let error = fetch_card(&Fake::json(CARD), url).await.unwrap_err();
        assert!(matches!(error, CallError::Protocol(_)), "{url}: {error:?}");
    }
}

#[tokio::test]
async fn what_is_no_card_is_told() {
    // O-C07
    let error = fetch_card(&Fake::json("<html>"), "http://h")
        .await
        .unwrap_err();
    assert!(error.to_string().contains("no card at http://h"), "{error}");
    let error = fetch_card(&Fake::new(404, "text/html", vec!["<p>".into()]), "http://h")
        .await
        .unwrap_err();
    assert!(matches!(error, CallError::Status { .. }), "{error:?}");
    let huge = format!("{CARD}{}", " ".repeat(2 << 20));
    let error = fetch_card(&Fake::json(huge), "http://h").await.unwrap_err();
    assert!(matches!(error, CallError::TooLong(_)), "{error:?}");
}

#[tokio::test]
async fn the_first_interface_that_we_speak_and_its_tenant() {
    // O-C06
    let card = |interfaces: serde_json::Value| -> AgentCard {
        decode_response(&json!({"name": "n", "supportedInterfaces": interfaces}).to_string())
            .unwrap()
    };
    let mixed = card(json!([
        {"url": "h:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"},
        {"url": "http://h/old", "protocolBinding": "JSONRPC", "protocolVersion": "0.3"},
        {"url": "http://h/new", "protocolBinding": "jsonrpc", "protocolVersion": "1.0.1", "tenant": "t"},
        {"url": "http://h/late", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
    ]));
    let fake = Fake::json("{}");
    let client = Client::of_card(fake.clone(), &mixed).unwrap();
    assert_eq!(client.url(), "http://h/new");
    drop(client.get_task(&GetTaskRequest::new("x")).await);
    assert_eq!(fake.asked()[0].body["params"]["tenant"], "t");

    let foreign =
        card(json!([{"url": "h:1", "protocolBinding": "GRPC", "protocolVersion": "1.0"}]));
    let error = Client::of_card(fake, &foreign).unwrap_err();
    assert!(error.to_string().contains("GRPC 1.0"), "{error}");
}
