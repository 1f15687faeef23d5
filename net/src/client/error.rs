use std::{error::Error, fmt, io};

/// A request could not be carried out.
#[derive(Debug)]
pub struct ClientError {
    target: String,
    source: hyper_util::client::legacy::Error,
}

impl ClientError {
    pub(super) const fn new(target: String, source: hyper_util::client::legacy::Error) -> Self {
        Self { target, source }
    }

    /// Whether no connection was made, so that the server saw nothing of the request.
    #[must_use]
    pub fn is_connect(&self) -> bool {
        self.source.is_connect()
    }

    /// Whether nobody listens at the address.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.io_kind() == Some(io::ErrorKind::ConnectionRefused)
    }

    /// Whether connecting took too long.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        self.io_kind() == Some(io::ErrorKind::TimedOut)
    }

    fn io_kind(&self) -> Option<io::ErrorKind> {
        let mut next: Option<&(dyn Error + 'static)> = Some(&self.source);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<io::Error>() {
                return Some(error.kind());
            }
            next = error.source();
        }
        None
    }
}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let target = &self.target;
        if self.is_refused() {
            write!(f, "nobody listens at {target}")
        } else if self.is_timeout() {
            write!(f, "{target} did not answer in time")
        } else if self.is_connect() {
            write!(f, "cannot connect to {target}")
        } else {
            write!(f, "the request to {target} failed")
        }
    }
}

impl Error for ClientError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}
