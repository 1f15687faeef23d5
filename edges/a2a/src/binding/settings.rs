use std::time::Duration;

use super::card::Card;
use crate::jsonrpc::WELL_KNOWN_CARD;

/// What the host decides about the wire.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub(super) card: Card,
    /// Without a slash at the end; empty for the root.
    pub(super) path: String,
    pub(super) body_limit: usize,
    pub(super) keep_alive: Duration,
}

impl Settings {
    pub(super) const fn new(card: Card) -> Self {
        Self {
            card,
            path: String::new(),
            body_limit: 10 << 20,
            keep_alive: Duration::from_secs(15),
        }
    }

    /// At the origin, and below the endpoint for hosts of several agents (A2A-CARD-4).
    pub(super) fn is_card(&self, path: &str) -> bool {
        path == WELL_KNOWN_CARD || path.strip_prefix(self.path.as_str()) == Some(WELL_KNOWN_CARD)
    }

    /// With and without a slash at the end (A2A-RPC-13).
    pub(super) fn is_endpoint(&self, path: &str) -> bool {
        path.strip_suffix('/').unwrap_or(path) == self.path
    }
}
