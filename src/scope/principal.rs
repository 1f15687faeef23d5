/// Who asks, as somebody that we trust has established it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Principal {
    kind: String,
    issuer: String,
    subject: String,
}

impl Principal {
    /// A principal: `kind` such as `user` or `service`, who vouches for it, and its
    /// name there.
    #[must_use]
    pub fn new(
        kind: impl Into<String>,
        issuer: impl Into<String>,
        subject: impl Into<String>,
    ) -> Self {
        Self {
            kind: kind.into(),
            issuer: issuer.into(),
            subject: subject.into(),
        }
    }

    /// The kind, `user` or `service` for instance.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Who vouches for it.
    #[must_use]
    pub fn issuer(&self) -> &str {
        &self.issuer
    }

    /// Its name there.
    #[must_use]
    pub fn subject(&self) -> &str {
        &self.subject
    }
}
