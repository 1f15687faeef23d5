use http::{HeaderMap, header::ACCEPT};

use crate::wire::Format;

/// A format, and the media type that the caller called it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Accepted {
    pub(super) format: Format,
    pub(super) media_type: &'static str,
}

/// What the caller wants most of what there is (RFC 9110, section 12.5.1). `None` if it takes nothing
/// of it.
pub(super) fn accepted(headers: &HeaderMap) -> Option<Accepted> {
    let ranges = ranges(headers);
    let offers = [Format::Sse, Format::JsonLines].into_iter();
    let offers = offers.flat_map(|format| {
        let media_types = format.media_types().iter();
        media_types.map(move |media_type| Accepted { format, media_type })
    });
    let mut best = None;
    for offer in offers {
        let quality = quality(&ranges, offer.media_type);
        // The earlier offer wins where the caller has no preference.
        if quality > best.map_or(0, |(quality, _)| quality) {
            best = Some((quality, offer));
        }
    }
    best.map(|(_, offer)| offer)
}

/// A media range, in lower case and without parameters, and its weight in thousandths.
struct Range {
    name: String,
    quality: u16,
}

fn ranges(headers: &HeaderMap) -> Vec<Range> {
    let lines = headers.get_all(ACCEPT).iter();
    let mut ranges: Vec<_> = lines
        .flat_map(|line| line.as_bytes().split(|byte| *byte == b','))
        .filter_map(|range| range_of(std::str::from_utf8(range).ok()?))
        .collect();
    if ranges.is_empty() {
        ranges.push(Range {
            name: "*/*".to_owned(),
            quality: 1000,
        });
    }
    ranges
}

fn range_of(text: &str) -> Option<Range> {
    let mut pieces = text.split(';').map(str::trim);
    let name = pieces.next()?.to_ascii_lowercase();
    let weight = pieces.find_map(|piece| {
        let (name, value) = piece.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| value.trim())
    });
    let quality = match weight {
        None => 1000,
        // A weight that is none is none at all.
        Some(weight) => match weight.parse::<f32>() {
            Ok(weight) if (0.0..=1.0).contains(&weight) => (weight * 1000.0) as u16,
            _ => 0,
        },
    };
    (!name.is_empty()).then_some(Range { name, quality })
}

/// The weight that the most specific range gives.
fn quality(ranges: &[Range], media_type: &str) -> u16 {
    let of = |name: &str| {
        let range = ranges.iter().find(|range| range.name == name);
        range.map(|range| range.quality)
    };
    let main_type = media_type.split('/').next().unwrap_or_default();
    of(media_type)
        .or_else(|| of(&format!("{main_type}/*")))
        .or_else(|| of("*/*"))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;

    use super::*;

    fn of(lines: &[&'static str]) -> Option<&'static str> {
        let mut headers = HeaderMap::new();
        for line in lines {
            headers.append(ACCEPT, HeaderValue::from_static(line));
        }
        accepted(&headers).map(|accepted| accepted.media_type)
    }

    #[test]
    fn the_caller_chooses() {
        const SSE: Option<&str> = Some("text/event-stream");
        const LINES: Option<&str> = Some("application/x-ndjson");
        for (lines, expected) in [
            (&[][..], SSE),
            (&[""], SSE),
            (&["*/*"], SSE),
            (&["text/*"], SSE),
            (&["application/*"], LINES),
            (&["application/jsonl"], Some("application/jsonl")),
            (&["application/ndjson"], Some("application/ndjson")),
            (&["Application/X-NDJSON; charset=utf-8"], LINES),
            (&["text/event-stream;q=0.5, application/x-ndjson"], LINES),
            (&["text/event-stream, application/x-ndjson"], SSE),
            (&["application/x-ndjson, text/event-stream"], SSE),
            (&["application/x-ndjson", "text/event-stream;Q=0.1"], LINES),
            (&["*/*, text/event-stream;q=0"], LINES),
            (
                &["*/*;q=0.1, application/jsonl; q=0.2"],
                Some("application/jsonl"),
            ),
            (&["application/json"], None),
            (&["text/html, application/xhtml+xml"], None),
            (&["text/event-stream;q=0"], None),
            (&["text/event-stream;q=nan"], None),
            (&["text/event-stream;q=2"], None),
        ] {
            assert_eq!(of(lines), expected, "{lines:?}");
        }
    }
}
