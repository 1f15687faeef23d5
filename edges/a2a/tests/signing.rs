//! Signatures over cards: the golden bytes of EX-24, and what must not verify.

use base64::Engine;
use portcullis_a2a::{
    model::{AgentCapabilities, AgentCard, AgentExtension, AgentInterface, decode_response},
    signing::{
        CardSigner, Form, PublicKey, TrustedKeys, VerifyError, canonical_card, verify_card,
        verify_card_leniently,
    },
};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair},
};
use serde_json::{Value, json};

/// EX-24, as it is served.
const CARD: &str = r#"{
  "name": "Café Agent",
  "description": "",
  "supportedInterfaces": [
    {"url": "https://agent.example.com/rpc", "protocolBinding": "JSONRPC", "tenant": "", "protocolVersion": "1.0"}
  ],
  "version": "1.0.0",
  "documentationUrl": "",
  "capabilities": {
    "streaming": true,
    "pushNotifications": false,
    "extensions": [
      {"uri": "https://example.com/ext/x/v1", "required": false, "params": {"limit": 1.0, "note": "", "list": []}}
    ]
  },
  "securitySchemes": {
    "mtls": {"mtlsSecurityScheme": {}},
    "oauth": {"oauth2SecurityScheme": {"description": "", "flows": {"authorizationCode": {
      "authorizationUrl": "https://auth.example.com/a", "tokenUrl": "https://auth.example.com/t",
      "refreshUrl": "", "scopes": {}, "pkceRequired": false}}}}
  },
  "securityRequirements": [{"schemes": {"mtls": {"list": []}}}],
  "defaultInputModes": ["text/plain"],
  "defaultOutputModes": ["text/plain"],
  "skills": [],
  "signatures": [{"protected": "ignored", "signature": "ignored"}]
}"#;

const PAYLOAD: &str = r#"{"capabilities":{"extensions":[{"params":{"limit":1,"list":[],"note":""},"uri":"https://example.com/ext/x/v1"}],"pushNotifications":false,"streaming":true},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"description":"","documentationUrl":"","name":"Café Agent","securityRequirements":[{"schemes":{"mtls":{}}}],"securitySchemes":{"mtls":{"mtlsSecurityScheme":{}},"oauth":{"oauth2SecurityScheme":{"flows":{"authorizationCode":{"authorizationUrl":"https://auth.example.com/a","scopes":{},"tokenUrl":"https://auth.example.com/t"}}}}},"skills":[],"supportedInterfaces":[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","url":"https://agent.example.com/rpc"}],"version":"1.0.0"}"#;

const ED25519: (&str, &str) = (
    "eyJhbGciOiJFZERTQSIsImtpZCI6ImVkLTEiLCJ0eXAiOiJKT1NFIn0",
    "tTQ6aSZZhNLGhJtPx02TgeE6oeBBiRubJnaZHJuVX9kH7heoHK6FexGlm4rS4IOr0x-PmFa7DBPXTfL7behaAg",
);
const ES256: (&str, &str) = (
    "eyJhbGciOiJFUzI1NiIsImtpZCI6ImVzLTEiLCJ0eXAiOiJKT1NFIn0",
    "b6cMeJHa-KAMTbGSLrYuh1AndPj4wqEHhIxJ99ZkOiV5vvnVfMmDNRL9LUBeKU1Dk-fbqWNklDyvMdzPP7bW1A",
);

const KEYS: &str = r#"{"keys": [
  {"kid": "other", "kty": "oct", "k": "AAAA"},
  {"kty": "OKP", "crv": "Ed25519", "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"},
  {"kid": "ed-1", "kty": "OKP", "crv": "Ed25519", "alg": "EdDSA", "use": "sig",
   "x": "A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"},
  {"kid": "es-1", "kty": "EC", "crv": "P-256",
   "x": "UVw9brnjlrkE0_7Kf1T9zQzB6Ze_N13KUVrQpsO0A18",
   "y": "RTa-OlDzGPv5pUdZAqIhUCvvDVfgjFOyzApW8X2fk1Q"}
]}"#;

