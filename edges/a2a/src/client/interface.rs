use std::{error::Error, fmt};

use super::binding::Binding;
use crate::model::{AgentCard, AgentInterface};

/// The first interface, in the order of the card, that speaks one of the bindings at version 1.0
/// (A2A-CARD-18, 20).
pub(super) fn choose<'a>(
    card: &'a AgentCard,
    bindings: &[Binding],
) -> Result<(Binding, &'a AgentInterface), NoInterface> {
    card.supported_interfaces
        .iter()
        .find_map(|interface| Some((binding_of(interface, bindings)?, interface)))
        .ok_or_else(|| NoInterface {
            wanted: bindings.to_vec(),
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

fn binding_of(interface: &AgentInterface, bindings: &[Binding]) -> Option<Binding> {
    let mut version = interface.protocol_version.split('.');
    let major_minor = (version.next(), version.next());
    if major_minor != (Some("1"), Some("0")) && !interface.protocol_version.is_empty() {
        return None;
    }
    bindings.iter().copied().find(|binding| {
        interface
            .protocol_binding
            .eq_ignore_ascii_case(binding.as_str())
    })
}

/// The card offers nothing that this client speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoInterface {
    wanted: Vec<Binding>,
    offered: Vec<String>,
}

impl NoInterface {
    /// The interface would do, but its address is none.
    pub(super) fn at(binding: Binding, url: &str) -> Self {
        Self {
            wanted: vec![binding],
            offered: vec![format!("one at {url:?}")],
        }
    }
}

impl fmt::Display for NoInterface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the card offers no usable ")?;
        for (index, binding) in self.wanted.iter().enumerate() {
            if index > 0 {
                f.write_str(" or ")?;
            }
            fmt::Display::fmt(binding, f)?;
        }
        write!(f, " 1.0, but {}", self.offered.join(", "))
    }
}

impl Error for NoInterface {}
