//! What an operation says instead of an answer.

mod details;
mod invalid;
mod kind;
mod rpc_code;

use std::{borrow::Cow, error, fmt, sync::Arc, time::Duration};

#[cfg(feature = "grpc")]
pub(crate) use self::details::DOMAIN;
pub use self::{
    details::ErrorDetails,
    invalid::{Invalid, Violation},
    kind::ErrorKind,
    rpc_code::RpcCode,
};

/// Why an operation was refused, or failed: the nine refusals of the protocol, those of
/// JSON-RPC, and those of a guarded service.
///
/// The message and the metadata are for the caller. The cause, if there is one, is for
/// the log and reaches no wire (O-A03).
#[derive(Clone)]
pub struct Error(Box<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    /// What a peer said, when no kind has it.
    foreign_code: Option<i32>,
    message: Cow<'static, str>,
    metadata: Vec<(Cow<'static, str>, String)>,
    violations: Vec<Violation>,
    retry_after: Option<Duration>,
    /// What finds it in the log.
    reference: Option<String>,
    cause: Option<Arc<dyn error::Error + Send + Sync>>,
}

impl Error {
    /// An error of a kind, with the usual message.
    #[must_use]
    pub fn new(kind: ErrorKind) -> Self {
        Self::with_message(kind, kind.message())
    }

    /// An error of a kind, with a message of its own.
    #[must_use]
    pub fn with_message(kind: ErrorKind, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(Inner {
            kind,
            foreign_code: None,
            message: message.into(),
            metadata: Vec::new(),
            violations: Vec::new(),
            retry_after: None,
            reference: None,
            cause: None,
        }))
    }

    /// No task under that id, or none that the caller may see: the same answer to both
    /// (A2A-OP-3).
    #[must_use]
    pub fn task_not_found(task_id: impl Into<String>) -> Self {
        Self::new(ErrorKind::TaskNotFound).with("taskId", task_id)
    }

    /// No webhook under that id. There is no error of its own for it (A2A-OP-98).
    #[must_use]
    pub fn push_config_not_found(task_id: impl Into<String>, id: impl Into<String>) -> Self {
        Self::with_message(
            ErrorKind::TaskNotFound,
            "Push notification config not found",
        )
        .with("taskId", task_id)
        .with("configId", id)
    }

    /// The method is not supported here.
    #[must_use]
    pub fn unsupported_method(method: impl Into<String>) -> Self {
        Self::new(ErrorKind::UnsupportedOperation).with("method", method)
    }

    /// One member of the parameters is wrong.
    #[must_use]
    pub fn invalid_param(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::from(Invalid::one(field, description))
    }

    /// Something broke that is no business of the caller.
    #[must_use]
    pub fn internal(cause: impl Into<Box<dyn error::Error + Send + Sync>>) -> Self {
        let mut error = Self::new(ErrorKind::Internal);
        error.0.cause = Some(Arc::from(cause.into()));
        error
    }

    /// Adds to the metadata of the `ErrorInfo`.
    #[must_use]
    pub fn with(mut self, name: impl Into<Cow<'static, str>>, value: impl Into<String>) -> Self {
        self.0.metadata.push((name.into(), value.into()));
        self
    }

    /// When to try again.
    #[must_use]
    pub fn retry_after(mut self, delay: Option<Duration>) -> Self {
        self.0.retry_after = delay;
        self
    }

    /// With a text by which whoever serves finds it in the log: what a caller may tell who reads
    /// no more than that something failed (O-A03).
    #[must_use]
    pub fn with_reference(mut self, reference: impl Into<String>) -> Self {
        self.0.reference = Some(reference.into());
        self
    }

    /// With what is wrong with the parameters, as a peer told it.
    pub(crate) fn violating(mut self, violations: Vec<Violation>) -> Self {
        self.0.violations = violations;
        self
    }

    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The code of JSON-RPC: the number that the peer said, where it is none of the known ones
    /// (A2A-RPC-34).
    #[must_use]
    pub fn code(&self) -> i32 {
        self.0.foreign_code.unwrap_or(self.0.kind.code())
    }

    /// The reason of the `ErrorInfo`; only the nine refusals have one.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        self.0.kind.reason()
    }

    /// What the caller is told.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The metadata of the `ErrorInfo`.
    pub fn metadata(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .metadata
            .iter()
            .map(|(name, value)| (&**name, &**value))
    }

    /// What is wrong with the parameters.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.0.violations
    }

    /// What finds it in the log of whoever serves: the `RequestInfo` of the details.
    #[must_use]
    pub fn reference(&self) -> Option<&str> {
        self.0.reference.as_deref()
    }

    /// When to try again.
    #[must_use]
    pub fn after(&self) -> Option<Duration> {
        self.0.retry_after
    }

    /// The details, for a wire: an array, which may be empty.
    #[must_use]
    pub fn details(&self) -> ErrorDetails<'_> {
        ErrorDetails {
            error: self,
            reason: self.0.kind.reason(),
        }
    }

    /// As [`details`](Self::details), with a reason for what JSON-RPC has a code for too: for
    /// the other bindings.
    #[must_use]
    pub fn full_details(&self) -> ErrorDetails<'_> {
        ErrorDetails {
            error: self,
            reason: self.0.kind.full_reason(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("message", &self.0.message)
            .field("metadata", &self.0.metadata)
            .field("violations", &self.0.violations)
            .finish_non_exhaustive()
    }
}

impl error::Error for Error {
    fn source(&self) -> Option<&(dyn error::Error + 'static)> {
        self.0
            .cause
            .as_deref()
            .map(|cause| cause as &(dyn error::Error + 'static))
    }
}

impl From<Invalid> for Error {
    fn from(invalid: Invalid) -> Self {
        let mut error = Self::new(ErrorKind::InvalidParams);
        error.0.violations = invalid.into_violations();
        error
    }
}

impl From<ErrorKind> for Error {
    fn from(kind: ErrorKind) -> Self {
        Self::new(kind)
    }
}
