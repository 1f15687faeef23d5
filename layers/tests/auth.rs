//! Who asks, and whether they may.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant as RealInstant},
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{Agent, AgentEvent, AgentExt, FailureCode, Principal, Prompt, Scope};
use portcullis_layers::auth::{
    ApiKeys, AuthError, AuthErrorKind, AuthLayer, Credentials, Identity, InvalidKeys, NewApiKey,
    Scheme, Verifier, verify_fn,
};
use tokio::time::{advance, sleep};
use tower::{Layer, ServiceBuilder};

use support::*;

fn new_key(subject: &str, scopes: &[&str]) -> NewApiKey {
    NewApiKey::generate(subject, scopes).expect("words")
}

fn keys(keys: &[&NewApiKey]) -> ApiKeys {
    let lines: Vec<_> = keys.iter().map(|key| key.line()).collect();
    ApiKeys::from_text(&lines.join("\n")).expect("lines as they are made")
}

fn with(credentials: Credentials) -> Scope {
    let mut scope = Scope::new("session");
    scope.extensions_mut().insert(credentials);
    scope
}

fn bearer(key: &NewApiKey) -> Scope {
    with(Credentials::bearer(key.reveal()))
}

async fn turn<A: Agent + Clone>(agent: &A, scope: Scope) -> Vec<AgentEvent> {
    agent.invoke(scope, Prompt::text("hello")).collect().await
}

/// The code of a refusal, and that the agent heard nothing of it.
async fn refused<L>(layer: &L, scope: Scope) -> (FailureCode, String)
where
    L: Layer<Actor, Service: Agent + Clone>,
{
    let actor = actor([done()]);
    let events = turn(&layer.layer(actor.clone()), scope).await;
    assert_eq!(types(&events), "failed");
    assert_eq!(actor.seen.calls(), 0, "the agent is not called");
    let failure = failure(&events);
    let code = failure.code().expect("a code").clone();
    (code, failure.details().to_owned())
}

async fn let_in<L>(layer: &L, scope: Scope) -> Scope
where
    L: Layer<Actor, Service: Agent + Clone>,
{
    let actor = actor([done()]);
    let events = turn(&layer.layer(actor.clone()), scope).await;
    assert_eq!(types(&events), "completed", "{events:?}");
    actor.seen.last_scope()
}

/// Anybody, who is known as what they say.
fn gullible() -> impl Verifier<Verify: Send> + Clone {
    verify_fn(async |presented: Credentials| {
        tokio::task::yield_now().await;
        Ok(Identity::new(Principal::new(
            "user",
            "test",
            presented.secret(),
        )))
    })
}

/// Lets everything through that it is not about, behind a scope that is in order.
#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let layer = || {
        AuthLayer::demand().authorize_with(async |_, _, _| {
            sleep(secs(1)).await;
            Ok(())
        })
    };
    let named = tower::util::MapRequestLayer::new(|(scope, prompt): (Scope, Prompt)| {
        (
            scope.with_principal(Principal::new("user", "test", "a")),
            prompt,
        )
    });
    let make = |actor: Actor| {
        ServiceBuilder::new()
            .layer(named.clone())
            .layer(layer())
            .service(actor)
    };
    assert_transparent(make).await;
    assert_drops(everything(), make, || true).await;
    for (end, part) in five_ends() {
        let actor = actor(part);
        let bare = to_its_end(&actor).await;
        assert_eq!(to_its_end(&make(actor.clone())).await, bare, "{end}");
        assert_eq!(actor.seen.alive(), 0, "{end}");
    }
}

