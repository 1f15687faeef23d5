use portcullis::{AgentEvent, Extension};
use serde::{Deserialize, Serialize};

use super::Meter;

/// What a `budget` event says: a meter has passed its soft limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Notice {
    /// Of what it is the budget: a `turn`, a `session`.
    pub scope: String,
    /// What was counted, as [`Meter::as_str`] has it.
    pub meter: String,
    /// How much is used.
    pub used: u64,
    /// How much there is.
    pub limit: u64,
}

impl Notice {
    /// The type of the event.
    pub const TYPE: &str = "budget";

    pub(super) fn new(scope: &str, meter: Meter, used: u64, limit: u64) -> Self {
        Self {
            scope: scope.to_owned(),
            meter: meter.as_str().to_owned(),
            used,
            limit,
        }
    }

    /// Reads a `budget` event. `None` for every other event, and for one that somebody
    /// else means by that name.
    #[must_use]
    pub fn from_event(event: &AgentEvent) -> Option<Self> {
        match event {
            AgentEvent::Extension(event) if event.type_name() == Self::TYPE => {
                event.json().decode().ok()
            }
            _ => None,
        }
    }
}

impl From<Notice> for AgentEvent {
    fn from(notice: Notice) -> Self {
        let event = Extension::encode(Notice::TYPE, &notice);
        event.expect("plain members without a type").into()
    }
}
