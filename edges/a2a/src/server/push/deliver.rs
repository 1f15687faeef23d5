use std::{error::Error, fmt, pin::Pin, sync::Arc, time::Duration};

/// What [`Deliver::deliver`] answers with.
pub type DeliveryFuture = Pin<Box<dyn Future<Output = Outcome> + Send>>;

/// The port to whoever posts. With the feature `push`, [`HttpDelivery`] posts through any HTTP
/// client that is a service.
///
/// [`HttpDelivery`]: super::HttpDelivery
pub trait Deliver: Send + Sync + 'static {
    /// Posts once. The courier bounds the time, and drops the future when it is up.
    ///
    /// Whoever dials has to judge the address that it dials, on every attempt, and must follow no
    /// redirect (A2A-PUSH-10, A2A-PUSH-13).
    fn deliver(&self, delivery: Delivery) -> DeliveryFuture;
}

/// One update for one webhook.
#[derive(Clone)]
pub struct Delivery {
    pub(super) url: String,
    pub(super) authorization: Option<String>,
    pub(super) token: Option<String>,
    pub(super) id: String,
    pub(super) body: Arc<str>,
}

impl Delivery {
    /// Where to.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The value of the header `Authorization`: a secret.
    #[must_use]
    pub fn authorization(&self) -> Option<&str> {
        self.authorization.as_deref()
    }

    /// The value of the header `X-A2A-Notification-Token`: a secret.
    #[must_use]
    pub fn token(&self) -> Option<&str> {
        self.token.as_deref()
    }

    /// The same for every attempt of one update, and for no other one: what a receiver tells
    /// duplicates by.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The JSON of a `StreamResponse`.
    #[must_use]
    pub const fn body(&self) -> &Arc<str> {
        &self.body
    }
}

impl fmt::Debug for Delivery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

/// What became of an attempt.
#[derive(Debug)]
#[non_exhaustive]
pub enum Outcome {
    /// The receiver acknowledged it.
    Delivered,
    /// The receiver could not take it now, and may say when it can.
    Busy {
        /// What it said, for the log.
        status: u16,
        /// How long it wants to be left alone.
        retry_after: Option<Duration>,
    },
    /// The receiver does not want this update.
    Refused {
        /// What it said, for the log.
        status: u16,
    },
    /// There is no such receiver any more.
    Gone,
    /// It could not be reached, or broke off.
    Unreachable(Box<dyn Error + Send + Sync>),
    /// It is at an address that nothing may be sent to.
    Forbidden,
}

impl Outcome {
    /// What a status of HTTP means (A2A-PUSH-10). A redirect is none that is followed.
    #[must_use]
    pub const fn of_status(status: u16, retry_after: Option<Duration>) -> Self {
        match status {
            200..=299 => Self::Delivered,
            410 => Self::Gone,
            408 | 425 | 429 | 500..=599 => Self::Busy {
                status,
                retry_after,
            },
            _ => Self::Refused { status },
        }
    }
}
