use std::{error::Error, fmt, time::Duration};

use portcullis_sse as sse;

/// How much a client takes from a server, and for how long it waits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Bytes of a reply or an event.
    pub(super) piece: usize,
    /// Bytes of a stream, comments and all.
    pub(super) stream: u64,
    /// Silence, where somebody has said how much.
    pub(super) idle: Option<Duration>,
    /// From the head of a reply in one piece to its end.
    pub(super) body: Duration,
}

impl Limits {
    pub(super) const DEFAULT: Self = Self {
        piece: 8 << 20,
        stream: 1 << 30,
        idle: None,
        body: Duration::from_secs(60),
    };

    /// For a card, which needs nobody to think (O-C07).
    pub(super) const CARD: Self = Self {
        piece: 1 << 20,
        idle: Some(Duration::from_secs(30)),
        body: Duration::from_secs(30),
        ..Self::DEFAULT
    };

    /// How long the server may be silent.
    pub(super) fn silence(&self) -> Duration {
        self.idle.unwrap_or(Duration::from_secs(300))
    }

    pub(super) const fn of_events(&self) -> sse::Limits {
        sse::Limits::new().event(self.piece).stream(self.stream)
    }
}

/// The server sent more than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong(What);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum What {
    Reply(usize),
    Events(sse::TooLong),
}

impl TooLong {
    pub(super) const fn reply(limit: usize) -> Self {
        Self(What::Reply(limit))
    }

    /// How many bytes would have been allowed.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        match &self.0 {
            What::Reply(limit) => *limit as u64,
            What::Events(error) => error.limit(),
        }
    }
}

impl From<sse::TooLong> for TooLong {
    fn from(error: sse::TooLong) -> Self {
        Self(What::Events(error))
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            What::Reply(limit) => write!(f, "the reply has more than {limit} bytes"),
            What::Events(error) => fmt::Display::fmt(error, f),
        }
    }
}

impl Error for TooLong {}
