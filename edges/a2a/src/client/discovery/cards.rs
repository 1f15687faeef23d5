use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use http::{
    HeaderMap, HeaderName, HeaderValue, Response, StatusCode, Uri,
    header::{ETAG, IF_MODIFIED_SINCE, IF_NONE_MATCH, LAST_MODIFIED},
};
use tokio::time::Instant;

#[cfg(feature = "sign")]
use super::keys::{self, KeySource};
use super::{
    discovered::Discovered,
    freshness::Freshness,
    place::{card_url, decode, get, no_card, text_of},
};
use crate::{
    client::{
        binding::Binding,
        connection::Client,
        error::CallError,
        exchange::{succeeded, whole},
        limits::Limits,
        transport::{ReplyBody, Transport},
    },
    model::GetExtendedAgentCardRequest,
};

/// Fetches cards and keeps them, for as long as their servers say. A clone shares what is kept.
///
/// ```no_run
/// use portcullis_a2a::client::{Cards, Choice, Transport};
///
/// # async fn doc(http: impl Transport) -> Result<(), Box<dyn std::error::Error>> {
/// let cards = Cards::new(http.clone());
/// let card = cards.fetch("https://agent.example.com").await?;
/// let client = card.client(http, &Choice::new())?;
/// # Ok(())
/// # }
/// ```
///
/// A card that is no longer fresh is asked for with its `ETag` or its date, and costs no more than a
/// 304 if it is the same (A2A-CARD-6). Two who want the same card at once cause one request.
#[derive(Clone)]
pub struct Cards<T> {
    transport: T,
    kept: Arc<Mutex<HashMap<Uri, Arc<Slot>>>>,
    unsaid: Duration,
    #[cfg(feature = "sign")]
    keys: Option<Arc<dyn KeySource>>,
}

/// The place of one card. Who holds it asks for the card, and the others wait.
type Slot = tokio::sync::Mutex<Option<Kept>>;

struct Kept {
    card: Arc<Discovered>,
    etag: Option<HeaderValue>,
    modified: Option<HeaderValue>,
    fresh_until: Instant,
}

impl<T: Transport> Cards<T> {
    /// Fetches over this transport. A card whose server says nothing about it is kept for a minute.
    #[must_use]
    pub fn new(transport: T) -> Self {
        Self {
            transport,
            kept: Arc::default(),
            unsaid: Duration::from_secs(60),
            #[cfg(feature = "sign")]
            keys: None,
        }
    }

    /// For how long a card is kept whose server says nothing about it.
    #[must_use]
    pub const fn default_age(mut self, age: Duration) -> Self {
        self.unsaid = age;
        self
    }

    /// Believes only cards that are signed by a key of this source, which are verified as they were
    /// received (A2A-SIG-7, A2A-SIG-8).
    #[cfg(feature = "sign")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
    #[must_use]
    pub fn verifying(mut self, keys: impl KeySource) -> Self {
        self.keys = Some(Arc::new(keys));
        // What was kept was not verified.
        self.kept = Arc::default();
        self
    }

    /// The card of an agent. `url` is where the agent is, with or without the path of the card, as
    /// in [`fetch_card`](super::fetch_card).
    ///
    /// # Errors
    /// The address is none, nobody answers, the answer is no card, or nobody vouches for it.
    ///
    /// # Cancel safety
    /// Dropped, it leaves what was kept.
    pub async fn fetch(&self, url: &str) -> Result<Arc<Discovered>, CallError> {
        let url = card_url(url)?;
        let slot = self.slot(&url);
        let mut kept = slot.lock().await;
        if let Some(kept) = &*kept
            && Instant::now() < kept.fresh_until
        {
            return Ok(Arc::clone(&kept.card));
        }
        let response = get(&self.transport, &url, conditions(kept.as_ref())).await?;
        let freshness = Freshness::of(response.headers());
        if response.status() == StatusCode::NOT_MODIFIED {
            let Some(same) = kept.as_mut() else {
                return Err(no_card(&url, "unchanged, and it was never here"));
            };
            let card = Arc::clone(&same.card);
            match freshness.bounded(self.unsaid, LONGEST) {
                Some(time) => same.fresh_until = Instant::now() + time,
                None => *kept = None,
            }
            return Ok(card);
        }
        let header = |name: &HeaderName| response.headers().get(name).cloned();
        let (etag, modified) = (header(&ETAG), header(&LAST_MODIFIED));
        let card = Arc::new(self.read(&url, response).await?);
        *kept = freshness.bounded(self.unsaid, LONGEST).map(|time| Kept {
            card: Arc::clone(&card),
            etag,
            modified,
            fresh_until: Instant::now() + time,
        });
        Ok(card)
    }

    /// The card for those who authenticate, which takes the place of the public one; the public one
    /// itself, if the agent has no other. It is not kept: it is the caller's own.
    ///
    /// # Errors
    /// See [`CallError`]; and nobody vouches for it, where signatures are asked for.
    pub async fn extended<C: Transport>(
        &self,
        public: &Arc<Discovered>,
        client: &Client<C>,
    ) -> Result<Arc<Discovered>, CallError> {
        if public.card().capabilities.extended_agent_card != Some(true) {
            return Ok(Arc::clone(public));
        }
        let request = GetExtendedAgentCardRequest::default();
        let text = client.extended_card_text(&request).await?;
        let url = public.url().cloned();
        let from = url.as_ref().unwrap_or_else(|| client.url());
        let card = decode(&text, from)?;
        let key_id = self.vouched(&text, url.as_ref()).await?;
        Ok(Arc::new(Discovered::new(card, url, key_id)))
    }

    async fn read(
        &self,
        url: &Uri,
        response: Response<ReplyBody>,
    ) -> Result<Discovered, CallError> {
        let response = succeeded(response, Binding::JsonRpc, &Limits::CARD).await?;
        let body = whole(response.into_body(), &Limits::CARD).await?;
        let text = text_of(&body, url)?;
        let card = decode(text, url)?;
        let key_id = self.vouched(text, Some(url)).await?;
        Ok(Discovered::new(card, Some(url.clone()), key_id))
    }

    /// Who signed the card, if that is to be known.
    #[cfg_attr(
        not(feature = "sign"),
        expect(clippy::unused_async, unused_variables, reason = "nobody is asked")
    )]
    async fn vouched(&self, card: &str, url: Option<&Uri>) -> Result<Option<String>, CallError> {
        #[cfg(feature = "sign")]
        if let Some(source) = &self.keys {
            return keys::verify(&**source, card, url).await.map(Some);
        }
        Ok(None)
    }

    fn slot(&self, url: &Uri) -> Arc<Slot> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST && !kept.contains_key(url) {
            // Those that nobody waits for; which of them does not matter much.
            let idle = kept
                .iter()
                .find(|(_, slot)| Arc::strong_count(slot) == 1)
                .map(|(url, _)| url.clone());
            if let Some(idle) = idle {
                kept.remove(&idle);
            }
        }
        Arc::clone(kept.entry(url.clone()).or_default())
    }
}

/// How many cards are kept.
const MOST: usize = 256;
/// For how long a server can have its card kept.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);

fn conditions(kept: Option<&Kept>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if let Some(kept) = kept {
        let conditions = [
            (IF_NONE_MATCH, &kept.etag),
            (IF_MODIFIED_SINCE, &kept.modified),
        ];
        for (name, value) in conditions {
            if let Some(value) = value {
                headers.insert(name, value.clone());
            }
        }
    }
    headers
}

impl<T> fmt::Debug for Cards<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cards").finish_non_exhaustive()
    }
}
