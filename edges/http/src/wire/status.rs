use http::StatusCode;
use portcullis::FailureCode;

/// The one table between failures and statuses.
static TABLE: [(FailureCode, StatusCode); 13] = [
    (
        FailureCode::INVALID_PROMPT,
        StatusCode::UNPROCESSABLE_ENTITY,
    ),
    (FailureCode::UNAUTHENTICATED, StatusCode::UNAUTHORIZED),
    (FailureCode::PERMISSION_DENIED, StatusCode::FORBIDDEN),
    (FailureCode::BUDGET_EXCEEDED, StatusCode::PAYMENT_REQUIRED),
    (FailureCode::SESSION_BUSY, StatusCode::CONFLICT),
    (FailureCode::ABORTED, StatusCode::CONFLICT),
    (FailureCode::RATE_LIMITED, StatusCode::TOO_MANY_REQUESTS),
    (FailureCode::UNAVAILABLE, StatusCode::SERVICE_UNAVAILABLE),
    (FailureCode::OVERLOADED, StatusCode::SERVICE_UNAVAILABLE),
    (FailureCode::TIMEOUT, StatusCode::GATEWAY_TIMEOUT),
    (FailureCode::CONTRACT_VIOLATION, StatusCode::BAD_GATEWAY),
    (FailureCode::INVALID_OUTPUT, StatusCode::BAD_GATEWAY),
    (FailureCode::INTERNAL, StatusCode::INTERNAL_SERVER_ERROR),
];

/// The status of a turn that begins with this failure. `None` for a failure that is the agent's own:
/// it is an answer, and no fault of who serves it.
#[cfg(feature = "server")]
pub(crate) fn status_of(code: Option<&FailureCode>) -> Option<StatusCode> {
    let (_, status) = TABLE.iter().find(|(known, _)| Some(known) == code)?;
    Some(*status)
}

/// What a status means where nothing else says so, as from a proxy: the first code that has it, and
/// whether it is worth another try.
#[cfg(feature = "client")]
pub(crate) fn code_of(status: StatusCode) -> (FailureCode, bool) {
    match status {
        StatusCode::BAD_REQUEST
        | StatusCode::PAYLOAD_TOO_LARGE
        | StatusCode::UNSUPPORTED_MEDIA_TYPE => (FailureCode::INVALID_PROMPT, false),
        StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT => (FailureCode::TIMEOUT, true),
        StatusCode::CONFLICT | StatusCode::TOO_MANY_REQUESTS => (first_of(status), true),
        // Whoever says so did not say why, so that it is no bug of the agent's.
        _ if status.is_server_error() => (FailureCode::UNAVAILABLE, true),
        _ => (first_of(status), false),
    }
}

#[cfg(feature = "client")]
fn first_of(status: StatusCode) -> FailureCode {
    let row = TABLE.iter().find(|(_, known)| *known == status);
    row.map_or(FailureCode::CONTRACT_VIOLATION, |(code, _)| code.clone())
}
