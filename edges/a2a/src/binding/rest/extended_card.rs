use http::{
    HeaderMap, HeaderValue, Response, StatusCode,
    header::{CACHE_CONTROL, CONTENT_LENGTH, CONTENT_TYPE, ETAG, VARY},
};

use crate::{
    binding::{
        ResponseBody,
        http::{etag, has, weak_etag, whole},
    },
    model::AgentCard,
};

/// The extended card: this caller's, so no shared cache keeps it (A2A-OP-107).
///
/// Credentials may come in any header, so one that is kept is asked for again each time; the
/// tag makes that cheap.
pub(super) fn reply(
    media_type: &'static str,
    headers: &HeaderMap,
    card: &AgentCard,
) -> Response<ResponseBody> {
    let bytes = encode(card);
    let tag = if card.signatures.is_empty() {
        etag(&bytes)
    } else {
        weak_etag(&encode(&without_signatures(card)))
    };
    let mut response = if has(headers, &tag) == Some(true) {
        let mut response = whole(StatusCode::NOT_MODIFIED, media_type, Vec::new());
        response.headers_mut().remove(CONTENT_TYPE);
        response.headers_mut().remove(CONTENT_LENGTH);
        response
    } else {
        whole(StatusCode::OK, media_type, bytes)
    };
    let head = response.headers_mut();
    head.insert(ETAG, tag);
    head.insert(CACHE_CONTROL, HeaderValue::from_static("private, no-cache"));
    head.insert(VARY, HeaderValue::from_static("accept, authorization"));
    response
}

/// The card is signed for each reply, and ES256 never signs alike twice. Who signed it, and how, stays.
fn without_signatures(card: &AgentCard) -> AgentCard {
    let mut card = card.clone();
    for signature in &mut card.signatures {
        signature.signature.clear();
    }
    card
}

fn encode(card: &AgentCard) -> Vec<u8> {
    serde_json::to_vec(card).expect("the model always encodes")
}
