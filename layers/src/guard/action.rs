use std::{borrow::Cow, fmt, sync::Arc};

/// What happens to a match.
#[derive(Clone)]
pub struct Action(pub(super) Kind);

#[derive(Clone)]
pub(super) enum Kind {
    Chars(char),
    Text(Cow<'static, str>),
    Replace(Arc<dyn Fn(&str) -> String + Send + Sync>),
    Stop,
}

impl Action {
    /// Each character of the match becomes this one.
    #[must_use]
    pub const fn chars(mask: char) -> Self {
        Self(Kind::Chars(mask))
    }

    /// The match becomes this text, which may be empty.
    #[must_use]
    pub fn text(mask: impl Into<Cow<'static, str>>) -> Self {
        Self(Kind::Text(mask.into()))
    }

    /// The match becomes what the function makes of it. A panic in it ends the turn.
    #[must_use]
    pub fn replace(replace: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        Self(Kind::Replace(Arc::new(replace)))
    }

    /// What came before the match is delivered, and the turn fails with `permission_denied`.
    #[must_use]
    pub const fn stop() -> Self {
        Self(Kind::Stop)
    }
}

/// Without the text: it may be derived from a secret.
impl fmt::Debug for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Chars(_) => "chars",
            Kind::Text(_) => "text",
            Kind::Replace(_) => "replace",
            Kind::Stop => "stop",
        })
    }
}
