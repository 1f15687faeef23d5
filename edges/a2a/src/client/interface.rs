use std::{error::Error, fmt};

use crate::model::{AgentCard, AgentInterface};

/// The first interface, in the order of the card, that we speak: JSON-RPC at version 1.0
/// (A2A-CARD-18, 20).
pub(super) fn choose(card: &AgentCard) -> Result<&AgentInterface, NoInterface> {
    card.supported_interfaces
        .iter()
        .find(|interface| is_ours(interface))
        .ok_or_else(|| NoInterface {
            offered: card
                .supported_interfaces
                .iter()
                .map(|interface| {
                    format!(
                        "{} {}",
                        interface.protocol_binding, interface.protocol_version
                    )
                })
                .collect(),
        })
}

fn is_ours(interface: &AgentInterface) -> bool {
    let mut version = interface.protocol_version.split('.');
    let major_minor = (version.next(), version.next());
    interface.protocol_binding.eq_ignore_ascii_case("JSONRPC")
        && (major_minor == (Some("1"), Some("0")) || interface.protocol_version.is_empty())
}

/// The card offers nothing that this client speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoInterface {
    offered: Vec<String>,
}

impl NoInterface {
    /// The interface would do, but its address is none.
    pub(super) fn at(url: &str) -> Self {
        Self {
            offered: vec![format!("one at {url:?}")],
        }
    }
}

impl fmt::Display for NoInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the card offers no usable JSONRPC 1.0, but {}",
            self.offered.join(", ")
        )
    }
}

impl Error for NoInterface {}
