use std::{collections::HashMap, error::Error, fmt, sync::Arc, time::Duration};

use http::Uri;
use tokio::{sync::Mutex, time::Instant};

use super::{
    freshness::Freshness,
    keys::{KeySource, LookingUp},
    place::get,
};
use crate::{
    client::{
        BoxError,
        binding::Binding,
        exchange::{succeeded, whole},
        limits::Limits,
        transport::Transport,
    },
    signing::{Signer, TrustedKeys},
};

/// The key sets that cards name by a `jku`, as far as they may (A2A-SIG-9).
///
/// A card can name any address, so by itself that says nothing: a set is fetched only from the
/// addresses that are allowed here, or, where that is asked for, from the origin of the card. It is
/// fetched over `https`; plain `http` is for one machine. A set is kept for as long as its server
/// says, and for an hour at most, so that a key that was taken out is not believed for longer; an
/// unknown key has it fetched anew, though not more often than once in ten seconds.
///
/// ```
/// use portcullis_a2a::client::{Cards, Jwks, Transport};
///
/// # fn doc(http: impl Transport) {
/// let keys = Jwks::new(http.clone()).allow("https://keys.example.com/agents.json");
/// let cards = Cards::new(http).verifying(keys);
/// # }
/// ```
#[derive(Clone)]
pub struct Jwks<T> {
    transport: T,
    allowed: Vec<String>,
    own_origin: bool,
    kept: Arc<Mutex<HashMap<Uri, Kept>>>,
}

struct Kept {
    keys: TrustedKeys,
    fetched: Instant,
    fresh_until: Instant,
}

impl<T: Transport> Jwks<T> {
    /// None yet: nothing is trusted.
    #[must_use]
    pub fn new(transport: T) -> Self {
        Self {
            transport,
            allowed: Vec::new(),
            own_origin: false,
            kept: Arc::default(),
        }
    }

    /// And the set at exactly this address.
    #[must_use]
    pub fn allow(mut self, url: impl Into<String>) -> Self {
        self.allowed.push(url.into());
        self
    }

    /// And the sets on the origin that a card came from. That proves no more than where the card
    /// came from, which the connection proves as well: it is for cards that are passed on.
    #[must_use]
    pub const fn allow_origin_of_card(mut self) -> Self {
        self.own_origin = true;
        self
    }

    fn judge(&self, jku: &str, card_url: Option<&Uri>) -> Option<Uri> {
        let url: Uri = jku.parse().ok()?;
        let origin = |url: &Uri| (url.scheme().cloned(), url.authority().cloned());
        let is_allowed = self.allowed.iter().any(|allowed| allowed == jku)
            || (self.own_origin && card_url.is_some_and(|card| origin(card) == origin(&url)));
        let is_safe = match url.scheme_str() {
            Some("https") => true,
            Some("http") => is_here(url.host()?),
            _ => false,
        };
        (is_allowed && is_safe).then_some(url)
    }

    async fn fetch(&self, url: &Uri) -> Result<Kept, BoxError> {
        let response = get(&self.transport, url, http::HeaderMap::new()).await?;
        let freshness = Freshness::of(response.headers());
        let response = succeeded(response, Binding::JsonRpc, &Limits::CARD).await?;
        let body = whole(response.into_body(), &Limits::CARD).await?;
        let keys = TrustedKeys::from_jwks(str::from_utf8(&body)?)?;
        let time = freshness.bounded(LONGEST, LONGEST).unwrap_or_default();
        let fetched = Instant::now();
        Ok(Kept {
            keys,
            fetched,
            fresh_until: fetched + time,
        })
    }

    async fn look_up(
        &self,
        signer: &Signer,
        card_url: Option<&Uri>,
    ) -> Result<Option<crate::signing::PublicKey>, BoxError> {
        let Some(jku) = signer.jku() else {
            return Ok(None);
        };
        let Some(url) = self.judge(jku, card_url) else {
            return Err(ForeignKeySet(jku.chars().take(200).collect()).into());
        };
        // One at a time: whoever waits finds what the one before has fetched.
        let mut kept = self.kept.lock().await;
        let now = Instant::now();
        if let Some(set) = kept.get(&url) {
            let key = set.keys.get(signer.key_id());
            let is_fresh = now < set.fresh_until;
            if is_fresh && (key.is_some() || now < set.fetched + SELDOM) {
                return Ok(key.cloned());
            }
        }
        let set = self.fetch(&url).await.map_err(|source| NoKeySet {
            url: url.clone(),
            source,
        })?;
        let key = set.keys.get(signer.key_id()).cloned();
        // Only so many addresses are allowed, unless each origin has its own.
        if kept.len() >= MOST {
            kept.retain(|_, set| now < set.fresh_until);
        }
        if kept.len() < MOST {
            kept.insert(url, set);
        }
        Ok(key)
    }
}

/// For how long a set is kept.
const LONGEST: Duration = Duration::from_secs(60 * 60);
/// How long an unknown key waits for the next look.
const SELDOM: Duration = Duration::from_secs(10);
/// How many sets are kept.
const MOST: usize = 64;

fn is_here(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    let address = host.parse::<std::net::IpAddr>();
    host.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

impl<T: Transport> KeySource for Jwks<T> {
    fn key<'a>(&'a self, signer: &'a Signer, card_url: Option<&'a Uri>) -> LookingUp<'a> {
        Box::pin(self.look_up(signer, card_url))
    }
}

impl<T> fmt::Debug for Jwks<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Jwks")
            .field("allowed", &self.allowed)
            .field("own_origin", &self.own_origin)
            .finish_non_exhaustive()
    }
}

/// A card names a key set that it may not.
#[derive(Debug)]
struct ForeignKeySet(String);

impl fmt::Display for ForeignKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the card names the keys at {:?}, which are not allowed",
            self.0
        )
    }
}

impl Error for ForeignKeySet {}

/// A key set cannot be had.
#[derive(Debug)]
struct NoKeySet {
    url: Uri,
    source: BoxError,
}

impl fmt::Display for NoKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no keys at {}", self.url)
    }
}

impl Error for NoKeySet {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.source)
    }
}
