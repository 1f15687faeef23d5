use http::{HeaderMap, HeaderName, Uri, request::Parts};
use portcullis::TraceContext;

use crate::{
    log::Seq,
    wire::{EXTENSIONS, VERSION},
};

/// What travels beside a call: version, extensions (A2A-SVC-1), and trace (A2A-SEC-20).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    /// As the client wrote it; `None` when it wrote nothing, which means 0.3 (A2A-SVC-7).
    pub(super) version: Option<String>,
    /// Without repetitions, in the order of the request.
    pub(super) extensions: Vec<String>,
    /// Where a watcher was when its stream broke (ruling 16). An id that is none of ours is no id.
    pub(super) last_event_id: Option<Seq>,
    pub(super) trace: Option<TraceContext>,
}

impl Parameters {
    pub(super) fn of(head: &Parts) -> Self {
        Self {
            version: version(&head.headers, &head.uri),
            extensions: extensions_of(&head.headers, &EXTENSIONS),
            last_event_id: text(&head.headers, "last-event-id")
                .and_then(|id| id.parse().ok())
                .map(Seq::new),
            trace: trace(&head.headers),
        }
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?;
    // What is no text is no version either: it must not pass for an absent header.
    Some(String::from_utf8_lossy(value.as_bytes()).trim().to_owned())
}

/// The header, else the query; the header wins (A2A-SVC-4).
fn version(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let of_query = || {
        uri.query()?.split('&').find_map(|pair| {
            let (name, value) = pair.split_once('=')?;
            name.eq_ignore_ascii_case(VERSION.as_str())
                .then(|| value.trim().to_owned())
        })
    };
    // Several that differ, as the Python SDK sends over gRPC what it speaks and what its caller
    // says, are a version that nobody speaks: to pick one would be to guess.
    let mut of_headers: Vec<_> = headers
        .get_all(&VERSION)
        .iter()
        .map(|line| String::from_utf8_lossy(line.as_bytes()).trim().to_owned())
        .collect();
    of_headers.dedup();
    (!of_headers.is_empty())
        .then(|| of_headers.join(", "))
        .or_else(of_query)
        .filter(|version| !version.is_empty())
}

/// All lines together, split at commas, each once (A2A-SVC-13, O-V05).
pub(in crate::binding) fn extensions_of(headers: &HeaderMap, name: &HeaderName) -> Vec<String> {
    let mut extensions: Vec<String> = Vec::new();
    for line in headers.get_all(name) {
        let line = String::from_utf8_lossy(line.as_bytes());
        for uri in line.split(',').map(str::trim).filter(|uri| !uri.is_empty()) {
            if !extensions.iter().any(|known| known == uri) {
                extensions.push(uri.to_owned());
            }
        }
    }
    extensions
}

/// One `traceparent`, and all lines of `tracestate` as one list. Two parents are none.
fn trace(headers: &HeaderMap) -> Option<TraceContext> {
    let mut parents = headers.get_all("traceparent").iter();
    let parent = parents.next()?.to_str().ok()?;
    if parents.next().is_some() {
        return None;
    }
    let states: Result<Vec<_>, _> = headers
        .get_all("tracestate")
        .iter()
        .map(|line| line.to_str())
        .collect();
    TraceContext::from_headers(parent, states.ok().map(|lines| lines.join(",")).as_deref())
}
