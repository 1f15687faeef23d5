use super::SecurityRequirement;

message! {
    /// Something that an agent is good at.
    AgentSkill {
        /// Unique within the card.
        id: String = "id", required;
        /// A name for people.
        name: String = "name", required;
        /// What it does.
        description: String = "description", written;
        /// Words to find it by.
        tags: Vec<String> = "tags", written;
        /// What one could ask.
        examples: Vec<String> = "examples";
        /// Media types that it reads, where they differ from the card's.
        input_modes: Vec<String> = "inputModes" | "input_modes";
        /// Media types that it writes, where they differ from the card's.
        output_modes: Vec<String> = "outputModes" | "output_modes";
        /// What it demands, where that differs from the card.
        security_requirements: Vec<SecurityRequirement> =
            "securityRequirements" | "security_requirements";
    }
}

impl AgentSkill {
    /// A skill, tagged with its id.
    #[must_use]
    pub fn new(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> Self {
        let id = id.into();
        Self {
            tags: vec![id.clone()],
            id,
            name: name.into(),
            description: description.into(),
            ..Self::blank()
        }
    }

    /// With other tags.
    #[must_use]
    pub fn with_tags<T: Into<String>>(mut self, tags: impl IntoIterator<Item = T>) -> Self {
        self.tags = tags.into_iter().map(Into::into).collect();
        self
    }

    /// With an example of what one could ask.
    #[must_use]
    pub fn with_example(mut self, example: impl Into<String>) -> Self {
        self.examples.push(example.into());
        self
    }
}