#[tokio::test]
async fn a_key_says_who_asks_and_goes_no_further() {
    let key = new_key("alice", &["read", "write"]);
    let layer = AuthLayer::new(keys(&[&key]));
    for credentials in [
        Credentials::bearer(key.reveal()),
        Credentials::api_key(key.reveal()),
    ] {
        let seen = let_in(&layer, with(credentials)).await;
        let principal = Principal::new("service", "api-keys", "alice");
        assert_eq!(seen.principal(), Some(&principal));
        let identity = seen
            .extensions()
            .get::<Identity>()
            .expect("for layers below");
        assert_eq!(identity.principal(), &principal);
        assert_eq!(identity.scopes(), ["read", "write"]);
        assert!(seen.extensions().get::<Credentials>().is_none());
    }
    let keeps = AuthLayer::new(keys(&[&key])).keep_credentials();
    let seen = let_in(&keeps, bearer(&key)).await;
    let kept = seen.extensions().get::<Credentials>().expect("asked for");
    assert_eq!(kept.secret(), key.reveal());
    // Those that only demand take them away too.
    let seen = let_in(
        &AuthLayer::demand(),
        bearer(&key).with_principal(principal("p")),
    )
    .await;
    assert!(seen.extensions().get::<Credentials>().is_none());
}

fn principal(subject: &str) -> Principal {
    Principal::new("user", "test", subject)
}

#[tokio::test]
async fn everybody_else_is_refused() {
    let (key, other) = (new_key("alice", &[]), new_key("alice", &[]));
    let layer = AuthLayer::new(keys(&[&key]));
    let (id, secret) = key.reveal()[4..].split_once('_').expect("an id");
    let other_id = other.reveal()[4..].split_once('_').expect("an id").0;
    let mut texts = Vec::new();
    for wrong in [
        // An id that is not there, and a key that is wrong, get the same answer.
        other.reveal().to_owned(),
        format!("pck_{id}_{}", secret.replace(['0', '1', '2', '3'], "f")),
        format!("pck_{id}_{secret}0"),
        format!("pck_{id}_{}", &secret[1..]),
        format!("pck_{other_id}_{secret}"),
        key.reveal().to_uppercase().replace("PCK", "pck"),
    ] {
        let (code, text) = refused(&layer, with(Credentials::bearer(wrong))).await;
        assert_eq!(code, FailureCode::UNAUTHENTICATED);
        texts.push(text);
    }
    texts.dedup();
    assert_eq!(texts, ["the key is not valid"]);
    for unknown in [
        Credentials::bearer("pck_"),
        Credentials::bearer(format!("pck_{id}_{}", "0".repeat(10_000))),
        Credentials::bearer("eyJhbGciOiJub25lIn0.e30."),
        Credentials::basic("alice", key.reveal()),
        Credentials::api_key(""),
    ] {
        let (code, text) = refused(&layer, with(unknown)).await;
        assert_eq!(code, FailureCode::UNAUTHENTICATED);
        assert!(text.contains("no kind"), "{text}");
    }
    let (code, text) = refused(&layer, Scope::new("session")).await;
    assert_eq!(code, FailureCode::UNAUTHENTICATED);
    assert_eq!(text, "authentication is required");
}

/// SEC-2, critique B15: what a caller says of itself is nothing.
#[tokio::test]
async fn nobody_names_themselves() {
    let key = new_key("alice", &[]);
    let claims = r#"{"session":"s","principal":{"kind":"user","issuer":"test","subject":"root"}}"#;
    let claimed = Scope::from_json(claims).expect("unknown members are kept");
    assert_eq!(
        refused(&AuthLayer::demand(), claimed.clone()).await.0,
        FailureCode::UNAUTHENTICATED
    );
    let layer = AuthLayer::new(keys(&[&key]));
    assert_eq!(
        refused(&layer, claimed.clone()).await.0,
        FailureCode::UNAUTHENTICATED
    );
    // Not even a principal that code has set stands in for credentials.
    let named = claimed.clone().with_principal(principal("root"));
    assert_eq!(
        refused(&layer, named.clone()).await.0,
        FailureCode::UNAUTHENTICATED
    );
    let mut both = named;
    both.extensions_mut()
        .insert(Credentials::bearer(key.reveal()));
    let seen = let_in(&layer, both).await;
    assert_eq!(seen.principal().map(Principal::subject), Some("alice"));
}

