//! Bearer tokens that are JWTs. The tokens are signed here, with `ring` and by hand.

mod support;

use std::{
    collections::VecDeque,
    convert::Infallible,
    future::ready,
    pin::Pin,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
    time::{SystemTime, UNIX_EPOCH},
};

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use futures_util::{FutureExt, future::BoxFuture};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::{Empty, Full};
use portcullis::Principal;
use portcullis_layers::auth::{
    AuthError, AuthErrorKind, Credentials, Family, Identity, InvalidJwt, Jwks, Jwt, Verifier,
};
use ring::{
    hmac,
    rand::SystemRandom,
    signature::{
        ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair,
        Ed25519KeyPair, KeyPair,
    },
};
use serde_json::{Value, json};
use tokio::{
    sync::Semaphore,
    time::{Instant, advance},
};
use tower::Service;

use support::{Log, secs};

const ISSUER: &str = "https://issuer.example.com";
const AUDIENCE: &str = "https://agent.example.com";

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

/// A key of the issuer.
struct Signer {
    id: String,
    key: Key,
}

enum Key {
    Es256(EcdsaKeyPair),
    Es384(EcdsaKeyPair),
    Ed(Ed25519KeyPair),
}

impl Signer {
    fn ec(id: &str) -> Self {
        Self::of(id, |random| {
            let pkcs8 =
                EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, random).unwrap();
            Key::Es256(
                EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8.as_ref(), random)
                    .unwrap(),
            )
        })
    }

    fn ec384(id: &str) -> Self {
        Self::of(id, |random| {
            let pkcs8 =
                EcdsaKeyPair::generate_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, random).unwrap();
            Key::Es384(
                EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, pkcs8.as_ref(), random)
                    .unwrap(),
            )
        })
    }

    fn ed(id: &str) -> Self {
        Self::of(id, |random| {
            let pkcs8 = Ed25519KeyPair::generate_pkcs8(random).unwrap();
            Key::Ed(Ed25519KeyPair::from_pkcs8(pkcs8.as_ref()).unwrap())
        })
    }

    fn of(id: &str, make: impl Fn(&SystemRandom) -> Key) -> Self {
        let key = make(&SystemRandom::new());
        Self {
            id: id.to_owned(),
            key,
        }
    }

    fn algorithm(&self) -> &'static str {
        match self.key {
            Key::Es256(_) => "ES256",
            Key::Es384(_) => "ES384",
            Key::Ed(_) => "EdDSA",
        }
    }

    fn public(&self) -> &[u8] {
        match &self.key {
            Key::Es256(key) | Key::Es384(key) => key.public_key().as_ref(),
            Key::Ed(key) => key.public_key().as_ref(),
        }
    }

    fn jwk(&self) -> Value {
        match &self.key {
            Key::Ed(_) => json!({
                "kty": "OKP", "crv": "Ed25519", "kid": self.id, "use": "sig", "x": b64(self.public())
            }),
            key => {
                let (x, y) = self.public()[1..].split_at((self.public().len() - 1) / 2);
                let curve = if matches!(key, Key::Es256(_)) {
                    "P-256"
                } else {
                    "P-384"
                };
                json!({"kty": "EC", "crv": curve, "kid": self.id, "use": "sig", "x": b64(x), "y": b64(y)})
            }
        }
    }

    fn sign(&self, message: &str) -> Vec<u8> {
        let random = SystemRandom::new();
        match &self.key {
            Key::Es256(key) | Key::Es384(key) => key
                .sign(&random, message.as_bytes())
                .unwrap()
                .as_ref()
                .to_vec(),
            Key::Ed(key) => key.sign(message.as_bytes()).as_ref().to_vec(),
        }
    }

    fn token(&self, claims: &Value) -> String {
        self.token_with(
            &json!({"alg": self.algorithm(), "kid": self.id, "typ": "JWT"}),
            claims,
        )
    }

    fn token_with(&self, head: &Value, claims: &Value) -> String {
        let message = format!("{}.{}", b64(head.to_string()), b64(claims.to_string()));
        let signature = b64(self.sign(&message));
        format!("{message}.{signature}")
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap()
        .as_secs()
}

fn claims() -> Value {
    json!({"iss": ISSUER, "aud": AUDIENCE, "sub": "alice", "exp": now() + 600, "scope": "read write"})
}

fn but(name: &str, value: Value) -> Value {
    let mut claims = claims();
    claims[name] = value;
    claims
}

fn without(name: &str) -> Value {
    let mut claims = claims();
    claims.as_object_mut().unwrap().remove(name);
    claims
}

