use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

use portcullis::{Failure, FailureCode};

/// Why somebody is not let in.
///
/// The message is for the caller. It is a text of the program, never one of the caller, so no
/// part of a token or a key gets into it.
#[derive(Clone, Debug)]
pub struct AuthError {
    kind: AuthErrorKind,
    message: Cow<'static, str>,
    scopes: Vec<String>,
    retry_after: Option<Duration>,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

/// What sort of [`AuthError`] it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AuthErrorKind {
    /// Nothing was presented.
    Missing,
    /// More than one thing was presented, or something that cannot be read.
    Malformed,
    /// It is none of this verifier's. [`FirstOf`](super::FirstOf) asks the next one.
    Unrecognized,
    /// It is not valid, or not any more.
    Invalid,
    /// They are known, and may not.
    Denied,
    /// Nobody can tell now, for instance because the keys cannot be had.
    Unavailable,
}

impl AuthError {
    /// Nothing was presented.
    #[must_use]
    pub const fn missing() -> Self {
        Self::new(AuthErrorKind::Missing, "authentication is required")
    }

    /// What was presented cannot be read.
    #[must_use]
    pub const fn malformed(message: &'static str) -> Self {
        Self::new(AuthErrorKind::Malformed, message)
    }

    /// What was presented is none of this verifier's.
    #[must_use]
    pub const fn unrecognized() -> Self {
        Self::new(
            AuthErrorKind::Unrecognized,
            "the credentials are of no kind that is accepted here",
        )
    }

    /// What was presented is not valid.
    #[must_use]
    pub const fn invalid(message: &'static str) -> Self {
        Self::new(AuthErrorKind::Invalid, message)
    }

    /// They are known, and may not.
    #[must_use]
    pub const fn denied(message: &'static str) -> Self {
        Self::new(AuthErrorKind::Denied, message)
    }

    /// They are known, and have not all of the scopes that it takes.
    #[must_use]
    pub fn lacking<T: Into<String>>(scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes: Vec<String> = scopes.into_iter().map(Into::into).collect();
        let mut error = Self::denied("");
        error.message = format!("this takes the scopes: {}", scopes.join(" ")).into();
        error.scopes = scopes;
        error
    }

    /// Nobody can tell now.
    #[must_use]
    pub const fn unavailable() -> Self {
        Self::new(
            AuthErrorKind::Unavailable,
            "credentials cannot be verified now",
        )
    }

    const fn new(kind: AuthErrorKind, message: &'static str) -> Self {
        Self {
            kind,
            message: Cow::Borrowed(message),
            scopes: Vec::new(),
            retry_after: None,
            source: None,
        }
    }

    /// Says when it is worth trying again.
    #[must_use]
    pub const fn retry_after(mut self, delay: Duration) -> Self {
        self.retry_after = Some(delay);
        self
    }

    /// Keeps the cause for the log. It must not hold any of what was presented.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(Arc::from(source.into()));
        self
    }

    /// What sort it is.
    #[must_use]
    pub const fn kind(&self) -> AuthErrorKind {
        self.kind
    }

    /// The scopes that it takes, where that is the reason.
    #[must_use]
    pub fn scopes(&self) -> &[String] {
        &self.scopes
    }

    /// When it is worth trying again.
    #[must_use]
    pub const fn after(&self) -> Option<Duration> {
        self.retry_after
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl Error for AuthError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

impl From<AuthError> for Failure {
    fn from(error: AuthError) -> Self {
        let code = match error.kind {
            AuthErrorKind::Missing
            | AuthErrorKind::Malformed
            | AuthErrorKind::Unrecognized
            | AuthErrorKind::Invalid => FailureCode::UNAUTHENTICATED,
            AuthErrorKind::Denied => FailureCode::PERMISSION_DENIED,
            AuthErrorKind::Unavailable => FailureCode::UNAVAILABLE,
        };
        let mut failure = Self::with_code(code, error.message.clone())
            .retryable(error.kind == AuthErrorKind::Unavailable);
        failure.set_retry_after(error.retry_after);
        failure.caused_by(error)
    }
}

/// For the log (A2A-SEC-13): a key source that is down is somebody's trouble, a refusal is only news.
/// Neither says what was presented.
pub(super) fn log(error: &AuthError) {
    if error.kind == AuthErrorKind::Unavailable {
        tracing::warn!(error = %Chain(error), "nobody can be verified");
    } else {
        tracing::info!(kind = ?error.kind, reason = %error, "refused");
    }
}

/// An error and its causes.
pub(super) struct Chain<'a>(pub(super) &'a dyn Error);

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)?;
        let mut cause = self.0.source();
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
