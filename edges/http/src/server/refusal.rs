use std::borrow::Cow;

use http::{
    HeaderValue, Response, StatusCode,
    header::{ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE},
};
use portcullis::{Failure, FailureCode};

use super::{ResponseBody, detach::Absent};
use crate::wire::{PROBLEM, Problem, status_of};

/// A request that leads to no turn, or a turn that is refused at once.
#[derive(Debug)]
pub(super) struct Refusal {
    status: StatusCode,
    failure: Failure,
    allow: Option<&'static str>,
}

impl Refusal {
    /// What is wrong with a request.
    pub(super) fn of_request(status: StatusCode, what: impl Into<Cow<'static, str>>) -> Self {
        Self {
            status,
            failure: Failure::with_code(FailureCode::INVALID_PROMPT, what),
            allow: None,
        }
    }

    /// A turn that begins with its end. `None` if that is the agent's answer.
    pub(super) fn of_turn(failure: &Failure) -> Option<Self> {
        Some(Self {
            status: status_of(failure.code())?,
            failure: failure.clone(),
            allow: None,
        })
    }

    /// Nothing says which turn.
    pub(super) fn of_no_turn() -> Self {
        Self::of_absent(Absent::Unknown)
    }

    /// A turn that cannot be read on.
    pub(super) fn of_absent(absent: Absent) -> Self {
        let (status, what) = match absent {
            Absent::Unknown => (StatusCode::NOT_FOUND, "there is no such turn"),
            Absent::Gone => (StatusCode::GONE, "the events after that one are gone"),
            Absent::Ahead => (StatusCode::BAD_REQUEST, "there is no such event yet"),
        };
        Self {
            status,
            failure: Failure::with_code(FailureCode::UNAVAILABLE, what),
            allow: None,
        }
    }

    /// The methods that there are.
    pub(super) fn of_method(allow: &'static str) -> Self {
        let what = "there is no such method here";
        let mut refusal = Self::of_request(StatusCode::METHOD_NOT_ALLOWED, what);
        refusal.allow = Some(allow);
        refusal
    }

    pub(super) fn into_response(self) -> Response<ResponseBody> {
        let problem = Problem {
            title: self.status.canonical_reason().unwrap_or_default(),
            status: self.status.as_u16(),
            detail: self.failure.details(),
            event: self.failure.clone().into(),
        };
        let body = problem.to_json();
        let length = body.len();
        let mut response = Response::new(ResponseBody::whole(body.into()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        headers.insert(CONTENT_LENGTH, length.into());
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(after) = self.failure.after() {
            // Rounded up: a caller that comes earlier is refused again.
            let seconds = u64::try_from(after.as_millis().div_ceil(1_000)).unwrap_or(u64::MAX);
            headers.insert(RETRY_AFTER, seconds.into());
        }
        response
    }
}
