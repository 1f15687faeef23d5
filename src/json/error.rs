use std::{borrow::Cow, error::Error, fmt};

/// Text that is not what was expected: says what was expected, where, and what was
/// found.
///
/// ```
/// use portcullis::AgentEvent;
///
/// let error = AgentEvent::from_json(r#"{"type":"text","delta":7}"#).unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "text event, member `delta`, byte 23: expected a string, found a number",
/// );
/// assert_eq!((error.member(), error.offset()), (Some("delta"), Some(23)));
/// ```
pub struct DecodeError(Box<Inner>);

#[derive(Debug, Default)]
struct Inner {
    within: Cow<'static, str>,
    member: Option<Box<str>>,
    at: Option<usize>,
    expected: Cow<'static, str>,
    found: Cow<'static, str>,
}

impl DecodeError {
    pub(crate) fn new(
        expected: impl Into<Cow<'static, str>>,
        found: impl Into<Cow<'static, str>>,
    ) -> Self {
        Self(Box::new(Inner {
            expected: expected.into(),
            found: found.into(),
            ..Inner::default()
        }))
    }

    pub(crate) fn at(mut self, byte: usize) -> Self {
        self.0.at = Some(byte);
        self
    }

    pub(crate) fn member_named(mut self, name: &str) -> Self {
        // Somebody else chose the name, so its length is bounded here.
        let end = name.floor_char_boundary(64);
        self.0.member = Some(name[..end].into());
        self
    }

    pub(crate) fn missing(name: &'static str) -> Self {
        Self::new("a value", "no such member").member_named(name)
    }

    /// Says what the text was taken for. The innermost object wins.
    pub(crate) fn within(mut self, within: impl Into<Cow<'static, str>>) -> Self {
        if self.0.within.is_empty() {
            self.0.within = within.into();
        }
        self
    }

    /// What was expected.
    #[must_use]
    pub fn expected(&self) -> &str {
        &self.0.expected
    }

    /// What was found instead.
    #[must_use]
    pub fn found(&self) -> &str {
        &self.0.found
    }

    /// The member that is wrong or missing, if it is one. A long name is cut.
    #[must_use]
    pub fn member(&self) -> Option<&str> {
        self.0.member.as_deref()
    }

    /// At which byte of the text it was found.
    #[must_use]
    pub const fn offset(&self) -> Option<usize> {
        self.0.at
    }
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let inner = &self.0;
        let mut before = "";
        if !inner.within.is_empty() {
            f.write_str(&inner.within)?;
            before = ", ";
        }
        if let Some(member) = &inner.member {
            write!(f, "{before}member `{}`", member.escape_debug())?;
            before = ", ";
        }
        if let Some(at) = inner.at {
            write!(f, "{before}byte {at}")?;
            before = ", ";
        }
        if !before.is_empty() {
            f.write_str(": ")?;
        }
        write!(f, "expected {}, found {}", inner.expected, inner.found)
    }
}

impl fmt::Debug for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl Error for DecodeError {}
