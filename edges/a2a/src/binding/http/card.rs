use bytes::Bytes;
use http::{
    HeaderMap, HeaderValue, Method, Response, StatusCode,
    header::{
        ALLOW, CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, IF_MODIFIED_SINCE, LAST_MODIFIED,
        VARY,
    },
};
use jiff::Timestamp;

use super::{
    body::ResponseBody,
    etag::{etag, has},
};
#[cfg(feature = "v0_3")]
use crate::model::v0_3;
use crate::{model::AgentCard, server::ProtocolVersion, wire::JSON};

/// The public card as it is served: the same bytes to everybody, whatever the headers (O-C03), but
/// for the version.
#[derive(Clone, Debug)]
pub(super) struct Card {
    document: Document,
    /// For those who do not say that they speak 1.0, where the card names an interface of 0.3.
    hybrid: Option<Document>,
    modified: Timestamp,
    cache_control: HeaderValue,
}

#[derive(Clone, Debug)]
struct Document {
    bytes: Bytes,
    etag: HeaderValue,
}

impl Document {
    fn new(bytes: Vec<u8>) -> Self {
        Self {
            etag: etag(&bytes),
            bytes: bytes.into(),
        }
    }
}

impl Card {
    pub(super) fn new(card: &AgentCard, modified: Timestamp) -> Self {
        let bytes = serde_json::to_vec(card).expect("the model always encodes");
        #[cfg(feature = "v0_3")]
        let hybrid = v0_3::hybrid(card).map(|json| Document::new(json.into_bytes()));
        #[cfg(not(feature = "v0_3"))]
        let hybrid = None;
        Self {
            document: Document::new(bytes),
            hybrid,
            modified,
            cache_control: HeaderValue::from_static("public, max-age=3600"),
        }
    }

    /// Whether there is a card for those who speak 0.3 too.
    pub(super) const fn is_hybrid(&self) -> bool {
        self.hybrid.is_some()
    }

    pub(super) fn cache_control(&mut self, value: HeaderValue) {
        self.cache_control = value;
    }

    /// Who speaks 1.0 gets a card of 1.0 only, with which a signature agrees (A2A-COMPAT-6).
    fn document(&self, version: Option<&str>) -> &Document {
        let speaks_1_0 = version.and_then(ProtocolVersion::parse) == Some(ProtocolVersion::V1_0);
        self.hybrid
            .as_ref()
            .filter(|_| !speaks_1_0)
            .unwrap_or(&self.document)
    }

    pub(super) fn answer(
        &self,
        method: &Method,
        headers: &HeaderMap,
        version: Option<&str>,
    ) -> Response<ResponseBody> {
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
        let document = self.document(version);
        let fresh = self.is_fresh(&document.etag, headers);
        let body = if fresh || method == Method::HEAD {
            ResponseBody::empty()
        } else {
            ResponseBody::whole(document.bytes.clone())
        };
        let mut response = Response::new(body);
        let head = response.headers_mut();
        head.insert(ETAG, document.etag.clone());
        head.insert(CACHE_CONTROL, self.cache_control.clone());
        head.insert(LAST_MODIFIED, http_date(self.modified));
        if self.is_hybrid() {
            head.insert(VARY, HeaderValue::from_static("A2A-Version"));
        }
        if fresh {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        } else {
            head.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
            head.insert(CONTENT_LENGTH, document.bytes.len().into());
        }
        response
    }

    /// Whether the client has these very bytes. A date counts only where there is no tag.
    fn is_fresh(&self, etag: &HeaderValue, headers: &HeaderMap) -> bool {
        if let Some(has) = has(headers, etag) {
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
