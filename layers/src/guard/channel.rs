/// Where an agent says something. All of them are looked at, unless told otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Channel {
    /// `text`, joined over its events.
    Text,
    /// `thinking`, joined over its events.
    Thinking,
    /// The arguments of `tool_started`.
    ToolArgs,
    /// The content of `tool_ended`.
    ToolResults,
    /// The data of `completed`.
    Data,
    /// The details of `failed`.
    Details,
    /// The reason of `retrying`.
    Reason,
}

/// What happens to unknown events, and to unknown members of known ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// They go on unseen.
    Forward,
    /// Their strings and names are looked at. What holds no match keeps its tokens.
    #[default]
    Scan,
    /// They are withheld. **This breaks MUST 5 on purpose**: newer events of the agent do not
    /// reach the caller.
    Block,
}

/// A set of channels.
#[derive(Clone, Copy, Debug)]
pub(super) struct Channels(u8);

impl Channels {
    pub(super) const ALL: Self = Self(0b111_1111);
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn has(self, channel: Channel) -> bool {
        self.0 & (1 << channel as u8) != 0
    }

    pub(super) const fn with(self, channel: Channel) -> Self {
        Self(self.0 | 1 << channel as u8)
    }

    pub(super) const fn without(self, channel: Channel) -> Self {
        Self(self.0 & !(1 << channel as u8))
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
