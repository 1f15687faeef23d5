use std::fmt;

use http::{
    HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use portcullis::Json;

use super::{HttpAuthBody, challenge::code, settings::Settings};
use crate::auth::{AuthError, AuthErrorKind};

/// A request that is not let in, for whoever words the answer:
/// [`HttpAuthLayer::refusal_body`](super::HttpAuthLayer::refusal_body).
pub struct Refusal<'a> {
    error: &'a AuthError,
    path: &'a str,
}

impl<'a> Refusal<'a> {
    pub(super) const fn new(error: &'a AuthError, path: &'a str) -> Self {
        Self { error, path }
    }

    /// Why.
    #[must_use]
    pub const fn error(&self) -> &AuthError {
        self.error
    }

    /// What was asked for.
    #[must_use]
    pub const fn path(&self) -> &str {
        self.path
    }

    /// 401 where nobody is known, 400 where nothing can be read, 403 where they may not, 503
    /// where nobody can tell.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self.error.kind() {
            AuthErrorKind::Missing | AuthErrorKind::Unrecognized | AuthErrorKind::Invalid => {
                StatusCode::UNAUTHORIZED
            }
            AuthErrorKind::Malformed => StatusCode::BAD_REQUEST,
            AuthErrorKind::Denied => StatusCode::FORBIDDEN,
            AuthErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// `{"error":…,"error_description":…}`, in the words of RFC 6750.
    pub(super) fn plain_body(&self) -> String {
        let word = code(self.error.kind()).unwrap_or(match self.error.kind() {
            AuthErrorKind::Unavailable => "temporarily_unavailable",
            _ => "authentication_required",
        });
        let description = Json::encode(&self.error.to_string()).expect("a string");
        format!(r#"{{"error":"{word}","error_description":{description}}}"#)
    }

    pub(super) fn response<B>(&self, settings: &Settings) -> Response<HttpAuthBody<B>> {
        let body = settings.refusal_body(self);
        let length = body.len();
        let mut response = Response::new(HttpAuthBody::refusal(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CONTENT_LENGTH, length.into());
        // It is about this caller, now.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if self.error.kind() != AuthErrorKind::Unavailable {
            for challenge in settings.challenges() {
                headers.append(WWW_AUTHENTICATE, challenge.line(self.error));
            }
        }
        if let Some(delay) = self.error.after() {
            // Rounded up: who comes earlier is refused again.
            let seconds = delay.as_millis().div_ceil(1_000);
            headers.insert(
                RETRY_AFTER,
                u64::try_from(seconds).unwrap_or(u64::MAX).into(),
            );
        }
        response
    }
}

impl fmt::Debug for Refusal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Refusal")
            .field("error", &self.error)
            .field("path", &self.path)
            .finish()
    }
}