fn keys() -> TrustedKeys {
    let keys = TrustedKeys::from_jwks(KEYS).unwrap();
    assert_eq!(keys.len(), 2, "one of another kind, one without an id");
    keys
}

/// The card with these signatures, edited.
fn signed(signatures: &[(&str, &str)], edit: impl FnOnce(&mut Value)) -> String {
    let mut card: Value = serde_json::from_str(CARD).unwrap();
    card["signatures"] = signatures
        .iter()
        .map(|(protected, signature)| json!({ "protected": protected, "signature": signature }))
        .collect();
    edit(&mut card);
    card.to_string()
}

/// A2A-SIG-4, O-C04.
#[test]
fn ex_24_the_canonical_form() {
    let payload = canonical_card(CARD, Form::Strict).unwrap();
    assert_eq!(String::from_utf8(payload).unwrap(), PAYLOAD);
}

/// A2A-SIG-5.
#[test]
fn the_example_of_the_specification() {
    let card = r#"{"name":"Example Agent","description":"","capabilities":{"streaming":false,"pushNotifications":false,"extensions":[]},"skills":[]}"#;
    let payload = canonical_card(card, Form::Strict).unwrap();
    assert_eq!(
        String::from_utf8(payload).unwrap(),
        r#"{"capabilities":{"pushNotifications":false,"streaming":false},"description":"","name":"Example Agent","skills":[]}"#
    );
}

// A2A-SIG-2, A2A-SIG-3
#[test]
fn ex_24_both_signatures_verify() {
    for (signature, id) in [(ED25519, "ed-1"), (ES256, "es-1")] {
        let card = signed(&[signature], |_| {});
        assert_eq!(verify_card(&card, &keys()).unwrap().key_id(), id);
        // One that is not known beside it does no harm (A2A-SIG-1).
        let card = signed(&[("e30", "AAAA"), ("", ""), signature], |_| {});
        assert_eq!(verify_card(&card, &keys()).unwrap().key_id(), id);
        // An unset member is none.
        let card = signed(&[signature], |card| card["iconUrl"] = Value::Null);
        verify_card(&card, &keys()).unwrap();
    }
}

#[test]
fn ex_24_whatever_is_changed_does_not_verify() {
    let edits: [fn(&mut Value); 5] = [
        |card| card["version"] = json!("1.0.1"),
        |card| card["unknown"] = json!(1),
        |card| drop(card.as_object_mut().unwrap().remove("documentationUrl")),
        |card| card["capabilities"]["extensions"][0]["params"]["note"] = json!("x"),
        |card| card["supportedInterfaces"][0]["url"] = json!("https://evil.example.com/rpc"),
    ];
    for signature in [ED25519, ES256] {
        for edit in edits {
            let card = signed(&[signature], edit);
            let error = verify_card_leniently(&card, &keys()).unwrap_err();
            assert!(matches!(error, VerifyError::Changed), "{error:?}: {card}");
        }
    }
}

/// A2A-SIG-9, A2A-SIG-11: the key fixes the algorithm, and the unprotected header is nothing.
#[test]
fn a_header_cannot_choose() {
    let encode = |header: Value| {
        use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
        BASE64_URL_SAFE_NO_PAD.encode(header.to_string())
    };
    for header in [
        json!({"alg": "none", "kid": "ed-1"}),
        json!({"alg": "HS256", "kid": "es-1"}),
        json!({"alg": "ES256", "kid": "ed-1"}),
        json!({"alg": "EdDSA", "kid": "es-1"}),
        json!({"alg": "EdDSA", "kid": "ed-1", "crit": ["b64"], "b64": false}),
    ] {
        for signature in [ED25519.1, ES256.1, ""] {
            let card = signed(&[(&encode(header.clone()), signature)], |_| {});
            verify_card(&card, &keys()).unwrap_err();
        }
    }
    let card = signed(&[ED25519], |card| {
        card["signatures"][0]["header"] = json!({"kid": "es-1", "alg": "none"});
    });
    assert_eq!(verify_card(&card, &keys()).unwrap().key_id(), "ed-1");
    let unknown = TrustedKeys::new();
    let error = verify_card(&signed(&[ED25519], |_| {}), &unknown).unwrap_err();
    assert!(matches!(error, VerifyError::Untrusted), "{error:?}");
    let error = verify_card(&signed(&[], |_| {}), &keys()).unwrap_err();
    assert!(matches!(error, VerifyError::Unsigned), "{error:?}");
}

