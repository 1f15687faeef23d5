use std::fmt;

/// The codes of `google.rpc.Code` that errors have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a binding maps every one")]
pub enum RpcCode {
    /// The request is wrong by itself.
    InvalidArgument,
    /// There is nothing of that name.
    NotFound,
    /// The caller may not.
    PermissionDenied,
    /// Too much was asked.
    ResourceExhausted,
    /// The state or the capabilities forbid it.
    FailedPrecondition,
    /// There is no such operation.
    Unimplemented,
    /// A fault of the server.
    Internal,
    /// Not now.
    Unavailable,
    /// Nobody knows who asks.
    Unauthenticated,
}

impl RpcCode {
    /// The number, which gRPC sends.
    #[must_use]
    pub const fn number(self) -> i32 {
        match self {
            Self::InvalidArgument => 3,
            Self::NotFound => 5,
            Self::PermissionDenied => 7,
            Self::ResourceExhausted => 8,
            Self::FailedPrecondition => 9,
            Self::Unimplemented => 12,
            Self::Internal => 13,
            Self::Unavailable => 14,
            Self::Unauthenticated => 16,
        }
    }

    /// The name, which HTTP+JSON sends.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidArgument => "INVALID_ARGUMENT",
            Self::NotFound => "NOT_FOUND",
            Self::PermissionDenied => "PERMISSION_DENIED",
            Self::ResourceExhausted => "RESOURCE_EXHAUSTED",
            Self::FailedPrecondition => "FAILED_PRECONDITION",
            Self::Unimplemented => "UNIMPLEMENTED",
            Self::Internal => "INTERNAL",
            Self::Unavailable => "UNAVAILABLE",
            Self::Unauthenticated => "UNAUTHENTICATED",
        }
    }
}

impl fmt::Display for RpcCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
