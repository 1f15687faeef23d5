use std::{borrow::Cow, error::Error, fmt, sync::Arc, time::Duration};

use crate::json::{Extra, ExtraMut};

/// Why a turn failed: the last event of it, and a [`std::error::Error`].
///
/// `details` is for the caller. What is for the log only rides as
/// [`source`](Error::source) and never reaches a wire.
#[derive(Clone)]
pub struct Failure(Box<Inner>);

#[derive(Clone)]
struct Inner {
    details: Cow<'static, str>,
    retryable: bool,
    code: Option<FailureCode>,
    retry_after: Option<Duration>,
    extra: Extra,
    source: Option<Arc<dyn Error + Send + Sync>>,
}

impl Failure {
    /// A failure that is not worth sending again.
    #[must_use]
    pub fn new(details: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            details: details.into(),
            retryable: false,
            code: None,
            retry_after: None,
            extra: Extra::new(),
            source: None,
        }))
    }

    pub(super) fn from_wire(
        details: String,
        retryable: bool,
        code: Option<String>,
        retry_after: Option<u64>,
        extra: Extra,
    ) -> Self {
        Self(Box::new(Inner {
            details: details.into(),
            retryable,
            code: code.map(FailureCode::new),
            retry_after: retry_after.map(Duration::from_millis),
            extra,
            source: None,
        }))
    }

    /// A failure with a stable code.
    #[must_use]
    pub fn with_code(code: FailureCode, details: impl Into<Cow<'static, str>>) -> Self {
        let mut failure = Self::new(details);
        failure.0.code = Some(code);
        failure
    }

    /// Something broke that is no business of the caller: a generic text for the
    /// caller, `source` for the log.
    #[must_use]
    pub fn internal(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::with_code(FailureCode::INTERNAL, "internal error").caused_by(source)
    }

    /// Says whether the same turn is worth sending again with the same session.
    #[must_use]
    pub fn retryable(mut self, retryable: bool) -> Self {
        self.0.retryable = retryable;
        self
    }

    /// Hints when to try again; on the wire the integer member `retryAfterMs`.
    #[must_use]
    pub fn retry_after(mut self, delay: Duration) -> Self {
        self.set_retry_after(Some(delay));
        self
    }

    /// Keeps the cause for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.0.source = Some(Arc::from(source.into()));
        self
    }

    /// What the caller is told.
    #[must_use]
    pub fn details(&self) -> &str {
        &self.0.details
    }

    /// Replaces what the caller is told.
    pub fn set_details(&mut self, details: impl Into<Cow<'static, str>>) {
        self.0.details = details.into();
    }

    /// Whether the same turn is worth sending again. No promise that the failed
    /// one left no trace.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        self.0.retryable
    }

    /// The stable code.
    #[must_use]
    pub const fn code(&self) -> Option<&FailureCode> {
        self.0.code.as_ref()
    }

    /// Whether the code is this one.
    #[must_use]
    pub fn is(&self, code: &FailureCode) -> bool {
        self.0.code.as_ref() == Some(code)
    }

    /// Replaces the code.
    pub fn set_code(&mut self, code: Option<FailureCode>) {
        self.0.code = code;
    }

    /// When to try again, whole milliseconds.
    #[must_use]
    pub const fn after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// Sets or removes the hint when to try again. It is rounded up to whole
    /// milliseconds, as the wire has it.
    pub fn set_retry_after(&mut self, delay: Option<Duration>) {
        self.0.retry_after = delay.map(|delay| {
            let millis = delay.as_nanos().div_ceil(1_000_000);
            Duration::from_millis(u64::try_from(millis).unwrap_or(u64::MAX))
        });
        // A hint that is no whole number was kept there, and this one takes its place.
        self.0.extra.remove(RETRY_AFTER);
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.0.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.0.extra, &KNOWN)
    }
}

/// The hint on the wire.
pub(super) const RETRY_AFTER: &str = "retryAfterMs";

const KNOWN: [&str; 5] = ["type", "details", "retryable", "code", RETRY_AFTER];

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.details)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Failure")
            .field("code", &self.0.code)
            .field("details", &self.0.details)
            .field("retryable", &self.0.retryable)
            .field("retry_after", &self.0.retry_after)
            .field("extra", &self.0.extra)
            .finish_non_exhaustive()
    }
}

impl Error for Failure {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static))
    }
}

/// Compares what goes over a wire; the source does not.
impl PartialEq for Failure {
    fn eq(&self, other: &Self) -> bool {
        self.0.details == other.0.details
            && self.0.retryable == other.0.retryable
            && self.0.code == other.0.code
            && self.0.retry_after == other.0.retry_after
            && self.0.extra == other.0.extra
    }
}

impl Eq for Failure {}

/// A stable word for a kind of failure. Anybody may make more; these are the ones
/// that Portcullis emits.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct FailureCode(Cow<'static, str>);

impl FailureCode {
    /// A clock ran out.
    pub const TIMEOUT: Self = Self::from_static("timeout");
    /// No place is free.
    pub const OVERLOADED: Self = Self::from_static("overloaded");
    /// Too many requests.
    pub const RATE_LIMITED: Self = Self::from_static("rate_limited");
    /// A budget is spent.
    pub const BUDGET_EXCEEDED: Self = Self::from_static("budget_exceeded");
    /// The session has a turn already.
    pub const SESSION_BUSY: Self = Self::from_static("session_busy");
    /// Somebody stopped the turn.
    pub const ABORTED: Self = Self::from_static("aborted");
    /// Nobody knows who asks.
    pub const UNAUTHENTICATED: Self = Self::from_static("unauthenticated");
    /// Who asks may not.
    pub const PERMISSION_DENIED: Self = Self::from_static("permission_denied");
    /// The prompt cannot be worked on.
    pub const INVALID_PROMPT: Self = Self::from_static("invalid_prompt");
    /// The engine's output does not fit what was asked for.
    pub const INVALID_OUTPUT: Self = Self::from_static("invalid_output");
    /// Something that the turn needs cannot be reached.
    pub const UNAVAILABLE: Self = Self::from_static("unavailable");
    /// The agent broke the contract: no terminal event, or events after it.
    pub const CONTRACT_VIOLATION: Self = Self::from_static("contract_violation");
    /// Something broke that is no business of the caller.
    pub const INTERNAL: Self = Self::from_static("internal");

    /// A code that is known when compiling.
    #[must_use]
    pub const fn from_static(code: &'static str) -> Self {
        Self(Cow::Borrowed(code))
    }

    /// A code.
    #[must_use]
    pub fn new(code: impl Into<Cow<'static, str>>) -> Self {
        Self(code.into())
    }

    /// The word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for FailureCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
