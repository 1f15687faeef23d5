use std::{error, fmt, time::Duration};

use http::StatusCode;
use portcullis_sse as sse;

use super::{BoxError, limits::TooLong};
use crate::model::Error;

/// Why a call has no result.
#[derive(Debug)]
#[non_exhaustive]
pub enum CallError {
    /// The server refused, with code, reason and details.
    Refused(Box<Error>),
    /// The server answered with a status and something else than a reply.
    Status {
        /// The status.
        status: StatusCode,
        /// The beginning of the body.
        body: String,
        /// When to try again, where the server says so.
        retry_after: Option<Duration>,
    },
    /// The server sends its callers elsewhere. Nobody follows: whoever trusts that place calls it.
    Redirect {
        /// The status.
        status: StatusCode,
        /// Where to.
        location: String,
    },
    /// Nothing that a server of this protocol would say; the text tells what it was.
    Protocol(String),
    /// A reply, an event or a stream was longer than allowed.
    TooLong(TooLong),
    /// The server took the request and did not begin to answer in time.
    NoReply,
    /// A reply had begun and did not end in time.
    Slow,
    /// The stream ended though the task has not: read the task, or subscribe to it.
    Cut {
        /// The task, when the stream had told it.
        task_id: Option<String>,
        /// The id of the last event, when the server gives ids.
        last_event_id: Option<String>,
    },
    /// The stream was silent for longer than allowed, comments included.
    Idle,
    /// Nobody vouches for the card: it is not signed by a key that is trusted, or it was changed.
    Untrusted(BoxError),
    /// The request could not be carried out, or the connection broke.
    Transport(BoxError),
}

impl CallError {
    /// The refusal, if it is one.
    #[must_use]
    pub fn as_refusal(&self) -> Option<&Error> {
        match self {
            Self::Refused(error) => Some(error),
            _ => None,
        }
    }

    /// When to try again, where the server says so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Refused(error) => error.after(),
            Self::Status { retry_after, .. } => *retry_after,
            _ => None,
        }
    }

    pub(super) fn too_long(error: sse::TooLong) -> Self {
        Self::TooLong(error.into())
    }

    pub(super) fn protocol(what: impl Into<String>) -> Self {
        Self::Protocol(what.into())
    }
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Refused(_) => f.write_str("the server refused"),
            Self::Status { status, body, .. } if body.is_empty() => {
                write!(f, "the server answered {status}")
            }
            Self::Redirect { status, location } => {
                write!(f, "the server answered {status}: look at {location:?}")
            }
            Self::NoReply => f.write_str("the server did not answer in time"),
            Self::Slow => f.write_str("the reply did not end in time"),
            Self::Status { status, body, .. } => write!(f, "the server answered {status}: {body}"),
            Self::Protocol(what) => write!(f, "not an A2A server, or a broken one: {what}"),
            Self::TooLong(_) => f.write_str("the server sent too much"),
            Self::Cut { .. } => f.write_str("the stream ended before the task did"),
            Self::Idle => f.write_str("the stream fell silent"),
            Self::Untrusted(_) => f.write_str("the card is not to be believed"),
            Self::Transport(_) => f.write_str("the request failed"),
        }
    }
}

impl error::Error for CallError {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        match self {
            Self::Refused(error) => Some(&**error),
            Self::TooLong(error) => Some(error),
            Self::Untrusted(error) | Self::Transport(error) => Some(&**error),
            _ => None,
        }
    }
}

impl From<TooLong> for CallError {
    fn from(error: TooLong) -> Self {
        Self::TooLong(error)
    }
}
