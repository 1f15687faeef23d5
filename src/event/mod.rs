//! What an agent says during a turn.

mod content;
mod cost;
mod extension;
mod failure;
mod retrying;
mod tally;
mod tool;
mod usage;
mod wire;

pub use self::{
    content::{Completed, Text, Thinking},
    cost::Cost,
    extension::{Extension, ExtensionView},
    failure::{Failure, FailureCode},
    retrying::Retrying,
    tally::UsageTally,
    tool::{ToolEnded, ToolStarted},
    usage::{Usage, UsageSource},
};

use crate::Json;

/// One event of a turn (Agent Handler, section 5).
///
/// The variants are frozen and the terminal set `{Completed, Failed}` is closed
/// for ever: whatever comes later is an [`Extension`], and a typed view over it.
/// So a `match` without a wildcard arm stays right.
#[expect(
    clippy::exhaustive_enums,
    reason = "frozen: an open enum would make every layer write an arm that swallows"
)]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentEvent {
    /// A piece of the answer.
    Text(Text),
    /// A piece of the model's reasoning; never part of the answer.
    Thinking(Thinking),
    /// A tool begins.
    ToolStarted(Box<ToolStarted>),
    /// A tool has ended.
    ToolEnded(Box<ToolEnded>),
    /// Advisory: the engine waits and tries again.
    Retrying(Box<Retrying>),
    /// What one model call, or another billed operation, consumed.
    Usage(Box<Usage>),
    /// An event that the core set does not have, carried token for token.
    Extension(Extension),
    /// Terminal: success.
    Completed(Completed),
    /// Terminal: failure.
    Failed(Failure),
}

impl AgentEvent {
    /// A piece of the answer.
    #[must_use]
    pub fn text(delta: impl Into<String>) -> Self {
        Self::Text(Text::new(delta))
    }

    /// A piece of the model's reasoning.
    #[must_use]
    pub fn thinking(delta: impl Into<String>) -> Self {
        Self::Thinking(Thinking::new(delta))
    }

    /// A tool begins.
    #[must_use]
    pub fn tool_started(id: impl Into<String>, name: impl Into<String>, args: Json) -> Self {
        ToolStarted::new(id, name, args).into()
    }

    /// A tool has ended.
    #[must_use]
    pub fn tool_ended(id: impl Into<String>, is_error: bool, content: Json) -> Self {
        ToolEnded::new(id, is_error, content).into()
    }

    /// Success without data.
    #[must_use]
    pub const fn completed() -> Self {
        Self::Completed(Completed::new())
    }

    /// Whether nothing may follow this event.
    #[must_use]
    pub const fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed(_) | Self::Failed(_))
    }

    /// Whether a caller sees this event as output, so that starting over would show:
    /// everything but `retrying`, `usage` and the terminals.
    ///
    /// This is the commit point of layers that invoke again.
    #[must_use]
    pub const fn is_visible(&self) -> bool {
        match self {
            Self::Text(_)
            | Self::Thinking(_)
            | Self::ToolStarted(_)
            | Self::ToolEnded(_)
            | Self::Extension(_) => true,
            Self::Retrying(_) | Self::Usage(_) | Self::Completed(_) | Self::Failed(_) => false,
        }
    }

    /// The name of the type on the wire.
    #[must_use]
    pub fn type_name(&self) -> &str {
        match self {
            Self::Text(_) => "text",
            Self::Thinking(_) => "thinking",
            Self::ToolStarted(_) => "tool_started",
            Self::ToolEnded(_) => "tool_ended",
            Self::Retrying(_) => "retrying",
            Self::Usage(_) => "usage",
            Self::Extension(extension) => extension.type_name(),
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
        }
    }
}

macro_rules! into_event {
    ($($variant:ident($ty:ty)),* ; $($boxed:ident),*) => {
        $(impl From<$ty> for AgentEvent {
            fn from(event: $ty) -> Self { Self::$variant(event) }
        })*
        $(impl From<$boxed> for AgentEvent {
            fn from(event: $boxed) -> Self { Self::$boxed(Box::new(event)) }
        })*
    };
}

into_event!(
    Text(Text), Thinking(Thinking), Extension(Extension), Completed(Completed), Failed(Failure);
    ToolStarted, ToolEnded, Retrying, Usage
);