fn set(keys: &[&Signer]) -> String {
    let keys: Vec<_> = keys.iter().map(|key| key.jwk()).collect();
    json!({"keys": keys}).to_string()
}

fn fixed(family: Family, keys: &[&Signer]) -> Jwt {
    Jwt::new(ISSUER, AUDIENCE, family, Jwks::fixed(set(keys))).expect("it makes sense")
}

async fn ask(jwt: &Jwt, token: &str) -> Result<Identity, AuthError> {
    jwt.verify(&Credentials::bearer(token)).await
}

async fn refusal(jwt: &Jwt, token: &str) -> (AuthErrorKind, String) {
    let error = ask(jwt, token).await.expect_err("it is not valid");
    (error.kind(), error.to_string())
}

async fn assert_invalid(jwt: &Jwt, token: &str, says: &str) {
    let (kind, text) = refusal(jwt, token).await;
    assert_eq!(kind, AuthErrorKind::Invalid, "{text}");
    assert!(text.contains(says), "{text:?}, not {says:?}");
}

#[tokio::test]
async fn a_token_says_who_asks() {
    for (family, key) in [
        (Family::Ec, Signer::ec("k")),
        (Family::Ec, Signer::ec384("k")),
        (Family::Ed, Signer::ed("k")),
    ] {
        let jwt = fixed(family, &[&key]);
        let identity = ask(&jwt, &key.token(&claims())).await.expect("valid");
        assert_eq!(
            identity.principal(),
            &Principal::new("user", ISSUER, "alice")
        );
        assert_eq!(identity.scopes(), ["read", "write"]);
        let all: Value = identity.claims().expect("all of them").decode().unwrap();
        assert_eq!(all["aud"], AUDIENCE);
        assert!(
            !format!("{identity:?}").contains("exp"),
            "claims are not shown"
        );
        // The same key, another message.
        let token = key.token(&claims());
        let (message, signature) = token.rsplit_once('.').unwrap();
        let mallory = b64(but("sub", json!("root")).to_string());
        let head = message.split_once('.').unwrap().0;
        assert_invalid(&jwt, &format!("{head}.{mallory}.{signature}"), "signature").await;
        assert_invalid(&jwt, &format!("{message}."), "signature").await;
        // Another key of the same name.
        let other = Signer {
            id: "k".to_owned(),
            ..Signer::ec("k")
        };
        if family == Family::Ec && key.algorithm() == "ES256" {
            assert_invalid(&jwt, &other.token(&claims()), "signature").await;
        }
    }
}

/// Made by another library, whose private keys are gone.
#[tokio::test]
async fn rsa_in_all_its_forms() {
    let data: Value = serde_json::from_str(include_str!("data/rsa.json")).unwrap();
    let keys = Jwks::fixed(json!({"keys": data["keys"]}).to_string());
    let jwt = Jwt::new(ISSUER, AUDIENCE, Family::Rsa, keys).unwrap();
    let tokens = data["tokens"].as_object().unwrap();
    assert_eq!(tokens.len(), 6);
    for (algorithm, token) in tokens {
        let token = token.as_str().unwrap();
        let identity = ask(&jwt, token)
            .await
            .unwrap_or_else(|error| panic!("{algorithm}: {error}"));
        assert_eq!(identity.principal().subject(), "alice");
        let (message, _) = token.rsplit_once('.').unwrap();
        assert_invalid(&jwt, &format!("{message}.{}", b64([1; 256])), "signature").await;
    }
    // 1024 bits are not enough for anybody.
    assert_invalid(&jwt, data["short"].as_str().unwrap(), "signature").await;
}

#[tokio::test]
async fn scopes_have_two_names_and_forms() {
    let key = Signer::ec("k");
    let jwt = fixed(Family::Ec, &[&key]).kind("service");
    for (name, value, scopes) in [
        ("scope", json!("a  b"), vec!["a", "b"]),
        ("scope", json!(["a", "b c"]), vec!["a", "b c"]),
        ("scp", json!(["x"]), vec!["x"]),
        ("scp", json!("x y"), vec!["x", "y"]),
        ("other", json!("x"), vec![]),
    ] {
        let mut claims = without("scope");
        claims[name] = value;
        let identity = ask(&jwt, &key.token(&claims)).await.expect("valid");
        assert_eq!(identity.scopes(), scopes);
        assert_eq!(identity.principal().kind(), "service");
    }
}

