use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decode::{self, Blank, Context, Member, Read, Wire, read_raw};

/// What a task does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TaskState {
    /// Not set, or a state that this version does not know. Only somebody who reads
    /// meets it. Not terminal: read the task again (A2A-DATA-5).
    Unknown,
    /// Accepted, not yet picked up.
    Submitted,
    /// The agent is running it.
    Working,
    /// Finished, with a result.
    Completed,
    /// Finished, with an error.
    Failed,
    /// Stopped on request.
    Canceled,
    /// Waiting on the caller.
    InputRequired,
    /// Refused.
    Rejected,
    /// Waiting on credentials.
    AuthRequired,
}

impl TaskState {
    /// The eight states of the protocol.
    pub const ALL: [Self; 8] = [
        Self::Submitted,
        Self::Working,
        Self::Completed,
        Self::Failed,
        Self::Canceled,
        Self::InputRequired,
        Self::Rejected,
        Self::AuthRequired,
    ];

    /// Whether nothing changes the task any more.
    #[must_use]
    pub const fn is_terminal(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Canceled | Self::Rejected
        )
    }

    /// Whether the task waits for its caller.
    #[must_use]
    pub const fn is_interrupted(self) -> bool {
        matches!(self, Self::InputRequired | Self::AuthRequired)
    }

    /// The name in the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "TASK_STATE_UNSPECIFIED",
            Self::Submitted => "TASK_STATE_SUBMITTED",
            Self::Working => "TASK_STATE_WORKING",
            Self::Completed => "TASK_STATE_COMPLETED",
            Self::Failed => "TASK_STATE_FAILED",
            Self::Canceled => "TASK_STATE_CANCELED",
            Self::InputRequired => "TASK_STATE_INPUT_REQUIRED",
            Self::Rejected => "TASK_STATE_REJECTED",
            Self::AuthRequired => "TASK_STATE_AUTH_REQUIRED",
        }
    }

    /// The number in the protocol.
    #[must_use]
    pub const fn number(self) -> u8 {
        match self {
            Self::Unknown => 0,
            Self::Submitted => 1,
            Self::Working => 2,
            Self::Completed => 3,
            Self::Failed => 4,
            Self::Canceled => 5,
            Self::InputRequired => 6,
            Self::Rejected => 7,
            Self::AuthRequired => 8,
        }
    }

    /// The state with this number.
    #[must_use]
    pub fn from_number(number: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.number() == number)
    }

    /// The state with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for TaskState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for TaskState {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for TaskState {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::deserialize(deserializer)
    }
}

impl Wire for TaskState {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        let raw = read_raw(deserializer)?.get();
        if matches!(raw, "null" | "0" | "\"TASK_STATE_UNSPECIFIED\"") {
            return Ok(Read::Unset);
        }
        let known = match raw
            .strip_prefix('"')
            .and_then(|rest| rest.strip_suffix('"'))
        {
            Some(name) => Self::from_name(name),
            None => raw.parse().ok().and_then(Self::from_number),
        };
        Ok(match known {
            Some(state) => Read::Value(state),
            None if cx.is_strict() => {
                cx.violation("unknown task state");
                Read::Wrong
            }
            None => Read::Value(Self::Unknown),
        })
    }
}

impl Member for TaskState {
    fn is_unset(&self) -> bool {
        *self == Self::Unknown
    }
}

impl Blank for TaskState {
    fn blank() -> Self {
        Self::Unknown
    }
}
