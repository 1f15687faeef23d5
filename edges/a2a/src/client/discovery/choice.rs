use std::{error::Error, fmt};

use http::Uri;

use super::Reach;
use crate::client::{binding::Binding, interface::NoInterface};

/// Which interface of a card a client is made for.
#[derive(Clone, Debug)]
#[must_use]
pub struct Choice {
    pub(super) bindings: Vec<Binding>,
    pub(super) by_card: bool,
    pub(super) reach: Reach,
    pub(super) extensions: Vec<String>,
}

impl Choice {
    /// The first interface of the card that speaks JSON-RPC or HTTP+JSON, which every transport
    /// carries, on the host of the card.
    pub fn new() -> Self {
        Self {
            bindings: Binding::PLAIN.to_vec(),
            by_card: true,
            reach: Reach::same_host(),
            extensions: Vec::new(),
        }
    }

    /// The first of the card that speaks one of these bindings (A2A-CARD-18).
    pub fn any_of(mut self, bindings: &[Binding]) -> Self {
        self.bindings = bindings.to_vec();
        self.by_card = true;
        self
    }

    /// The first of these bindings that the card has, whatever the card prefers.
    pub fn prefer(mut self, bindings: &[Binding]) -> Self {
        self.bindings = bindings.to_vec();
        self.by_card = false;
        self
    }

    /// Where it may be.
    pub fn reach(mut self, reach: Reach) -> Self {
        self.reach = reach;
        self
    }

    /// The extensions that the caller understands. Every request asks for them; an agent that
    /// requires another one is not called (A2A-CARD-23).
    pub fn extensions<T: Into<String>>(mut self, uris: impl IntoIterator<Item = T>) -> Self {
        self.extensions = uris.into_iter().map(Into::into).collect();
        self
    }
}

impl Default for Choice {
    fn default() -> Self {
        Self::new()
    }
}

/// A card is of no use to this client.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unusable {
    /// It offers nothing that this client speaks.
    NoInterface(NoInterface),
    /// What it offers is where the policy does not go.
    Elsewhere(Uri),
    /// The agent requires an extension that the caller does not understand.
    Extension(String),
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoInterface(error) => fmt::Display::fmt(error, f),
            Self::Elsewhere(url) => write!(
                f,
                "the card points to {url}, which is not on its own host; allow that host if you trust it"
            ),
            Self::Extension(uri) => write!(f, "the agent requires the extension {uri}"),
        }
    }
}

impl Error for Unusable {}
