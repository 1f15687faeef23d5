use crate::model::Metadata;

message! {
    /// A JWS over the canonical form of a card.
    AgentCardSignature {
        /// The protected header, base64url.
        protected: String = "protected", required;
        /// The signature, base64url.
        signature: String = "signature", required;
        /// The unprotected header. Nothing in it may be trusted.
        header: Option<Metadata> = "header";
    }
}

impl AgentCardSignature {
    /// A signature.
    #[must_use]
    pub fn new(protected: impl Into<String>, signature: impl Into<String>) -> Self {
        Self {
            protected: protected.into(),
            signature: signature.into(),
            header: None,
        }
    }
}
