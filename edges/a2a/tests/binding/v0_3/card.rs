//! One card for both versions (A2A-COMPAT-6).

use portcullis_a2a::{
    binding::{Layout, OnePort},
    model::{
        AgentCard, HttpAuthSecurityScheme, SecurityRequirement, SecurityScheme, TaskState,
        decode_response,
    },
    server::{Server, executor_fn},
};
use serde_json::{Value, json};

use super::rig::{Dual, Reply, card, dual_of};

const WELL_KNOWN: &str = "/.well-known/agent-card.json";

fn with_security() -> AgentCard {
    let mut card = card();
    let bearer = SecurityScheme::HttpAuth(HttpAuthSecurityScheme::bearer());
    card.security_schemes.insert("bearer".to_owned(), bearer);
    card.security_requirements
        .push(SecurityRequirement::new().with("bearer", ["read"]));
    card.skills[0]
        .security_requirements
        .push(SecurityRequirement::new().with("bearer", ["ask"]));
    card
}

#[tokio::test]
async fn who_says_nothing_reads_both() {
    let card = with_security();
    let dual = dual_of(card);
    let reply = dual.send("GET", WELL_KNOWN, &[], "").await;
    let hybrid = reply.json();
    let url = "https://agent.example.com";
    assert_eq!(hybrid["protocolVersion"], "0.3.0");
    assert_eq!(hybrid["url"], url);
    assert_eq!(hybrid["preferredTransport"], "JSONRPC");
    assert_eq!(
        hybrid["additionalInterfaces"],
        json!([{"url": url, "transport": "JSONRPC"}, {"url": format!("{url}/rest"), "transport": "HTTP+JSON"}])
    );
    assert_eq!(hybrid["supportsAuthenticatedExtendedCard"], true);
    assert_eq!(hybrid["security"], json!([{"bearer": ["read"]}]));
    assert_eq!(
        hybrid["skills"][0]["security"],
        json!([{"bearer": ["ask"]}])
    );
    assert_eq!(
        hybrid["securitySchemes"]["bearer"],
        json!({"type": "http", "scheme": "Bearer", "httpAuthSecurityScheme": {"scheme": "Bearer"}})
    );

    // A reader of 1.0 finds the card of 1.0 in it.
    let new = dual
        .send("GET", WELL_KNOWN, &[("a2a-version", "1.0")], "")
        .await;
    let read: AgentCard = decode_response(&reply.text).unwrap();
    assert_eq!(read, decode_response(&new.text).unwrap());
    for member in [
        "url",
        "preferredTransport",
        "protocolVersion",
        "additionalInterfaces",
        "security",
        "supportsAuthenticatedExtendedCard",
    ] {
        assert!(new.json().get(member).is_none(), "{member}: {}", new.text);
    }
    let versions: Vec<&Value> = hybrid["supportedInterfaces"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["protocolVersion"])
        .collect();
    assert_eq!(versions, ["1.0", "1.0", "1.0", "0.3", "0.3"]);
}

/// T-46: caches keep the two apart, and each has its own tag.
#[tokio::test]
async fn caches_keep_them_apart() {
    let dual = dual_of(card());
    let get = async |headers: &[(&str, &str)]| -> Reply {
        dual.send("GET", WELL_KNOWN, headers, "").await
    };
    let (hybrid, new) = (get(&[]).await, get(&[("a2a-version", "1.0")]).await);
    for reply in [&hybrid, &new] {
        assert_eq!(reply.headers["vary"], "A2A-Version");
    }
    let tag = |reply: &Reply| reply.headers["etag"].to_str().unwrap().to_owned();
    assert_ne!(tag(&hybrid), tag(&new));
    for (version, own, other) in [("0.3", &hybrid, &new), ("1.0", &new, &hybrid)] {
        let same = get(&[("a2a-version", version), ("if-none-match", &tag(own))]).await;
        assert_eq!(same.status, 304, "{version}");
        assert_eq!(same.headers["vary"], "A2A-Version");
        let changed = get(&[("a2a-version", version), ("if-none-match", &tag(other))]).await;
        assert_eq!(
            (changed.status, &changed.text),
            (200, &own.text),
            "{version}"
        );
    }
    // Where it was before.
    let old = dual.send("GET", "/.well-known/agent.json", &[], "").await;
    assert_eq!(old.text, hybrid.text);
    let old = dual
        .send("GET", "/rest/.well-known/agent.json", &[], "")
        .await;
    assert_eq!(old.text, hybrid.text);
}

/// O-V04: without an interface of 0.3 nothing claims it.
#[tokio::test]
async fn without_an_interface_of_0_3() {
    let interfaces = Layout::new().interfaces("https://agent.example.com");
    let card = AgentCard::of_interfaces("a", "a", interfaces);
    let dual = dual_of(card);
    let reply = dual.send("GET", WELL_KNOWN, &[], "").await;
    assert!(reply.json().get("url").is_none(), "{}", reply.text);
    assert!(!reply.headers.contains_key("vary"));
    assert_eq!(
        dual.send("GET", "/.well-known/agent.json", &[], "")
            .await
            .status,
        404
    );
}

/// A2A-COMPAT-6: what a speaker of 1.0 gets is what was signed. Who says nothing gets more, and what
/// of it is of 1.0 is what was signed.
#[cfg(feature = "sign")]
#[tokio::test]
async fn a_signature_holds() {
    use portcullis_a2a::signing::{CardSigner, TrustedKeys, verify_card};

    let signer = CardSigner::ed25519("k", &CardSigner::generate_ed25519()).unwrap();
    let keys = TrustedKeys::new().with("k", signer.public_key());
    let executor = executor_fn(async |ctx, out| {
        out.emit(ctx.status(TaskState::Completed)).await;
    });
    let server = Server::builder(executor, with_security())
        .sign_cards(signer)
        .build();
    let dual = Dual {
        service: OnePort::new(server),
        principal: None,
    };
    let new = dual
        .send("GET", WELL_KNOWN, &[("a2a-version", "1.0")], "")
        .await;
    assert_eq!(verify_card(&new.text, &keys).unwrap().key_id(), "k");
    let hybrid = dual.send("GET", WELL_KNOWN, &[], "").await;
    let read: AgentCard = decode_response(&hybrid.text).unwrap();
    verify_card(&serde_json::to_string(&read).unwrap(), &keys).unwrap();
}
