//! Cards that are believed for their signatures.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use portcullis_a2a::{
    client::{CallError, Cards, Jwks},
    model::{AgentCard, AgentInterface},
    signing::{CardSigner, TrustedKeys},
};
use tokio::time::advance;

use crate::site::{Site, reply};

const KEYS: &str = "https://keys.example/jwks.json";

fn signer(jku: Option<&str>) -> CardSigner {
    let signer = CardSigner::ed25519("k-1", &CardSigner::generate_ed25519()).unwrap();
    match jku {
        Some(jku) => signer.jku(jku),
        None => signer,
    }
}

fn signed(signer: &CardSigner) -> String {
    let interface = AgentInterface::json_rpc("https://a.example/rpc");
    let mut card = AgentCard::new("n", "d", interface);
    signer.sign(&mut card).unwrap();
    serde_json::to_string(&card).unwrap()
}

fn serving(card: String) -> Site {
    Site::new(move |_| reply(200, &[], card.clone()))
}

/// The whole chain of causes.
fn told(error: &CallError) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(error) = next {
        text += &format!(": {error}");
        next = error.source();
    }
    text
}

#[tokio::test]
async fn only_what_a_trusted_key_has_signed_is_believed() {
    // A2A-SIG-6..8
    let signer = signer(None);
    let card = signed(&signer);
    let keys = || TrustedKeys::new().with("k-1", signer.public_key());
    let cards = Cards::new(serving(card.clone())).verifying(keys());
    let found = cards.fetch("https://a.example").await.unwrap();
    assert_eq!(found.key_id(), Some("k-1"));
    // As it was received: spaces and the order of members do not matter, members do.
    let spaced = card
        .replace(':', " :\n ")
        .replace("https :\n //", "https://");
    let cards = Cards::new(serving(spaced)).verifying(keys());
    cards.fetch("https://a.example").await.unwrap();
    for (changed, expected) in [
        (
            card.replace("\"d\"", "\"e\""),
            "is not what the named key has signed",
        ),
        (
            card.replacen('{', "{\"later\":1,", 1),
            "is not what the named key has signed",
        ),
        (card.replace("signatures", "signature"), "is not signed"),
    ] {
        let cards = Cards::new(serving(changed.clone())).verifying(keys());
        let error = cards.fetch("https://a.example").await.unwrap_err();
        assert!(matches!(error, CallError::Untrusted(_)), "{error:?}");
        assert!(
            told(&error).contains(expected),
            "{changed}: {}",
            told(&error)
        );
    }
    // What can be read in two ways is believed in neither.
    let twice = card.replacen('{', "{\"name\":\"x\",", 1);
    let cards = Cards::new(serving(twice)).verifying(keys());
    cards.fetch("https://a.example").await.unwrap_err();
    let strangers = TrustedKeys::new().with("k-2", signer.public_key());
    let cards = Cards::new(serving(card)).verifying(strangers);
    let error = cards.fetch("https://a.example").await.unwrap_err();
    assert!(
        told(&error).contains("by a trusted key"),
        "{}",
        told(&error)
    );
}

/// Serves the card, and the keys of the signer while it says so.
fn with_keys(
    card: String,
    signer: &CardSigner,
    headers: &'static [(&str, &str)],
) -> (Site, Arc<AtomicBool>) {
    let jwk: serde_json::Value = serde_json::from_str(&signer.jwk()).unwrap();
    let set = serde_json::json!({"keys": [jwk]}).to_string();
    let has_key = Arc::new(AtomicBool::new(true));
    let shows = Arc::clone(&has_key);
    let site = Site::new(move |request| {
        if request.uri().path().ends_with("agent-card.json") {
            return reply(200, &[("cache-control", "no-store")], card.clone());
        }
        let set = if shows.load(Ordering::Relaxed) {
            &set
        } else {
            r#"{"keys": []}"#
        };
        reply(200, headers, set.to_owned())
    });
    (site, has_key)
}

