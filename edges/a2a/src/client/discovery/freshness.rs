use std::time::Duration;

use http::{
    HeaderMap, HeaderName,
    header::{AGE, CACHE_CONTROL, DATE, EXPIRES},
};
use jiff::Timestamp;

use crate::client::http_date::http_date;

/// What the headers of a response say about keeping it (RFC 9111), for a cache of one user.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Freshness {
    /// Not to be kept.
    None,
    /// Good for so long; after that only if the server says so.
    For(Duration),
    /// Nothing is said.
    Unsaid,
}

impl Freshness {
    pub(super) fn of(headers: &HeaderMap) -> Self {
        let mut max_age = None;
        let lines = headers.get_all(CACHE_CONTROL).iter();
        let directives = lines
            .filter_map(|line| line.to_str().ok())
            .flat_map(|line| line.split(','));
        for directive in directives {
            let (name, value) = directive.split_once('=').unwrap_or((directive, ""));
            match &*name.trim().to_ascii_lowercase() {
                "no-store" => return Self::None,
                "no-cache" => max_age = Some(0),
                // One that is no number has passed already.
                "max-age" if max_age.is_none() => {
                    max_age = Some(value.trim().trim_matches('"').parse().unwrap_or(0));
                }
                _ => {}
            }
        }
        let age = text(headers, &AGE).and_then(|age| age.parse().ok());
        let age = Duration::from_secs(age.unwrap_or(0));
        let lifetime = max_age.map(Duration::from_secs).or_else(|| expiry(headers));
        lifetime.map_or(Self::Unsaid, |lifetime| {
            Self::For(lifetime.saturating_sub(age))
        })
    }

    /// How long, where nothing is said and at most.
    pub(super) fn bounded(self, unsaid: Duration, most: Duration) -> Option<Duration> {
        match self {
            Self::None => None,
            Self::For(time) => Some(time.min(most)),
            Self::Unsaid => Some(unsaid.min(most)),
        }
    }
}

fn expiry(headers: &HeaderMap) -> Option<Duration> {
    let expires = text(headers, &EXPIRES)?;
    let Some(expires) = http_date(expires) else {
        return Some(Duration::ZERO);
    };
    let now = text(headers, &DATE).and_then(http_date);
    let left = expires.duration_since(now.unwrap_or_else(Timestamp::now));
    Some(Duration::try_from(left).unwrap_or_default())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    #[test]
    fn what_headers_say() {
        let date = ("date", "Mon, 07 Dec 2026 12:00:00 GMT");
        let seconds = |seconds| Freshness::For(Duration::from_secs(seconds));
        for (lines, expected) in [
            (vec![], Freshness::Unsaid),
            (vec![("cache-control", "public")], Freshness::Unsaid),
            (vec![("cache-control", "public, Max-Age=60")], seconds(60)),
            (
                vec![("cache-control", "max-age=\"60\""), ("age", "45")],
                seconds(15),
            ),
            (
                vec![("cache-control", "max-age=60"), ("age", "90")],
                seconds(0),
            ),
            (vec![("cache-control", "max-age=soon")], seconds(0)),
            (vec![("cache-control", "max-age=60, no-cache")], seconds(0)),
            (
                vec![
                    ("cache-control", "max-age=60"),
                    ("cache-control", "no-store"),
                ],
                Freshness::None,
            ),
            (
                vec![("expires", "Mon, 07 Dec 2026 12:00:30 GMT"), date],
                seconds(30),
            ),
            (vec![("expires", "0"), date], seconds(0)),
            (
                vec![
                    ("cache-control", "max-age=5"),
                    ("expires", "Mon, 07 Dec 2026 12:00:30 GMT"),
                    date,
                ],
                seconds(5),
            ),
        ] {
            let mut headers = HeaderMap::new();
            for (name, value) in &lines {
                headers.append(*name, HeaderValue::from_static(value));
            }
            assert_eq!(Freshness::of(&headers), expected, "{lines:?}");
        }
        let minute = Duration::from_secs(60);
        assert_eq!(
            seconds(u64::MAX).bounded(minute, 2 * minute),
            Some(2 * minute)
        );
        assert_eq!(Freshness::Unsaid.bounded(minute, 2 * minute), Some(minute));
        assert_eq!(Freshness::None.bounded(minute, minute), None);
    }
}
