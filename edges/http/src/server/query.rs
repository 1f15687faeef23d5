use std::time::Duration;

use http::Uri;

/// What the query of an address says, so that the service needs to know nothing of the path that it is
/// mounted at.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// Which turn is meant.
    pub(super) turn: Option<String>,
    /// Whether the turn is to outlive its connection, and for how long if that is said.
    pub(super) detach: Option<Option<Duration>>,
}

impl Query {
    pub(super) fn of(uri: &Uri) -> Self {
        let mut query = Self::default();
        for pair in uri.query().unwrap_or_default().split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            match name {
                "turn" => query.turn = Some(value.to_owned()),
                "detach" => query.detach = Some(value.parse().ok().map(Duration::from_secs)),
                _ => {}
            }
        }
        query
    }
}
