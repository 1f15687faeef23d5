use std::{borrow::Cow, error::Error, fmt};

/// The control plane said no.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ControlRefusal {
    code: RefusalCode,
    details: Cow<'static, str>,
}

impl ControlRefusal {
    /// A refusal with a text for people.
    #[must_use]
    pub fn new(code: RefusalCode, details: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            details: details.into(),
        }
    }

    /// The stable reason.
    #[must_use]
    pub const fn code(&self) -> RefusalCode {
        self.code
    }
}

impl fmt::Display for ControlRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.details)
    }
}

impl Error for ControlRefusal {}

/// Why the control plane said no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RefusalCode {
    /// The session has no turn that runs.
    NotRunning,
    /// The turn cannot do that.
    Unsupported,
    /// Too many prompts wait already.
    QueueFull,
}

impl RefusalCode {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotRunning => "not_running",
            Self::Unsupported => "unsupported",
            Self::QueueFull => "queue_full",
        }
    }
}

impl fmt::Display for RefusalCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