#[tokio::test]
async fn demand_takes_whom_code_has_named() {
    let seen = let_in(
        &AuthLayer::demand(),
        Scope::new("s").with_principal(principal("a")),
    )
    .await;
    assert_eq!(seen.principal(), Some(&principal("a")));
    // The identity of somebody else lends no scopes.
    let layer = AuthLayer::demand().require_scopes(["write"]);
    let mut scope = Scope::new("s").with_principal(principal("a"));
    scope
        .extensions_mut()
        .insert(Identity::new(principal("b")).with_scopes(["write"]));
    assert_eq!(
        refused(&layer, scope.clone()).await.0,
        FailureCode::PERMISSION_DENIED
    );
    scope
        .extensions_mut()
        .insert(Identity::new(principal("a")).with_scopes(["write"]));
    let_in(&layer, scope).await;
}

#[tokio::test]
async fn scopes_say_what_one_may() {
    let (reader, writer) = (new_key("r", &["read"]), new_key("w", &["write", "read"]));
    let layer = AuthLayer::new(keys(&[&reader, &writer])).require_scopes(["read", "write"]);
    let (code, text) = refused(&layer, bearer(&reader)).await;
    assert_eq!(code, FailureCode::PERMISSION_DENIED);
    assert_eq!(text, "this takes the scopes: read write");
    let_in(&layer, bearer(&writer)).await;
    // Who is not known is not told what it takes.
    let (code, text) = refused(&layer, Scope::new("s")).await;
    assert_eq!(code, FailureCode::UNAUTHENTICATED);
    assert!(!text.contains("write"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_function_says_who_may_ask_what() {
    let key = new_key("alice", &[]);
    let keys = keys(&[&key]);
    let sync = AuthLayer::new(keys.clone()).authorize_if(
        |who: &Identity, scope: &Scope, prompt: &Prompt| {
            assert_eq!(scope.principal(), Some(who.principal()));
            scope.session() == "session" && prompt.as_text() == "hello"
        },
    );
    let_in(&sync, bearer(&key)).await;
    let mut elsewhere = bearer(&key);
    elsewhere.set_session("another");
    assert_eq!(
        refused(&sync, elsewhere.clone()).await.0,
        FailureCode::PERMISSION_DENIED
    );

    let waits = AuthLayer::new(keys).authorize_with(
        async |who: Identity, scope: Scope, _prompt: Prompt| {
            sleep(secs(1)).await;
            match scope.session() {
                "session" if who.principal().subject() == "alice" => Ok(()),
                "another" => Err(AuthError::denied("not in this conversation")),
                _ => Err(AuthError::unavailable().retry_after(secs(3))),
            }
        },
    );
    let_in(&waits, bearer(&key)).await;
    let (code, text) = refused(&waits, elsewhere.clone()).await;
    assert_eq!(code, FailureCode::PERMISSION_DENIED);
    assert_eq!(text, "not in this conversation");
    elsewhere.set_session("a third");
    let events = turn(&waits.layer(actor([done()])), elsewhere).await;
    let failure = failure(&events);
    assert!(failure.is(&FailureCode::UNAVAILABLE) && failure.is_retryable());
    assert_eq!(failure.after(), Some(secs(3)));
}

/// Dropped while it is asked who asks, and while it is asked whether they may.
#[tokio::test(start_paused = true)]
async fn a_dropped_turn_withdraws_its_question() {
    struct Asked(Arc<AtomicUsize>);
    impl Drop for Asked {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }
    let asked = Arc::new(AtomicUsize::new(0));
    let ask = |asked: &Arc<AtomicUsize>| {
        asked.fetch_add(1, Ordering::SeqCst);
        Asked(asked.clone())
    };
    let verify = {
        let asked = asked.clone();
        verify_fn(move |_: Credentials| {
            let question = ask(&asked);
            async move {
                sleep(secs(1)).await;
                drop(question);
                Ok(Identity::new(principal("a")))
            }
        })
    };
    let authorize = {
        let asked = asked.clone();
        move |_, _, _| {
            let question = ask(&asked);
            async move {
                sleep(secs(1)).await;
                drop(question);
                Ok(())
            }
        }
    };
    let layer = AuthLayer::new(verify).authorize_with(authorize);
    for after in [0, 500, 1500] {
        let actor = actor([done()]);
        let agent = layer.layer(actor.clone());
        let mut turn = Box::pin(agent.invoke(with(Credentials::bearer("x")), Prompt::text("p")));
        assert!(turn.next().now_or_never().is_none());
        advance(Duration::from_millis(after)).await;
        assert!(turn.next().now_or_never().is_none());
        assert_eq!(asked.load(Ordering::SeqCst), 1, "after {after} ms");
        drop(turn);
        assert_eq!(asked.load(Ordering::SeqCst), 0, "after {after} ms");
        assert_eq!(actor.seen.calls(), 0);
    }
}

#[tokio::test]
async fn the_first_that_recognises_decides() {
    let key = new_key("alice", &[]);
    let down = verify_fn(async |presented: Credentials| match presented.secret() {
        "token" => Err(AuthError::unavailable()),
        _ => Err(AuthError::unrecognized()),
    });
    let layer = AuthLayer::new(down.or(keys(&[&key])).or(gullible()));
    let seen = let_in(&layer, bearer(&key)).await;
    assert_eq!(seen.principal().map(Principal::issuer), Some("api-keys"));
    let seen = let_in(&layer, with(Credentials::bearer("anybody"))).await;
    assert_eq!(seen.principal().map(Principal::subject), Some("anybody"));
    // A key that is wrong, and a verifier that cannot tell, do not go on to who believes all.
    let wrong = new_key("alice", &[]);
    assert_eq!(
        refused(&layer, bearer(&wrong)).await.0,
        FailureCode::UNAUTHENTICATED
    );
    let (code, _) = refused(&layer, with(Credentials::bearer("token"))).await;
    assert_eq!(code, FailureCode::UNAVAILABLE);
}

/// Refused in the first poll where nothing had to be waited for: then an edge opens no task.
#[tokio::test]
async fn a_refusal_does_not_wait() {
    let key = new_key("alice", &[]);
    let agent = AuthLayer::new(keys(&[&key])).layer(actor([done()]));
    for scope in [Scope::new("s"), with(Credentials::bearer("x"))] {
        let mut turn = Box::pin(agent.invoke(scope, Prompt::text("p")));
        assert!(matches!(
            turn.next().now_or_never(),
            Some(Some(AgentEvent::Failed(_)))
        ));
        assert_eq!(turn.next().now_or_never(), Some(None));
    }
}

/// The whole of it: what is logged, shown and told in all the cases of this layer.
#[tokio::test(start_paused = true)]
async fn secrets_are_nowhere() {
    let (log, _guard) = Log::start();
    let dir = tempfile::tempdir().expect("a directory");
    let file = dir.path().join("keys");
    let (key, wrong) = (new_key("alice", &[]), new_key("alice", &[]));
    fs::write(&file, key.line()).expect("written");
    let keys = ApiKeys::open(&file).expect("a key");
    let token = "eyJhbGciOiJub25lIn0.secret-claims.secret-signature";
    let mut shown = vec![
        format!("{key:?} {keys:?}"),
        key.line().to_owned(),
        fs::read_to_string(&file).expect("there"),
    ];
    let layer = AuthLayer::new(keys.clone()).require_scopes(["nobody-has"]);
    shown.push(format!("{layer:?}"));
    for credentials in [
        Credentials::bearer(key.reveal()),
        Credentials::api_key(wrong.reveal()),
        Credentials::bearer(token),
        Credentials::basic("secret-user", "secret-password"),
    ] {
        shown.push(format!("{credentials:?} {:?}", Some(credentials.clone())));
        let scope = with(credentials);
        shown.push(format!("{scope:?}"));
        let agent = layer.layer(actor([done()]));
        let mut turn = Box::pin(agent.invoke(scope, Prompt::text("hello")));
        shown.push(format!("{agent:?} {turn:?}"));
        while let Some(event) = turn.next().await {
            shown.push(format!("{event:?} {}", event.to_json()));
            if let AgentEvent::Failed(failure) = event {
                let mut error: Option<&dyn std::error::Error> = Some(&failure);
                while let Some(cause) = error {
                    shown.push(format!("{cause} {cause:?}"));
                    error = cause.source();
                }
            }
        }
    }
    // A key where none belongs: in the file, instead of its digest.
    fs::write(&file, format!("id1 {} alice", key.reveal())).expect("written");
    advance(secs(2)).await;
    let_in(&AuthLayer::new(keys), bearer(&key)).await;
    shown.push(format!(
        "{:?}",
        ApiKeys::open(&file).expect_err("no digest")
    ));
    shown.push(log.text());
    let shown = shown.join("\n");
    assert!(log.text().contains("refused") && log.text().contains("stay as they were"));
    let secret = |key: &NewApiKey| {
        key.reveal()
            .rsplit_once('_')
            .expect("a secret")
            .1
            .to_owned()
    };
    for secret in [&*secret(&key), &*secret(&wrong), "secret-", "eyJ"] {
        assert!(!shown.contains(secret), "{secret} is in\n{shown}");
    }
}

#[test]
fn a_key_is_random_and_only_its_digest_is_kept() {
    let (one, two) = (new_key("alice", &["a", "b"]), new_key("alice", &[]));
    assert_ne!(one.reveal(), two.reveal());
    let digest = ring::digest::digest(&ring::digest::SHA256, one.reveal().as_bytes());
    let hex: String = digest.as_ref().iter().map(|b| format!("{b:02x}")).collect();
    let words: Vec<_> = one.line().split(' ').collect();
    assert_eq!(words[1..], [&*hex, "alice", "a", "b"]);
    assert!(one.reveal().starts_with(&format!("pck_{}_", words[0])));
    assert_eq!(one.reveal().len(), 4 + 16 + 1 + 64);
    for (subject, scopes) in [
        ("", vec![]),
        ("a b", vec![]),
        ("a", vec!["x\ny"]),
        ("a", vec![""]),
    ] {
        assert!(NewApiKey::generate(subject, scopes).is_err(), "{subject:?}");
    }
}

/// How long it takes must not tell how much was right: a digest has no `==`.
#[test]
fn digests_are_compared_in_constant_time() {
    let source = include_str!("../src/auth/api_keys/digest.rs");
    assert!(source.contains("self.0.ct_eq(&other.0)"));
    assert!(!source.contains("PartialEq"), "a digest has no ==");
    // Nor does anybody get at what is in it.
    assert!(source.contains("pub(super) struct Digest([u8; 32]);"));
    let table = include_str!("../src/auth/api_keys/table.rs");
    assert!(table.contains("digest.matches(&Digest::of(key))"));
}

fn message(result: Result<ApiKeys, InvalidKeys>) -> String {
    result.expect_err("it is no such file").to_string()
}

#[test]
fn a_file_that_makes_no_sense_is_an_error() {
    let line = |id: &str| format!("{id} {} alice", "0".repeat(64));
    let text = |text: &str| message(ApiKeys::from_text(text));
    assert_eq!(text(""), "there is no key");
    assert_eq!(text("# nothing\n\n"), "there is no key");
    for (wrong, says) in [
        (
            format!("{}\nabc", line("a")),
            "line 2 of the keys: the digest",
        ),
        (
            format!("{}\n{}", line("a"), line("a")),
            "line 2 of the keys: the id was there",
        ),
        ("a-b 00 alice".to_owned(), "line 1 of the keys: the id"),
        (format!("a {} alice", "g".repeat(64)), "the digest"),
        (format!("a {}", "0".repeat(64)), "nobody is named"),
        (line("a") + " s\u{7}", "control"),
        (line(&"a".repeat(65)), "the id"),
    ] {
        assert!(text(&wrong).contains(says), "{}", text(&wrong));
    }
    let dir = tempfile::tempdir().expect("a directory");
    assert_eq!(
        message(ApiKeys::open(dir.path().join("none"))),
        "the keys cannot be read"
    );
    let long = dir.path().join("long");
    fs::write(&long, "#".repeat((4 << 20) + 1)).expect("written");
    assert!(message(ApiKeys::open(long)).contains("4194304"));
    let binary = dir.path().join("binary");
    fs::write(&binary, [0xff, 0xfe]).expect("written");
    assert_eq!(message(ApiKeys::open(binary)), "the keys cannot be read");
    // Comments, empty lines, any white space and line ends, upper case digits.
    let fine = format!(
        "# a comment\r\n\r\n  a\t{}  alice x  y \r\n",
        "AB".repeat(32)
    );
    assert!(ApiKeys::from_text(&fine).is_ok());
}

struct Keys {
    _dir: tempfile::TempDir,
    path: PathBuf,
    keys: ApiKeys,
}

fn opened(text: &str) -> Keys {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("keys");
    fs::write(&path, text).expect("written");
    let keys = ApiKeys::open(&path).expect("a key");
    Keys {
        _dir: dir,
        path,
        keys,
    }
}

async fn knows(keys: &ApiKeys, key: &NewApiKey) -> bool {
    let known = keys.verify(&Credentials::bearer(key.reveal())).await;
    known.as_ref().err().is_none_or(|error| {
        assert_eq!(error.kind(), AuthErrorKind::Invalid);
        false
    })
}

#[tokio::test(start_paused = true)]
async fn a_file_is_read_again_when_it_has_changed() {
    let (log, _guard) = Log::start();
    let (old, new) = (new_key("alice", &[]), new_key("alice", &[]));
    assert_eq!(old.line().len(), new.line().len());
    let Keys { _dir, path, keys } = opened(old.line());
    assert!(knows(&keys, &old).await && !knows(&keys, &new).await);
    // Of the same length, and perhaps within the same tick of the clock.
    fs::write(&path, new.line()).expect("written");
    assert!(knows(&keys, &old).await, "it is looked once a second");
    advance(secs(1)).await;
    let clone = keys.clone();
    assert!(knows(&clone, &new).await && !knows(&clone, &old).await);
    // By renaming, as it should be done.
    replace(&path, old.line());
    advance(secs(1)).await;
    assert!(knows(&keys, &old).await && !knows(&keys, &new).await);
    // Without any key nobody is let in.
    replace(&path, "# locked\n");
    advance(secs(1)).await;
    assert!(!knows(&keys, &old).await);
    assert_eq!(
        log.text().matches("were read again").count(),
        3,
        "{}",
        log.text()
    );
}

fn replace(path: &Path, text: &str) {
    let aside = path.with_extension("new");
    fs::write(&aside, text).expect("written");
    fs::rename(aside, path).expect("renamed");
}

#[tokio::test(start_paused = true)]
async fn a_broken_file_changes_nothing() {
    let (log, _guard) = Log::start();
    let (old, new) = (new_key("alice", &[]), new_key("alice", &[]));
    let Keys { _dir, path, keys } = opened(old.line());
    let errors = || log.text().matches("stay as they were").count();
    // Half of it would be good, none of it is taken.
    replace(&path, &format!("{}\nrubbish", new.line()));
    for _ in 0..5 {
        advance(secs(1)).await;
        assert!(knows(&keys, &old).await && !knows(&keys, &new).await);
    }
    assert_eq!(errors(), 1, "told once: {}", log.text());
    assert!(log.text().contains("line 2 of the keys"));
    fs::remove_file(&path).expect("removed");
    for _ in 0..5 {
        advance(secs(1)).await;
        assert!(knows(&keys, &old).await);
    }
    assert_eq!(errors(), 2, "told once: {}", log.text());
    replace(&path, new.line());
    advance(secs(1)).await;
    assert!(knows(&keys, &new).await && !knows(&keys, &old).await);
}

/// A thousand keys, and no waiting for the one who asks.
#[tokio::test]
async fn many_keys_are_found_at_once() {
    let made: Vec<_> = (0..1000)
        .map(|n| new_key(&format!("user-{n}"), &[]))
        .collect();
    let keys = keys(&made.iter().collect::<Vec<_>>());
    let begun = RealInstant::now();
    for key in &made {
        assert!(
            keys.verify(&Credentials::bearer(key.reveal()))
                .now_or_never()
                .is_some_and(|known| known.is_ok())
        );
    }
    assert!(begun.elapsed() < secs(5));
}

#[test]
fn credentials_say_what_they_are() {
    let basic = Credentials::basic("user", "password");
    assert_eq!(
        (basic.scheme(), basic.user(), basic.secret()),
        (Scheme::Basic, "user", "password")
    );
    assert_eq!(Credentials::bearer("x").scheme(), Scheme::Bearer);
    assert_eq!(Credentials::api_key("x").scheme(), Scheme::ApiKey);
    assert_eq!(format!("{basic:?}"), "Credentials { scheme: Basic, .. }");
}
