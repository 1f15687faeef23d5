use std::time::Duration;

use http::{
    HeaderMap, HeaderName,
    header::{DATE, RETRY_AFTER},
};
use jiff::Timestamp;

use super::http_date::http_date;

/// When to come again: in seconds or as a date, whichever the server wrote. A date is taken by the
/// server's own clock, where it tells that too. One that has passed is now.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = text(headers, &RETRY_AFTER)?;
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok().map(Duration::from_secs);
    }
    let date = http_date(text)?;
    let now = self::text(headers, &DATE).and_then(http_date);
    let wait = date.duration_since(now.unwrap_or_else(Timestamp::now));
    Some(Duration::try_from(wait).unwrap_or_default())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    let text = headers.get(name)?.to_str().ok()?.trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn seconds_and_dates() {
        for (after, expected) in [
            ("7", Some(7)),
            (" 7 ", Some(7)),
            ("0", Some(0)),
            ("Sun, 06 Nov 1994 08:49:47 GMT", Some(10)),
            ("Sunday, 06-Nov-94 08:49:47 GMT", Some(10)),
            ("Sun Nov  6 08:49:47 1994", Some(10)),
            ("Sun, 06 Nov 1994 08:49:30 GMT", Some(0)),
            ("-1", None),
            ("soon", None),
            ("", None),
            ("99999999999999999999999", None),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(RETRY_AFTER, HeaderValue::from_static(after));
            headers.insert(
                DATE,
                HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT"),
            );
            let expected = expected.map(Duration::from_secs);
            assert_eq!(retry_after(&headers), expected, "{after}");
        }
    }

    #[test]
    fn without_a_date_by_our_clock() {
        let mut headers = HeaderMap::new();
        let past = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:37 GMT");
        headers.insert(RETRY_AFTER, past);
        assert_eq!(retry_after(&headers), Some(Duration::ZERO));
        let future = HeaderValue::from_static("Thu, 31 Dec 9998 23:59:59 GMT");
        headers.insert(RETRY_AFTER, future);
        assert!(retry_after(&headers) > Some(Duration::from_secs(1 << 30)));
    }
}
