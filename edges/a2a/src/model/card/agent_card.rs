use std::collections::BTreeMap;

use super::{
    AgentCapabilities, AgentCardSignature, AgentExtension, AgentInterface, AgentSkill,
    SecurityRequirement, SecurityScheme,
};

message! {
    /// What an agent is, and where it answers.
    AgentCard {
        /// A name for people.
        name: String = "name", required;
        /// What it does, for people and for agents.
        description: String = "description", written;
        /// Where it answers, preferred first: at least one.
        supported_interfaces: Vec<AgentInterface> =
            "supportedInterfaces" | "supported_interfaces", required;
        /// Who runs it.
        provider: Option<AgentProvider> = "provider";
        /// The version of the agent, not of the protocol.
        version: String = "version", required;
        /// Where to read more.
        documentation_url: Option<String> = "documentationUrl" | "documentation_url";
        /// Which optional parts of the protocol it has.
        capabilities: AgentCapabilities = "capabilities", required;
        /// Ways to authenticate, by name.
        security_schemes: BTreeMap<String, SecurityScheme> =
            "securitySchemes" | "security_schemes";
        /// Alternatives, any of which suffices.
        security_requirements: Vec<SecurityRequirement> =
            "securityRequirements" | "security_requirements";
        /// Media types that it reads.
        default_input_modes: Vec<String> =
            "defaultInputModes" | "default_input_modes", written;
        /// Media types that it writes.
        default_output_modes: Vec<String> =
            "defaultOutputModes" | "default_output_modes", written;
        /// What it is good at.
        skills: Vec<AgentSkill> = "skills", written;
        /// Signatures over the card.
        signatures: Vec<AgentCardSignature> = "signatures";
        /// A picture.
        icon_url: Option<String> = "iconUrl" | "icon_url";
    }
}

impl AgentCard {
    /// A card with one interface: text in, text out, streaming, one skill that is what
    /// the card describes.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        interface: AgentInterface,
    ) -> Self {
        Self::of_interfaces(name, description, vec![interface])
    }

    /// The same with every interface that there is, preferred first.
    #[must_use]
    pub fn of_interfaces(
        name: impl Into<String>,
        description: impl Into<String>,
        interfaces: Vec<AgentInterface>,
    ) -> Self {
        let (name, description) = (name.into(), description.into());
        Self {
            skills: vec![AgentSkill::new("main", name.clone(), description.clone())],
            name,
            description,
            supported_interfaces: interfaces,
            version: "1.0.0".to_owned(),
            capabilities: AgentCapabilities::streaming(),
            default_input_modes: vec!["text/plain".to_owned()],
            default_output_modes: vec!["text/plain".to_owned()],
            ..Self::blank()
        }
    }

    /// The extensions that it declares.
    pub fn extensions(&self) -> impl Iterator<Item = &AgentExtension> {
        self.capabilities.extensions.iter()
    }
}

message! {
    /// Who runs an agent.
    AgentProvider {
        /// Where to read about them.
        url: String = "url", required;
        /// Their name.
        organization: String = "organization", required;
    }
}

impl AgentProvider {
    /// A provider.
    #[must_use]
    pub fn new(organization: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            organization: organization.into(),
        }
    }
}