/// A2A-SIG-8: a card that two readers could read in two ways has no canonical form.
#[test]
fn what_has_two_readings_is_refused() {
    for card in [
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a","n\u0061me":"b"}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":1,"a":2}}]}}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":9007199254740993}}]}}"#,
        r#"{"capabilities":{"extensions":[{"params":{"a":123456789012345678901234567890}}]}}"#,
        "[]",
        "{",
    ] {
        canonical_card(card, Form::Strict).unwrap_err();
        verify_card(card, &keys()).unwrap_err();
    }
    let most = r#"{"capabilities":{"extensions":[{"params":{"a":-9007199254740991}}]}}"#;
    canonical_card(most, Form::Strict).unwrap();
    let deep = format!("{}1{}", r#"{"a":"#.repeat(10_000), "}".repeat(10_000));
    canonical_card(&deep, Form::Strict).unwrap_err();
}

/// A2A-SIG-10, O-C04: a card that the Python SDK (a2a-sdk 1.3) has signed with the key of EX-24. It leaves
/// out what is empty, required or not.
#[test]
fn a_card_of_the_python_sdk() {
    let card = r#"{"name": "Café Agent", "supportedInterfaces": [{"url": "https://agent.example.com/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}], "version": "1.0.0", "capabilities": {"streaming": true, "pushNotifications": false, "extensions": [{"uri": "https://example.com/ext/x/v1", "params": {"list": [], "limit": 1.5, "note": ""}}]}, "securitySchemes": {"mtls": {"mtlsSecurityScheme": {}}}, "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "signatures": [{"protected": "eyJhbGciOiJFZERTQSIsImprdSI6bnVsbCwia2lkIjoiZWQtMSIsInR5cCI6IkpPU0UifQ", "signature": "A0lNxlfnaJntakUS6MrWvXmvi06gkT_WmsDi8-4lw4ZV6GqffXDuijgLh5B7SQLLheTaOhNKYG8Hq_yP7mA0DA"}]}"#;
    let verified = verify_card_leniently(card, &keys()).unwrap();
    assert_eq!(verified.form(), Form::Pruned);
    let error = verify_card(card, &keys()).unwrap_err();
    assert!(matches!(error, VerifyError::Changed), "{error:?}");
    let changed = card.replace("1.5", "2.5");
    verify_card_leniently(&changed, &keys()).unwrap_err();
}

/// Keys are ordered by UTF-16 code units, which differs from bytes beyond the basic plane.
#[test]
fn names_are_ordered_by_utf_16() {
    let card = "{\"capabilities\":{\"extensions\":[{\"params\":{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\u{20ac}\":3,\"\\r\":4}}]}}";
    let payload = String::from_utf8(canonical_card(card, Form::Strict).unwrap()).unwrap();
    assert!(
        payload.contains("{\"\\r\":4,\"\u{20ac}\":3,\"\u{1f600}\":2,\"\u{fb33}\":1}"),
        "{payload}"
    );
}

/// What is signed here is verified here, as it is served; each signer adds its own.
#[test]
fn cards_of_ours_verify() {
    let pkcs8 = CardSigner::generate_ed25519();
    let random = ring::rand::SystemRandom::new();
    let curve = &ring::signature::ECDSA_P256_SHA256_FIXED_SIGNING;
    let ec = ring::signature::EcdsaKeyPair::generate_pkcs8(curve, &random).unwrap();
    let signers = [
        CardSigner::ed25519("ed", &pkcs8).unwrap(),
        CardSigner::es256("ec", ec.as_ref())
            .unwrap()
            .jku("https://a.example/jwks.json"),
    ];
    let mut card = AgentCard::new("a", "", AgentInterface::json_rpc("https://a.example/"));
    card.capabilities = AgentCapabilities::streaming();
    card.capabilities
        .extensions
        .push(AgentExtension::new("https://a.example/ext"));
    for signer in &signers {
        signer.sign(&mut card).unwrap();
    }
    assert_eq!(card.signatures.len(), 2);
    let text = serde_json::to_string(&card).unwrap();
    for (signer, id) in signers.iter().zip(["ed", "ec"]) {
        let published = PublicKey::from_jwk(&signer.jwk()).unwrap();
        assert_eq!(published, signer.public_key());
        let keys = TrustedKeys::new().with(id, published);
        assert_eq!(verify_card(&text, &keys).unwrap().key_id(), id);
        // Not by each other's key.
        let other = TrustedKeys::new().with(id, signers[usize::from(id == "ed")].public_key());
        verify_card(&text, &other).unwrap_err();
    }
    let shown = format!("{signers:?} {:?}", CardSigner::ed25519("x", b"secret"));
    assert!(!shown.contains("secret"), "{shown}");
}

