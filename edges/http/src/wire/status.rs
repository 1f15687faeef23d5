use http::StatusCode;
use portcullis::FailureCode;

/// The one table between failures and statuses.
static TABLE: [(FailureCode, StatusCode); 13] = [
    // The first of a status is what the status alone means.
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
pub(crate) fn status_of(code: Option<&FailureCode>) -> Option<StatusCode> {
    let (_, status) = TABLE.iter().find(|(known, _)| Some(known) == code)?;
    Some(*status)
}
