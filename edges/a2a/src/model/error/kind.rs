use super::RpcCode;

/// What kind of error it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// No task under that id.
    TaskNotFound,
    /// It is finished, or it cannot stop.
    TaskNotCancelable,
    /// The agent takes no webhooks.
    PushNotificationNotSupported,
    /// The method, or a task that is over.
    UnsupportedOperation,
    /// A part that the agent cannot read.
    ContentTypeNotSupported,
    /// The agent answered with something else.
    InvalidAgentResponse,
    /// There is no second card.
    ExtendedAgentCardNotConfigured,
    /// An extension that the caller must honour.
    ExtensionSupportRequired,
    /// A version that this interface does not speak.
    VersionNotSupported,
    /// The body is not JSON.
    Parse,
    /// The body is no request.
    InvalidRequest,
    /// There is no such method.
    MethodNotFound,
    /// The parameters are wrong.
    InvalidParams,
    /// A fault of the server.
    Internal,
    /// Nobody knows who asks. Bindings over HTTP answer 401.
    Unauthenticated,
    /// Who asks may not. Bindings over HTTP answer 403.
    PermissionDenied,
    /// Too many requests. Bindings over HTTP answer 429.
    ResourceExhausted,
    /// No place is free now. Bindings over HTTP answer 503.
    Unavailable,
}

impl ErrorKind {
    /// The nine refusals of the protocol.
    pub const REFUSALS: [Self; 9] = [
        Self::TaskNotFound,
        Self::TaskNotCancelable,
        Self::PushNotificationNotSupported,
        Self::UnsupportedOperation,
        Self::ContentTypeNotSupported,
        Self::InvalidAgentResponse,
        Self::ExtendedAgentCardNotConfigured,
        Self::ExtensionSupportRequired,
        Self::VersionNotSupported,
    ];

    /// The code of JSON-RPC.
    #[must_use]
    pub const fn code(self) -> i32 {
        match self {
            Self::TaskNotFound => -32001,
            Self::TaskNotCancelable => -32002,
            Self::PushNotificationNotSupported => -32003,
            Self::UnsupportedOperation => -32004,
            Self::ContentTypeNotSupported => -32005,
            Self::InvalidAgentResponse => -32006,
            Self::ExtendedAgentCardNotConfigured => -32007,
            Self::ExtensionSupportRequired => -32008,
            Self::VersionNotSupported => -32009,
            Self::Parse => -32700,
            Self::InvalidRequest => -32600,
            Self::MethodNotFound => -32601,
            Self::InvalidParams => -32602,
            Self::Internal => -32603,
            // The protocol assigns none (A2A-RPC-35).
            Self::Unauthenticated
            | Self::PermissionDenied
            | Self::ResourceExhausted
            | Self::Unavailable => -32000,
        }
    }

    /// The kind with this code, as far as a code tells.
    #[must_use]
    pub const fn from_code(code: i32) -> Option<Self> {
        Some(match code {
            -32001 => Self::TaskNotFound,
            -32002 => Self::TaskNotCancelable,
            -32003 => Self::PushNotificationNotSupported,
            -32004 => Self::UnsupportedOperation,
            -32005 => Self::ContentTypeNotSupported,
            -32006 => Self::InvalidAgentResponse,
            -32007 => Self::ExtendedAgentCardNotConfigured,
            -32008 => Self::ExtensionSupportRequired,
            -32009 => Self::VersionNotSupported,
            -32700 => Self::Parse,
            -32600 => Self::InvalidRequest,
            -32601 => Self::MethodNotFound,
            -32602 => Self::InvalidParams,
            -32603 => Self::Internal,
            _ => return None,
        })
    }

    /// The code of gRPC, whose name HTTP+JSON says too (A2A-RPC-27, A2A-REST-23).
    #[must_use]
    pub const fn rpc_code(self) -> RpcCode {
        match self {
            Self::TaskNotFound => RpcCode::NotFound,
            Self::TaskNotCancelable
            | Self::PushNotificationNotSupported
            | Self::UnsupportedOperation
            | Self::ExtendedAgentCardNotConfigured
            | Self::ExtensionSupportRequired
            | Self::VersionNotSupported => RpcCode::FailedPrecondition,
            Self::ContentTypeNotSupported
            | Self::Parse
            | Self::InvalidRequest
            | Self::InvalidParams => RpcCode::InvalidArgument,
            Self::MethodNotFound => RpcCode::Unimplemented,
            Self::InvalidAgentResponse | Self::Internal => RpcCode::Internal,
            Self::Unauthenticated => RpcCode::Unauthenticated,
            Self::PermissionDenied => RpcCode::PermissionDenied,
            Self::ResourceExhausted => RpcCode::ResourceExhausted,
            Self::Unavailable => RpcCode::Unavailable,
        }
    }