/// What is missing, over, not yet, or for somebody else.
#[tokio::test]
async fn claims_are_checked() {
    let key = Signer::ec("k");
    let jwt = fixed(Family::Ec, &[&key])
        .clock_skew(secs(10))
        .expect("ten seconds");
    for (wrong, says) in [
        // The library takes a token without an audience, unless told otherwise.
        (without("aud"), "lacks"),
        (without("exp"), "lacks"),
        (without("sub"), "lacks"),
        (
            but("aud", json!("https://other.example.com")),
            "somebody else",
        ),
        (but("aud", json!([])), "somebody else"),
        (but("aud", json!(7)), "lacks"),
        (but("aud", json!(null)), "lacks"),
        (but("exp", json!(now() - 15)), "expired"),
        (but("exp", json!("soon")), ""),
        (but("exp", json!(-5)), ""),
        (but("exp", json!(null)), "lacks"),
        (but("nbf", json!(now() + 15)), "not valid yet"),
        (but("nbf", json!("later")), ""),
        (but("nbf", json!(null)), "not valid"),
        (but("sub", json!(7)), ""),
        (but("scope", json!({"a": 1})), "not valid"),
    ] {
        let token = key.token(&wrong);
        let (kind, text) = refusal(&jwt, &token).await;
        assert_eq!(kind, AuthErrorKind::Invalid, "{wrong}");
        assert!(text.contains(says), "{wrong}: {text}");
    }
    for right in [
        but("exp", json!(now() - 5)),
        but("nbf", json!(now() + 5)),
        but("exp", json!(now() as f64 + 60.5)),
        but("aud", json!(["https://other.example.com", AUDIENCE])),
    ] {
        ask(&jwt, &key.token(&right))
            .await
            .unwrap_or_else(|error| panic!("{right}: {error}"));
    }
    let strict = fixed(Family::Ec, &[&key])
        .clock_skew(secs(0))
        .expect("none");
    assert_invalid(
        &strict,
        &key.token(&but("exp", json!(now() - 2))),
        "expired",
    )
    .await;
}

#[tokio::test]
async fn another_issuer_is_for_another_verifier() {
    let (key, other) = (Signer::ec("k"), Signer::ed("k"));
    let ours = fixed(Family::Ec, &[&key]);
    let theirs = Jwt::new(
        "https://other.example.com",
        AUDIENCE,
        Family::Ed,
        Jwks::fixed(set(&[&other])),
    )
    .unwrap();
    let token = other.token(&but("iss", json!("https://other.example.com")));
    for stranger in [
        token.clone(),
        key.token(&without("iss")),
        key.token(&but("iss", json!([ISSUER]))),
        "a.b.c".to_owned(),
        "abc".to_owned(),
        String::new(),
        format!("{}.e30", key.token(&claims())),
        key.token(&but("x", json!("x".repeat(20_000)))),
    ] {
        assert_eq!(
            refusal(&ours, &stranger).await.0,
            AuthErrorKind::Unrecognized
        );
    }
    let basic = ours
        .verify(&Credentials::basic("u", key.token(&claims())))
        .await;
    assert_eq!(basic.unwrap_err().kind(), AuthErrorKind::Unrecognized);
    let both = ours.or(theirs);
    let who = async |token: &str| {
        let known = both.verify(&Credentials::bearer(token)).await;
        known.map(|identity| identity.principal().issuer().to_owned())
    };
    assert_eq!(who(&token).await.unwrap(), "https://other.example.com");
    assert_eq!(who(&key.token(&claims())).await.unwrap(), ISSUER);
    // The key of one issuer is worth nothing in the name of the other.
    let forged = key.token(&but("iss", json!("https://other.example.com")));
    assert_eq!(
        who(&forged).await.unwrap_err().kind(),
        AuthErrorKind::Invalid
    );
}