#[test]
fn keys_for_other_things_are_refused() {
    for jwk in [
        "{}",
        r#"{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}"#,
        r#"{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}"#,
        r#"{"kty":"RSA","alg":"HS256","n":"AA","e":"AQAB"}"#,
        r#"{"kty":"OKP","crv":"Ed25519","use":"enc","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}"#,
        r#"{"kty":"OKP","crv":"Ed25519"}"#,
    ] {
        PublicKey::from_jwk(jwk).unwrap_err();
    }
}

/// A key as it lies in a file: that of EX-24 signs as there, under the name that one sets.
#[test]
fn ex_24_a_key_in_pem() {
    let pem = |pkcs8: &[u8]| {
        let body = base64::prelude::BASE64_STANDARD.encode(pkcs8);
        let (first, rest) = body.split_at(40);
        format!(
            "# a comment\r\n-----BEGIN PRIVATE KEY-----\r\n{first}\r\n{rest}\r\n-----END PRIVATE KEY-----\r\n"
        )
    };
    // What OpenSSL writes: the seed and nothing else.
    let mut pkcs8 = b"\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20".to_vec();
    pkcs8.extend(0..32);
    let signer = CardSigner::from_pem(&pem(&pkcs8)).unwrap();
    // RFC 7638 over the public key of EX-24.
    let bare = r#"{"crv":"Ed25519","kty":"OKP","x":"A6EHv_POEL4dcN0Y50vAmWfk1jCbpQ1fHdyGZBJVMbg"}"#;
    let thumbprint = ring::digest::digest(&ring::digest::SHA256, bare.as_bytes());
    let thumbprint = base64::prelude::BASE64_URL_SAFE_NO_PAD.encode(thumbprint);
    assert_eq!(signer.thumbprint(), thumbprint);
    let jwk: Value = serde_json::from_str(&signer.jwk()).unwrap();
    assert_eq!(jwk["kid"], thumbprint.as_str());
    let mut card: AgentCard = decode_response(CARD).unwrap();
    card.signatures.clear();
    signer.key_id("ed-1").sign(&mut card).unwrap();
    assert_eq!(card.signatures[0].protected, ED25519.0);
    assert_eq!(card.signatures[0].signature, ED25519.1);

    let p256 = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
    let signer = CardSigner::from_pem(&pem(p256.unwrap().as_ref())).unwrap();
    let keys = TrustedKeys::from_jwks(&format!(r#"{{"keys": [{}]}}"#, signer.jwk())).unwrap();
    signer.sign(&mut card).unwrap();
    let received = serde_json::to_string(&card).unwrap();
    assert_eq!(
        verify_card(&received, &keys).unwrap().key_id(),
        signer.thumbprint()
    );
}

#[test]
fn what_is_no_key_in_pem_is_told() {
    for pem in [
        "",
        "-----BEGIN PRIVATE KEY-----\nAAAA",
        "-----BEGIN PRIVATE KEY-----\n!\n-----END PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        "-----BEGIN EC PRIVATE KEY-----\nAAAA\n-----END EC PRIVATE KEY-----",
    ] {
        let error = CardSigner::from_pem(pem).unwrap_err();
        assert!(
            error.to_string().starts_with("the key cannot be used: "),
            "{error}"
        );
        assert!(!error.to_string().contains("AAAA"), "{error}");
    }
}