    /// The status of HTTP+JSON (A2A-RPC-27, A2A-REST-23).
    #[must_use]
    pub const fn http_status(self) -> u16 {
        match self.rpc_code() {
            RpcCode::InvalidArgument | RpcCode::FailedPrecondition => 400,
            RpcCode::Unauthenticated => 401,
            RpcCode::PermissionDenied => 403,
            // What nobody serves is not found there.
            RpcCode::NotFound | RpcCode::Unimplemented => 404,
            RpcCode::ResourceExhausted => 429,
            RpcCode::Internal => 500,
            RpcCode::Unavailable => 503,
        }
    }

    /// The kind that an HTTP status says by itself, with no reason beside it.
    #[must_use]
    pub const fn from_http_status(status: u16) -> Option<Self> {
        Some(match status {
            400 => Self::InvalidParams,
            401 => Self::Unauthenticated,
            403 => Self::PermissionDenied,
            404 | 405 => Self::MethodNotFound,
            // Only these refusals had a status of their own in 1.0.0.
            409 => Self::TaskNotCancelable,
            415 => Self::ContentTypeNotSupported,
            429 => Self::ResourceExhausted,
            402..=499 => Self::InvalidRequest,
            500 => Self::Internal,
            501..=599 => Self::Unavailable,
            _ => return None,
        })
    }

    /// The reason of the `ErrorInfo`; only the nine refusals have one.
    #[must_use]
    pub const fn reason(self) -> Option<&'static str> {
        Some(match self {
            Self::TaskNotFound => "TASK_NOT_FOUND",
            Self::TaskNotCancelable => "TASK_NOT_CANCELABLE",
            Self::PushNotificationNotSupported => "PUSH_NOTIFICATION_NOT_SUPPORTED",
            Self::UnsupportedOperation => "UNSUPPORTED_OPERATION",
            Self::ContentTypeNotSupported => "CONTENT_TYPE_NOT_SUPPORTED",
            Self::InvalidAgentResponse => "INVALID_AGENT_RESPONSE",
            Self::ExtendedAgentCardNotConfigured => "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
            Self::ExtensionSupportRequired => "EXTENSION_SUPPORT_REQUIRED",
            Self::VersionNotSupported => "VERSION_NOT_SUPPORTED",
            _ => return None,
        })
    }

    /// The reason where no code of JSON-RPC says it: beside those of the refusals the ones
    /// that official SDKs write and read (A2A-RPC-33).
    #[must_use]
    pub const fn full_reason(self) -> Option<&'static str> {
        Some(match self {
            Self::Parse => "PARSE_ERROR",
            Self::InvalidRequest => "INVALID_REQUEST",
            Self::MethodNotFound => "METHOD_NOT_FOUND",
            Self::InvalidParams => "INVALID_PARAMS",
            refusal => return refusal.reason(),
        })
    }

    /// The kind with this reason.
    #[must_use]
    pub fn from_reason(reason: &str) -> Option<Self> {
        Self::REFUSALS
            .into_iter()
            .chain([
                Self::Parse,
                Self::InvalidRequest,
                Self::MethodNotFound,
                Self::InvalidParams,
            ])
            .find(|kind| kind.full_reason() == Some(reason))
    }

    /// The usual message; for the codes of JSON-RPC the prescribed one (A2A-RPC-26).
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::TaskNotFound => "Task not found",
            Self::TaskNotCancelable => "Task cannot be canceled",
            Self::PushNotificationNotSupported => "Push notifications are not supported",
            Self::UnsupportedOperation => "This operation is not supported",
            Self::ContentTypeNotSupported => "Content type not supported",
            Self::InvalidAgentResponse => "The agent answered against the protocol",
            Self::ExtendedAgentCardNotConfigured => "Extended agent card is not configured",
            Self::ExtensionSupportRequired => "Extension support required",
            Self::VersionNotSupported => "Protocol version not supported",
            Self::Parse => "Invalid JSON payload",
            Self::InvalidRequest => "Request payload validation error",
            Self::MethodNotFound => "Method not found",
            Self::InvalidParams => "Invalid parameters",
            Self::Internal => "Internal error",
            Self::Unauthenticated => "Authentication required",
            Self::PermissionDenied => "Permission denied",
            Self::ResourceExhausted => "Too many requests",
            Self::Unavailable => "Temporarily unavailable",
        }
    }
}