/// A public key is no shared secret, and nothing is no signature.
#[tokio::test]
async fn the_token_does_not_choose_its_algorithm() {
    let data: Value = serde_json::from_str(include_str!("data/rsa.json")).unwrap();
    let ec = Signer::ec("k");
    let rsa = Jwks::fixed(json!({"keys": data["keys"]}).to_string());
    let verifiers = [
        (fixed(Family::Ec, &[&ec]), "k"),
        (Jwt::new(ISSUER, AUDIENCE, Family::Rsa, rsa).unwrap(), "rsa"),
    ];
    let claims = b64(claims().to_string());
    for (jwt, kid) in verifiers {
        let jwk = if kid == "k" {
            ec.jwk()
        } else {
            data["keys"][0].clone()
        };
        // Whatever form of the public key an attacker takes for the secret.
        let secrets: Vec<Vec<u8>> = vec![
            ec.public().to_vec(),
            jwk.to_string().into_bytes(),
            jwk["n"]
                .as_str()
                .or(jwk["x"].as_str())
                .unwrap()
                .as_bytes()
                .to_vec(),
        ];
        for algorithm in ["HS256", "HS384", "HS512"] {
            let head = b64(json!({"alg": algorithm, "kid": kid}).to_string());
            for secret in &secrets {
                let way = match algorithm {
                    "HS256" => hmac::HMAC_SHA256,
                    "HS384" => hmac::HMAC_SHA384,
                    _ => hmac::HMAC_SHA512,
                };
                let message = format!("{head}.{claims}");
                let tag = hmac::sign(&hmac::Key::new(way, secret), message.as_bytes());
                assert_invalid(&jwt, &format!("{message}.{}", b64(tag)), "algorithm").await;
            }
        }
        for algorithm in ["none", "None", "NONE", "", "ES512"] {
            let head = b64(json!({"alg": algorithm, "kid": kid}).to_string());
            for signature in ["", "e30"] {
                assert_invalid(&jwt, &format!("{head}.{claims}.{signature}"), "algorithm").await;
            }
        }
    }
    let jwt = fixed(Family::Ec, &[&ec]);
    // Right family, wrong curve; and the key of a set that is for another algorithm.
    let head = json!({"alg": "ES384", "kid": "k"});
    let (kind, _) = refusal(&jwt, &ec.token_with(&head, &self::claims())).await;
    assert_eq!(kind, AuthErrorKind::Invalid);
    // A key that comes along in the token is nobody's.
    let mallory = Signer::ec("mallory");
    let head = json!({"alg": "ES256", "kid": "mallory", "jwk": mallory.jwk(), "jku": "https://evil.example.com"});
    assert_invalid(
        &jwt,
        &mallory.token_with(&head, &self::claims()),
        "key is not known",
    )
    .await;
    // What must be understood and is not.
    let head = json!({"alg": "ES256", "kid": "k", "crit": ["exp2"], "exp2": 1});
    assert_invalid(&jwt, &ec.token_with(&head, &self::claims()), "not valid").await;
    let head = json!({"alg": "ES256", "kid": "k", "b64": false});
    assert_invalid(&jwt, &ec.token_with(&head, &self::claims()), "not valid").await;
}

#[tokio::test]
async fn a_set_has_keys_for_other_things_too() {
    let (ours, second) = (Signer::ec("ours"), Signer::ec("second"));
    let mut encrypts = Signer::ec("enc").jwk();
    encrypts["use"] = json!("enc");
    let mut for_another = Signer::ec("other-alg").jwk();
    for_another["alg"] = json!("ES384");
    let junk = [
        json!({"kty": "oct", "kid": "oct", "k": "c2VjcmV0"}),
        json!({"kty": "future", "kid": "f"}),
        json!({"kty": "RSA", "kid": "half"}),
        json!(7),
        Signer::ed("ed").jwk(),
        encrypts,
        for_another,
    ];
    let mut keys = junk.to_vec();
    keys.push(ours.jwk());
    let text = json!({"keys": keys}).to_string();
    let jwt = Jwt::new(ISSUER, AUDIENCE, Family::Ec, Jwks::fixed(text)).expect("one fits");
    ask(&jwt, &ours.token(&claims()))
        .await
        .expect("it is among them");
    // Without a name there is no choice, where there is only one.
    let nameless = ours.token_with(&json!({"alg": "ES256"}), &claims());
    ask(&jwt, &nameless).await.expect("the only one");
    let both = fixed(Family::Ec, &[&ours, &second]);
    assert_invalid(&both, &nameless, "which key").await;
    for id in ["enc", "ed", "oct", "other-alg"] {
        let token = ours.token_with(&json!({"alg": "ES256", "kid": id}), &claims());
        assert_invalid(&jwt, &token, "not known").await;
    }
}

