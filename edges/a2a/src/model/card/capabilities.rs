use crate::model::Metadata;

message! {
    /// Which optional parts of the protocol an agent has.
    AgentCapabilities {
        /// Streams.
        streaming: Option<bool> = "streaming";
        /// Webhooks.
        push_notifications: Option<bool> = "pushNotifications" | "push_notifications";
        /// What goes beyond the protocol.
        extensions: Vec<AgentExtension> = "extensions";
        /// Another card for those who authenticate.
        extended_agent_card: Option<bool> = "extendedAgentCard" | "extended_agent_card";
    }
}

impl AgentCapabilities {
    /// None of them.
    #[must_use]
    pub fn new() -> Self {
        Self::blank()
    }

    /// Streams.
    #[must_use]
    pub fn streaming() -> Self {
        Self {
            streaming: Some(true),
            ..Self::blank()
        }
    }
}

impl Default for AgentCapabilities {
    fn default() -> Self {
        Self::new()
    }
}

message! {
    /// An extension of the protocol that an agent has.
    AgentExtension {
        /// Its identity.
        uri: String = "uri";
        /// What the agent does with it.
        description: String = "description";
        /// Whether a caller has to ask for it.
        required: bool = "required";
        /// What the extension defines.
        params: Option<Metadata> = "params";
    }
}

impl AgentExtension {
    /// An extension that callers may ask for.
    #[must_use]
    pub fn new(uri: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            ..Self::blank()
        }
    }

    /// Callers have to ask for it.
    #[must_use]
    pub const fn required(mut self) -> Self {
        self.required = true;
        self
    }
}
