use http::{HeaderMap, header::CONTENT_TYPE};

/// Whether the request says that it is JSON, in any of the ways that clients write it: with
/// parameters, in capitals, as `application/a2a+json` (A2A-RPC-2, O-J06).
pub(in crate::binding) fn is_json(headers: &HeaderMap) -> bool {
    let Some(value) = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
    else {
        return false;
    };
    let essence = value
        .split(';')
        .next()
        .unwrap_or_default()
        .trim()
        .to_ascii_lowercase();
    essence
        .strip_prefix("application/")
        .is_some_and(|subtype| subtype == "json" || subtype.ends_with("+json"))
}