#[test]
fn what_makes_no_sense_is_an_error() {
    let key = Signer::ec("k");
    let says = |made: Result<Jwt, InvalidJwt>| {
        let error = made.expect_err("it makes no sense");
        let source = std::error::Error::source(&error).map(ToString::to_string);
        format!("{error}: {}", source.unwrap_or_default())
    };
    let of = |issuer: &str, audience: &str, keys: Jwks| {
        says(Jwt::new(issuer, audience, Family::Ec, keys))
    };
    let fine = || Jwks::fixed(set(&[&key]));
    assert!(of("", AUDIENCE, fine()).contains("issuer"));
    assert!(of(ISSUER, "", fine()).contains("audience"));
    assert!(of(ISSUER, AUDIENCE, Jwks::fixed("no set")).contains("no JWK set"));
    assert!(of(ISSUER, AUDIENCE, Jwks::fixed(r#"{"keys":[]}"#)).contains("no key"));
    assert!(of(ISSUER, AUDIENCE, Jwks::fixed(set(&[&Signer::ed("k")]))).contains("pinned family"));
    let many: Vec<_> = (0..65).map(|_| key.jwk()).collect();
    assert!(
        of(
            ISSUER,
            AUDIENCE,
            Jwks::fixed(json!({"keys": many}).to_string())
        )
        .contains("more than 64")
    );
    assert!(says(fixed(Family::Ec, &[&key]).clock_skew(secs(301))).contains("300"));
    for (uri, trusted) in [
        ("https://issuer.example.com/keys", true),
        ("http://127.0.0.1:8080/keys", true),
        ("http://[::1]:8080/keys", true),
        ("http://localhost/keys", true),
        ("http://issuer.example.com/keys", false),
        ("http://localhost.example.com/keys", false),
        ("ftp://issuer.example.com/keys", false),
        ("/keys", false),
    ] {
        let keys = Jwks::fetched(uri.parse().unwrap(), Issuer::default());
        let made = Jwt::new(ISSUER, AUDIENCE, Family::Ec, keys);
        assert_eq!(made.is_ok(), trusted, "{uri}");
        if let Err(error) = made {
            assert!(error.to_string().contains("https"), "{error}");
        }
    }
}

/// What the issuer answers.
#[derive(Clone)]
enum Answer {
    Keys(String, &'static str),
    Status(u16),
    Body(usize),
    Refuses,
    Hangs,
    Panics,
}

/// The issuer, as a service. The last answer stays.
#[derive(Clone, Default)]
struct Issuer(Arc<State>);

#[derive(Default)]
struct State {
    answers: Mutex<VecDeque<Answer>>,
    asked: Mutex<Vec<String>>,
    /// If it is there, an answer waits for it.
    gate: Mutex<Option<Arc<Semaphore>>>,
}

impl Issuer {
    fn answering(answers: impl IntoIterator<Item = Answer>) -> Self {
        let issuer = Self::default();
        issuer.then(answers);
        issuer
    }

    fn then(&self, answers: impl IntoIterator<Item = Answer>) {
        *self.0.answers.lock().unwrap() = answers.into_iter().collect();
    }

    fn asked(&self) -> usize {
        self.0.asked.lock().unwrap().len()
    }

    fn wait(&self) -> Arc<Semaphore> {
        let gate = Arc::new(Semaphore::new(0));
        *self.0.gate.lock().unwrap() = Some(gate.clone());
        gate
    }

    fn jwt(&self) -> Jwt {
        let keys = Jwks::fetched(
            "https://issuer.example.com/jwks.json".parse().unwrap(),
            self.clone(),
        );
        Jwt::new(ISSUER, AUDIENCE, Family::Ec, keys).expect("it makes sense")
    }
}

impl Service<Request<Empty<Bytes>>> for Issuer {
    type Response = Response<Full<Bytes>>;
    type Error = std::io::Error;
    type Future = BoxFuture<'static, Result<Self::Response, std::io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Empty<Bytes>>) -> Self::Future {
        self.0.asked.lock().unwrap().push(request.uri().to_string());
        let mut answers = self.0.answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop_front()
        } else {
            answers.front().cloned()
        };
        let gate = self.0.gate.lock().unwrap().clone();
        async move {
            if let Some(gate) = gate {
                gate.acquire().await.unwrap().forget();
            }
            let (status, cache, body) = match answer.expect("an answer") {
                Answer::Keys(set, cache) => (200, cache, set),
                Answer::Status(status) => (status, "", r#"{"keys":[]}"#.to_owned()),
                Answer::Body(bytes) => (200, "", " ".repeat(bytes)),
                Answer::Refuses => return Err(std::io::Error::other("connection refused")),
                Answer::Hangs => std::future::pending().await,
                Answer::Panics => panic!("the client fell over"),
            };
            let mut response = Response::builder().status(status);
            if !cache.is_empty() {
                response = response.header("cache-control", cache);
            }
            Ok(response.body(Full::from(body)).unwrap())
        }
        .boxed()
    }
}

fn keys(keys: &[&Signer]) -> Answer {
    Answer::Keys(set(keys), "public, max-age=600")
}

#[tokio::test(start_paused = true)]
async fn keys_are_kept_for_their_age() {
    let key = Signer::ec("k");
    for (cache, age) in [
        ("public, max-age=600", 600),
        ("", 300),
        ("no-store", 300),
        ("max-age=0", 60),
        ("max-age=99999999", 24 * 3600),
        (r#"MAX-AGE="120""#, 120),
    ] {
        let issuer = Issuer::answering([Answer::Keys(set(&[&key]), cache)]);
        let jwt = issuer.jwt();
        assert_eq!(issuer.asked(), 0, "nobody has asked yet");
        for _ in 0..100 {
            ask(&jwt, &key.token(&claims())).await.expect("valid");
        }
        assert_eq!(issuer.asked(), 1);
        assert_eq!(
            *issuer.0.asked.lock().unwrap(),
            ["https://issuer.example.com/jwks.json"]
        );
        advance(secs(age - 1)).await;
        ask(&jwt.clone(), &key.token(&claims()))
            .await
            .expect("valid");
        assert_eq!(issuer.asked(), 1, "{cache}");
        advance(secs(1)).await;
        ask(&jwt, &key.token(&claims())).await.expect("valid");
        assert_eq!(issuer.asked(), 2, "{cache}");
    }
}

/// With the keys there, nobody waits: then a refusal is told before anything is begun.
#[tokio::test(start_paused = true)]
async fn known_keys_decide_at_once() {
    let key = Signer::ec("k");
    let jwt = Issuer::answering([keys(&[&key])]).jwt();
    let verify = |token: String| jwt.verify(&Credentials::bearer(token)).now_or_never();
    assert!(
        verify(key.token(&claims()))
            .expect("the issuer answers at once")
            .is_ok()
    );
    assert!(
        verify(key.token(&without("aud")))
            .expect("at once")
            .is_err()
    );
    assert!(verify("x".to_owned()).expect("at once").is_err());
}

#[tokio::test(start_paused = true)]
async fn keys_rotate() {
    let (old, new) = (Signer::ec("old"), Signer::ec("new"));
    let issuer = Issuer::answering([keys(&[&old]), keys(&[&old, &new]), keys(&[&new])]);
    let jwt = issuer.jwt();
    ask(&jwt, &old.token(&claims())).await.expect("valid");
    // The very first token of a new key is let in.
    ask(&jwt, &new.token(&claims())).await.expect("asked again");
    assert_eq!(issuer.asked(), 2);
    ask(&jwt, &old.token(&claims())).await.expect("valid still");
    // At the end of their age a key that was taken back is gone.
    advance(secs(600)).await;
    ask(&jwt, &new.token(&claims())).await.expect("valid");
    assert_eq!(issuer.asked(), 3);
    assert_invalid(&jwt, &old.token(&claims()), "not known").await;
}

/// Anybody can make up key ids: the issuer does not feel it.
#[tokio::test(start_paused = true)]
async fn made_up_keys_do_not_flood_the_issuer() {
    let key = Signer::ec("k");
    let issuer = Issuer::answering([Answer::Keys(set(&[&key]), "max-age=86400")]);
    let jwt = issuer.jwt();
    ask(&jwt, &key.token(&claims())).await.expect("valid");
    let mallory: Vec<_> = (0..10)
        .map(|n| Signer::ec(&format!("made-up-{n}")))
        .collect();
    for second in 0..300 {
        let token = mallory[second % 10].token(&claims());
        assert_invalid(&jwt, &token, "not known").await;
        ask(&jwt, &key.token(&claims()))
            .await
            .expect("nobody else feels it either");
        advance(secs(1)).await;
    }
    assert_eq!(issuer.asked(), 1 + 10, "once in 30 seconds");
    // Dropping the question does not help: the fetch that it began counts.
    let gate = issuer.wait();
    for second in 0..60 {
        let token = mallory[second % 10].token(&claims());
        assert!(
            ask(&jwt, &token)
                .now_or_never()
                .is_none_or(|known| known.is_err())
        );
        advance(secs(1)).await;
    }
    assert!(issuer.asked() <= 11 + 3, "{}", issuer.asked());
    drop(gate);
}

/// A thousand at once, and one fetch.
#[tokio::test(start_paused = true)]
async fn one_fetch_serves_all_who_wait() {
    let key = Signer::ec("k");
    let issuer = Issuer::answering([keys(&[&key])]);
    let gate = issuer.wait();
    let jwt = issuer.jwt();
    let token = key.token(&claims());
    let mut waiting: Vec<_> = (0..1000).map(|_| ask(&jwt, &token).boxed()).collect();
    for verify in &mut waiting {
        assert!(verify.now_or_never().is_none());
    }
    // The first to come goes away: the others are none the worse.
    drop(waiting.remove(0));
    gate.add_permits(1);
    for known in futures_util::future::join_all(waiting).await {
        known.expect("valid");
    }
    assert_eq!(issuer.asked(), 1);
    // The same when their age is over, and when a key is not among them.
    advance(secs(600)).await;
    let other = Signer::ec("other").token(&claims());
    let mut waiting: Vec<_> = (0..100).map(|_| ask(&jwt, &token).boxed()).collect();
    for verify in &mut waiting {
        assert!(verify.now_or_never().is_none());
    }
    gate.add_permits(1);
    assert!(
        futures_util::future::join_all(waiting)
            .await
            .iter()
            .all(Result::is_ok)
    );
    assert_eq!(issuer.asked(), 2);
    let mut waiting: Vec<_> = (0..100).map(|_| ask(&jwt, &other).boxed()).collect();
    for verify in &mut waiting {
        assert!(verify.now_or_never().is_none());
    }
    gate.add_permits(1);
    assert!(
        futures_util::future::join_all(waiting)
            .await
            .iter()
            .all(Result::is_err)
    );
    assert_eq!(issuer.asked(), 3);
}

/// All who waited are gone: whoever comes next is served all the same.
#[tokio::test(start_paused = true)]
async fn an_abandoned_fetch_does_no_harm() {
    let key = Signer::ec("k");
    let token = key.token(&claims());
    for later in [0, 3, 29, 31, 3600] {
        let issuer = Issuer::answering([keys(&[&key])]);
        let gate = issuer.wait();
        let jwt = issuer.jwt();
        assert!(ask(&jwt, &token).now_or_never().is_none());
        advance(secs(later)).await;
        gate.add_permits(2);
        ask(&jwt, &token)
            .await
            .unwrap_or_else(|error| panic!("after {later}: {error}"));
        assert!(issuer.asked() <= 2);
    }
}

/// One that nobody drove, and that will never be answered, is given up for another.
#[tokio::test(start_paused = true)]
async fn a_fetch_that_stood_still_is_begun_anew() {
    let key = Signer::ec("k");
    let token = key.token(&claims());
    let issuer = Issuer::answering([Answer::Hangs, keys(&[&key])]);
    let jwt = issuer.jwt();
    assert!(ask(&jwt, &token).now_or_never().is_none());
    advance(secs(30)).await;
    ask(&jwt, &token).await.expect("asked again");
    assert_eq!(issuer.asked(), 2);
}

/// That nobody can tell is no reason to say that somebody is wrong.
#[tokio::test(start_paused = true)]
async fn an_issuer_that_is_down_is_unavailable() {
    let (log, _guard) = Log::start();
    let key = Signer::ec("k");
    let token = key.token(&claims());
    for (answer, says) in [
        (Answer::Refuses, "connection refused"),
        (Answer::Status(500), "500"),
        (Answer::Status(302), "302"),
        (Answer::Hangs, "in time"),
        (Answer::Panics, "panicked"),
        (Answer::Body(300 << 10), "more than 262144 bytes"),
        (Answer::Body(10), "no JWK set"),
        (Answer::Keys(set(&[&Signer::ed("k")]), ""), "pinned family"),
    ] {
        let issuer = Issuer::answering([answer]);
        let jwt = issuer.jwt();
        let begun = Instant::now();
        let error = ask(&jwt, &token).await.expect_err("there are no keys");
        assert!(begun.elapsed() <= secs(5), "{says}");
        assert_eq!(error.kind(), AuthErrorKind::Unavailable, "{says}");
        assert!(error.after().is_some_and(|after| after <= secs(5)));
        let mut causes = String::new();
        let mut cause = std::error::Error::source(&error);
        while let Some(error) = cause {
            causes += &error.to_string();
            cause = error.source();
        }
        assert!(causes.contains(says), "{causes:?}, not {says:?}");
        assert!(log.text().contains(says));
        // It is not asked for each token, and what cannot be known is not said to be wrong.
        for _ in 0..100 {
            assert_eq!(refusal(&jwt, &token).await.0, AuthErrorKind::Unavailable);
        }
        assert_eq!(issuer.asked(), 1, "{says}");
        // What is no token of ours, or wrong in itself, is still refused.
        assert_eq!(refusal(&jwt, "x").await.0, AuthErrorKind::Unrecognized);
        issuer.then([keys(&[&key])]);
        advance(secs(5)).await;
        ask(&jwt, &token)
            .await
            .unwrap_or_else(|error| panic!("after {says}: {error}"));
    }
}

#[tokio::test(start_paused = true)]
async fn old_keys_are_better_than_none() {
    let (key, new) = (Signer::ec("k"), Signer::ec("new"));
    let issuer = Issuer::answering([keys(&[&key])]);
    let jwt = issuer.jwt();
    let token = key.token(&claims());
    ask(&jwt, &token).await.expect("valid");
    issuer.then([Answer::Refuses]);
    // A new key cannot be told from a made up one now.
    assert_eq!(
        refusal(&jwt, &new.token(&claims())).await.0,
        AuthErrorKind::Unavailable
    );
    assert_eq!(
        refusal(&jwt, &new.token(&claims())).await.0,
        AuthErrorKind::Unavailable
    );
    advance(secs(600)).await;
    let before = issuer.asked();
    for _ in 0..10 {
        ask(&jwt, &token).await.expect("the old keys do");
    }
    assert_eq!(issuer.asked(), before + 1, "and it is not tried for each");
    advance(secs(24 * 3600 - 1)).await;
    ask(&jwt, &token).await.expect("the old keys do");
    // Not for ever: a key may have been taken back long ago.
    advance(secs(1)).await;
    assert_eq!(refusal(&jwt, &token).await.0, AuthErrorKind::Unavailable);
    issuer.then([keys(&[&key])]);
    advance(secs(5)).await;
    ask(&jwt, &token).await.expect("valid");
}

#[tokio::test(start_paused = true)]
async fn tokens_are_in_no_log_and_no_error() {
    let (log, _guard) = Log::start();
    let key = Signer::ec("k");
    let issuer = Issuer::answering([keys(&[&key]), Answer::Refuses]);
    let jwt = issuer.jwt();
    let mut shown = format!("{jwt:?}");
    let tokens = [
        key.token(&claims()),
        key.token(&but("sub", json!({"planted-claim": 1}))),
        key.token(&but("aud", json!({"planted-claim": 1}))),
        key.token(&but("exp", json!("planted-claim"))),
        key.token(&but("scope", json!({"planted-claim": 1}))),
        key.token_with(&json!({"alg": "planted-claim", "kid": "k"}), &claims()),
        key.token_with(&json!({"alg": "ES256", "kid": "planted-claim"}), &claims()),
        format!("{}x", key.token(&claims())),
    ];
    for token in &tokens {
        let verify = ask(&jwt, token);
        let answer = verify.await;
        shown += &format!("{answer:?}");
        if let Err(error) = answer {
            let mut cause: Option<&dyn std::error::Error> = Some(&error);
            while let Some(error) = cause {
                shown += &format!("{error} {error:?}");
                cause = error.source();
            }
            shown += &format!("{:?}", portcullis::Failure::from(error));
        }
    }
    shown += &log.text();
    assert!(log.text().contains("not renewed"));
    for token in &tokens {
        for part in token.split('.') {
            assert!(!shown.contains(part), "{part} is in {shown}");
        }
    }
    assert!(!shown.contains("planted-claim"), "{shown}");
}

/// A client whose readiness is a matter of its own.
#[derive(Clone)]
struct Unready(Issuer, bool);

impl Service<Request<Empty<Bytes>>> for Unready {
    type Response = Response<Full<Bytes>>;
    type Error = std::io::Error;
    type Future = <Issuer as Service<Request<Empty<Bytes>>>>::Future;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        if std::mem::replace(&mut self.1, true) {
            return Poll::Ready(Ok(()));
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    fn call(&mut self, request: Request<Empty<Bytes>>) -> Self::Future {
        assert!(self.1, "called before it was ready");
        self.0.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_client_is_made_ready_first() {
    let key = Signer::ec("k");
    let client = Unready(Issuer::answering([keys(&[&key])]), false);
    let keys = Jwks::fetched("https://issuer.example.com/".parse().unwrap(), client);
    let jwt = Jwt::new(ISSUER, AUDIENCE, Family::Ec, keys).unwrap();
    ask(&jwt, &key.token(&claims())).await.expect("valid");
}

/// Bytes without end, and without a length that says so.
struct Endless(Arc<AtomicUsize>);

impl Body for Endless {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.0.fetch_add(1024, Ordering::SeqCst);
        Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(&[b' '; 1024])))))
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_body_is_cut() {
    let read = Arc::new(AtomicUsize::new(0));
    let client = {
        let read = read.clone();
        tower::service_fn(move |_: Request<Empty<Bytes>>| {
            ready(Ok::<_, Infallible>(Response::new(Endless(read.clone()))))
        })
    };
    let keys = Jwks::fetched("https://issuer.example.com/".parse().unwrap(), client);
    let jwt = Jwt::new(ISSUER, AUDIENCE, Family::Ec, keys).unwrap();
    let token = Signer::ec("k").token(&claims());
    assert_eq!(refusal(&jwt, &token).await.0, AuthErrorKind::Unavailable);
    assert_eq!(read.load(Ordering::SeqCst), (256 << 10) + 1024);
}
