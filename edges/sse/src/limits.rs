use std::{error::Error, fmt};

/// How much of a stream a [`Parser`](crate::Parser) takes, in bytes.
///
/// What is kept at once is at most a line and the data of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub(crate) line: usize,
    pub(crate) event: usize,
    pub(crate) id: usize,
    pub(crate) stream: u64,
}

impl Limits {
    /// 8 MiB an event, a line that holds one, 1 KiB an id, and a stream without an end.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: 0,
            event: 0,
            id: 1 << 10,
            stream: u64::MAX,
        }
        .event(8 << 20)
    }

    /// The most that the data of one event may have, and a line that holds it.
    #[must_use]
    pub const fn event(mut self, bytes: usize) -> Self {
        self.event = bytes;
        self.line = bytes.saturating_add(FIELD);
        self
    }

    /// The most that one line may have, its end not counted.
    #[must_use]
    pub const fn line(mut self, bytes: usize) -> Self {
        self.line = bytes;
        self
    }

    /// The most that the id of an event may have. Readers keep ids, and send them back in a header.
    #[must_use]
    pub const fn id(mut self, bytes: usize) -> Self {
        self.id = bytes;
        self
    }

    /// The most that a stream may have, comments and all.
    #[must_use]
    pub const fn stream(mut self, bytes: u64) -> Self {
        self.stream = bytes;
        self
    }
}

/// The name of a field, a colon and a space, and some.
const FIELD: usize = 64;

impl Default for Limits {
    fn default() -> Self {
        Self::new()
    }
}

/// What has a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Bound {
    /// One line.
    Line,
    /// The data of one event.
    Event,
    /// The id of an event.
    Id,
    /// All of the stream.
    Stream,
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Line => "a line",
            Self::Event => "an event",
            Self::Id => "the id of an event",
            Self::Stream => "the stream",
        })
    }
}

/// Something of the stream was longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    bound: Bound,
    limit: u64,
}

impl TooLong {
    pub(crate) const fn new(bound: Bound, limit: u64) -> Self {
        Self { bound, limit }
    }

    /// What it was.
    #[must_use]
    pub const fn bound(&self) -> Bound {
        self.bound
    }

    /// How many bytes it may have.
    #[must_use]
    pub const fn limit(&self) -> u64 {
        self.limit
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} has more than {} bytes", self.bound, self.limit)
    }
}

impl Error for TooLong {}
