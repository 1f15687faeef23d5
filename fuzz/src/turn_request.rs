//! What holds for every body that somebody may send to the plain edge: the body of the fuzz target and of
//! `edges/http/tests/server/requests.rs`.

use std::{
    fmt,
    sync::{Arc, Mutex},
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis::{Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::TurnService;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;
use tower::ServiceExt;

/// Checks everything about some bytes, and says whether they began a turn.
///
/// # Panics
/// When a rule is broken.
pub(crate) fn check(body: &[u8]) -> bool {
    let asked = Arc::new(Mutex::new(None));
    let sees = Arc::clone(&asked);
    let agent = agent_fn(move |scope: Scope, prompt: Prompt, _: Emitter| {
        *sees.lock().unwrap() = Some((scope, prompt));
        async { Ok::<_, Failure>(()) }
    });
    let request = Request::post("/")
        .header("content-type", "application/json")
        .header("accept", "application/x-ndjson")
        .body(Full::new(Bytes::copy_from_slice(body)))
        .unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    let (status, reply, now) = runtime.block_on(async {
        let now = tokio::time::Instant::now().into_std();
        let Ok(response) = TurnService::new(agent).oneshot(request).await;
        let status = response.status().as_u16();
        let reply = response.into_body().collect().await.unwrap().to_bytes();
        (status, reply, now)
    });
    let expected = expected(body, now);
    // A deadline of 0 ms, or one that has passed, ends the turn before the agent says anything.
    let (scope, prompt) = match (status, expected, asked.lock().unwrap().take()) {
        (400, None, None) => {
            assert!(serde_json::from_slice::<serde_json::Value>(&reply).is_ok());
            return false;
        }
        (200, Some(expected), Some(asked)) => {
            assert_eq!(reply, "{\"type\":\"completed\"}\n");
            let (scope, prompt) = asked;
            assert!(scope.principal().is_none() && scope.tenant().is_none());
            assert_eq!(scope.extensions().get::<portcullis::Peer>(), None);
            (
                (scope.to_json_at(now), expected.0.to_json_at(now)),
                (prompt.to_json(), expected.1.to_json()),
            )
        }
        (status, expected, asked) => panic!("{status} {expected:?} {asked:?}"),
    };
    assert_eq!(prompt.0, prompt.1);
    // The session may be another one, if it is called like a digest.
    if !scope.1.starts_with(r#"{"session":"ctx:"#) {
        assert_eq!(scope.0, scope.1);
    }
    true
}

/// What a body asks, read another way.
fn expected(body: &[u8], now: std::time::Instant) -> Option<(Scope, Prompt)> {
    let Pairs(pairs) = serde_json::from_slice(body).ok()?;
    let the_one = |name: &str| {
        let mut values = pairs.iter().filter(|(known, _)| known == name);
        let (_, value) = values.next()?;
        values.next().is_none().then_some(value.get())
    };
    let scope = Scope::from_json_at(the_one("scope")?, now).ok()?;
    Some((scope, Prompt::from_json(the_one("prompt")?).ok()?))
}

struct Pairs(Vec<(String, Box<RawValue>)>);

impl<'de> Deserialize<'de> for Pairs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Pairs;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Pairs, M::Error> {
                let mut pairs = Vec::new();
                while let Some(pair) = map.next_entry()? {
                    pairs.push(pair);
                }
                Ok(Pairs(pairs))
            }
        }

        deserializer.deserialize_map(Members)
    }
}
