use http::{HeaderMap, Uri, header::CONTENT_LOCATION, uri::PathAndQuery};

/// The address with more in its query. `None` if that is no address.
pub(super) fn with_query(url: &Uri, more: &str) -> Option<Uri> {
    let mut parts = url.clone().into_parts();
    let query = match url.query().filter(|query| !query.is_empty()) {
        Some(query) => format!("{}?{query}&{more}", url.path()),
        None => format!("{}?{more}", url.path()),
    };
    parts.path_and_query = Some(query.parse::<PathAndQuery>().ok()?);
    Uri::from_parts(parts).ok()
}

/// Where a turn can be read on, if its head says so. It is the same address, whoever says what: only the
/// query counts.
pub(super) fn place_of(url: &Uri, headers: &HeaderMap) -> Option<Uri> {
    let place = headers.get(CONTENT_LOCATION)?.to_str().ok()?;
    let id = place.strip_prefix("?turn=")?;
    let is_id = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if id.is_empty() || id.len() > MAX_ID || !id.bytes().all(is_id) {
        return None;
    }
    with_query(url, &format!("turn={id}"))
}

const MAX_ID: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_query_of_a_place_counts() {
        let url: Uri = "https://a.example/v1/turns?key=1".parse().unwrap();
        let place = |text: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_LOCATION, text.parse().unwrap());
            place_of(&url, &headers).map(|place| place.to_string())
        };
        let expected = "https://a.example/v1/turns?key=1&turn=0af-1";
        assert_eq!(place("?turn=0af-1").as_deref(), Some(expected));
        for elsewhere in [
            "https://b.example/?turn=1",
            "//b.example/?turn=1",
            "/other?turn=1",
            "?turn=",
            "?turn=1&key=2",
            "?turn=1#x",
            "?x=1",
        ] {
            assert_eq!(place(elsewhere), None, "{elsewhere}");
        }
    }
}
