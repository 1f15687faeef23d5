use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, LAST_MODIFIED,
    },
};
use jiff::Timestamp;

use super::{
    body::ResponseBody,
    etag::{etag, has},
};
use crate::{model::AgentCard, wire::JSON};

/// The public card as it is served: the same bytes to everybody, whatever the headers (O-C03).
#[derive(Clone, Debug)]
pub(super) struct Card {
    bytes: Bytes,
    etag: HeaderValue,
    modified: Timestamp,
    cache_control: HeaderValue,
}

impl Card {
    pub(super) fn new(card: &AgentCard, modified: Timestamp) -> Self {
        let bytes = serde_json::to_vec(card).expect("the model always encodes");
        Self {
            etag: etag(&bytes),
            bytes: bytes.into(),
            modified,
            cache_control: HeaderValue::from_static("public, max-age=3600"),
        }
    }

    pub(super) fn cache_control(&mut self, value: HeaderValue) {
        self.cache_control = value;
    }

    pub(super) fn answer(&self, method: &Method, headers: &HeaderMap) -> Response<ResponseBody> {
        if method != Method::GET && method != Method::HEAD {
            let mut response = Response::new(ResponseBody::empty());
            *response.status_mut() = match *method {
                // Which other origins may ask is for a layer in front to say (CORS).
                Method::OPTIONS => StatusCode::NO_CONTENT,
                _ => StatusCode::METHOD_NOT_ALLOWED,
            };
            let allow = HeaderValue::from_static("GET, HEAD, OPTIONS");
            response.headers_mut().insert(ALLOW, allow);
            return response;
        }
        let fresh = self.is_fresh(headers);
        let body = if fresh || method == Method::HEAD {
            ResponseBody::empty()
        } else {
            ResponseBody::whole(self.bytes.clone())
        };
        let mut response = Response::new(body);
        let head = response.headers_mut();
        head.insert(ETAG, self.etag.clone());
        head.insert(CACHE_CONTROL, self.cache_control.clone());
        head.insert(LAST_MODIFIED, http_date(self.modified));
        if fresh {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            head.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            head.insert(CONTENT_LENGTH, self.bytes.len().into());
        }
        response
    }

    /// Whether the client has these very bytes. A date counts only where there is no tag.
    fn is_fresh(&self, headers: &HeaderMap) -> bool {
        if let Some(has) = has(headers, &self.etag) {
            return has;
        }
        headers
            .get(IF_MODIFIED_SINCE)
            .and_then(|since| since.to_str().ok())
            .is_some_and(|since| {
                jiff::fmt::rfc2822::parse(since)
                    .is_ok_and(|since| self.modified.as_second() <= since.timestamp().as_second())
            })
    }
}

/// `Tue, 15 Nov 1994 08:12:31 GMT`
fn http_date(at: Timestamp) -> HeaderValue {
    let at = at.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    HeaderValue::from_str(&at).expect("letters, digits and punctuation")
}