fn key_requests(site: &Site) -> usize {
    let asked = site.asked();
    asked
        .iter()
        .filter(|request| request.uri().path() == "/jwks.json")
        .count()
}

#[tokio::test(start_paused = true)]
async fn keys_come_from_where_they_may() {
    // A2A-SIG-9
    let signer = signer(Some(KEYS));
    let (site, has_key) = with_keys(
        signed(&signer),
        &signer,
        &[("cache-control", "max-age=600")],
    );
    // Nobody is asked for keys at an address that only the card names.
    let cards = Cards::new(site.clone()).verifying(Jwks::new(site.clone()).allow_origin_of_card());
    let error = cards.fetch("https://a.example").await.unwrap_err();
    assert!(told(&error).contains("not allowed"), "{}", told(&error));
    assert_eq!(key_requests(&site), 0);

    let cards = Cards::new(site.clone()).verifying(Jwks::new(site.clone()).allow(KEYS));
    for _ in 0..3 {
        let found = cards.fetch("https://a.example").await.unwrap();
        assert_eq!(found.key_id(), Some("k-1"));
    }
    assert_eq!(key_requests(&site), 1, "the set is kept");
    // A key that is taken out is believed no longer than its set is kept (A2A-SIG-7).
    has_key.store(false, Ordering::Relaxed);
    advance(Duration::from_secs(599)).await;
    cards.fetch("https://a.example").await.unwrap();
    advance(Duration::from_secs(1)).await;
    let error = cards.fetch("https://a.example").await.unwrap_err();
    assert!(matches!(error, CallError::Untrusted(_)));
    assert_eq!(key_requests(&site), 1);
    // A new key is looked for, and not for each card.
    for _ in 0..5 {
        cards.fetch("https://a.example").await.unwrap_err();
    }
    assert_eq!(key_requests(&site), 0);
    has_key.store(true, Ordering::Relaxed);
    advance(Duration::from_secs(10)).await;
    cards.fetch("https://a.example").await.unwrap();
    assert_eq!(key_requests(&site), 1);
}

#[tokio::test]
async fn keys_do_not_come_in_the_clear() {
    for (jku, from, expected) in [
        ("http://keys.example/jwks.json", "https://a.example", false),
        ("http://127.0.0.1:8/jwks.json", "http://127.0.0.1:9", true),
        ("file:///jwks.json", "https://a.example", false),
    ] {
        let signer = signer(Some(jku));
        let (site, _) = with_keys(signed(&signer), &signer, &[]);
        let cards = Cards::new(site.clone()).verifying(Jwks::new(site.clone()).allow(jku));
        assert_eq!(cards.fetch(from).await.is_ok(), expected, "{jku}");
    }
    // On the origin of the card, where that is asked for.
    let signer = signer(Some("https://a.example/jwks.json"));
    let (site, _) = with_keys(signed(&signer), &signer, &[]);
    let cards = Cards::new(site.clone()).verifying(Jwks::new(site.clone()).allow_origin_of_card());
    cards.fetch("https://a.example").await.unwrap();
    assert!(cards.fetch("https://a.example:444").await.is_err());
    assert!(cards.fetch("https://b.example").await.is_err());
}

#[tokio::test]
async fn a_set_that_cannot_be_had_is_told() {
    let signer = signer(Some(KEYS));
    let card = signed(&signer);
    for (status, body) in [(200, "<html>"), (404, ""), (302, "")] {
        let card = card.clone();
        let site = Site::new(move |request| {
            if request.uri().path() == "/jwks.json" {
                return reply(status, &[("location", "https://b.example/")], body);
            }
            reply(200, &[], card.clone())
        });
        let cards = Cards::new(site.clone()).verifying(Jwks::new(site).allow(KEYS));
        let error = cards.fetch("https://a.example").await.unwrap_err();
        assert!(
            told(&error).contains("no keys at https://keys.example/jwks.json"),
            "{}",
            told(&error)
        );
    }
}
