use http::{
    HeaderMap,
    header::{ACCEPT, CONTENT_TYPE},
};

use crate::wire::{A2A_JSON, JSON};

/// The type of a reply: what the client prefers of the two that there are; without a preference
/// what it sent itself; else that of the protocol (A2A-REST-14).
pub(super) fn of_reply(headers: &HeaderMap) -> &'static str {
    preferred(headers)
        .or_else(|| {
            let sent = headers.get(CONTENT_TYPE)?.to_str().ok()?;
            known(essence(sent))
        })
        .unwrap_or(A2A_JSON)
}

/// The known type of `Accept` with the highest quality; the first of equals.
fn preferred(headers: &HeaderMap) -> Option<&'static str> {
    let mut best: Option<(&'static str, f32)> = None;
    for line in headers.get_all(ACCEPT) {
        for range in line.to_str().unwrap_or_default().split(',') {
            let Some(type_) = known(essence(range)) else {
                continue;
            };
            let quality = quality(range);
            if quality > best.map_or(0.0, |(_, quality)| quality) {
                best = Some((type_, quality));
            }
        }
    }
    best.map(|(type_, _)| type_)
}

fn quality(range: &str) -> f32 {
    range
        .split(';')
        .skip(1)
        .find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            let quality = value.trim().parse().ok()?;
            name.trim().eq_ignore_ascii_case("q").then_some(quality)
        })
        .unwrap_or(1.0)
}

fn essence(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim()
}

fn known(essence: &str) -> Option<&'static str> {
    [A2A_JSON, JSON]
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(essence))
}
