use super::{
    AgentCapabilities, AgentCard, AgentExtension, AgentInterface, AgentProvider, AgentSkill,
    SecurityRequirement, SecurityScheme,
};
use crate::model::Invalid;

/// Makes an [`AgentCard`], and says all that is wrong with it. Made by [`AgentCard::builder`].
#[derive(Clone, Debug)]
#[must_use]
pub struct AgentCardBuilder {
    card: AgentCard,
}

impl AgentCard {
    /// A card, member by member: version 1.0.0, text in, text out, streaming, unless something else
    /// is said.
    ///
    /// ```
    /// use portcullis_a2a::model::{
    ///     AgentCard, AgentInterface, AgentSkill, HttpAuthSecurityScheme, Invalid, SecurityRequirement,
    /// };
    ///
    /// # fn main() -> Result<(), Invalid> {
    /// let card = AgentCard::builder("Echo", "Repeats what it is told.")
    ///     .interface(AgentInterface::json_rpc("https://agent.example.com/"))
    ///     .skill(AgentSkill::new("echo", "Echo", "Echoes text.").with_tags(["demo"]))
    ///     .scheme("bearer", HttpAuthSecurityScheme::bearer())
    ///     .require(SecurityRequirement::new().with("bearer", ["talk"]))
    ///     .build()?;
    /// assert_eq!(card.skills[0].id, "echo");
    ///
    /// let faults = AgentCard::builder("", "").build().unwrap_err();
    /// assert_eq!(faults.violations()[0].to_string(), "name: required");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(name: impl Into<String>, description: impl Into<String>) -> AgentCardBuilder {
        let mut card = Self::of_interfaces(name, description, Vec::new());
        card.skills.clear();
        AgentCardBuilder { card }
    }
}

impl AgentCardBuilder {
    /// Where it answers; the first is preferred.
    pub fn interface(self, interface: AgentInterface) -> Self {
        self.interfaces([interface])
    }

    /// Where it answers, each after those that are there.
    pub fn interfaces(mut self, interfaces: impl IntoIterator<Item = AgentInterface>) -> Self {
        self.card.supported_interfaces.extend(interfaces);
        self
    }

    /// The version of the agent.
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.card.version = version.into();
        self
    }

    /// Who runs it.
    pub fn provider(mut self, provider: AgentProvider) -> Self {
        self.card.provider = Some(provider);
        self
    }

    /// Where to read more.
    pub fn documentation_url(mut self, url: impl Into<String>) -> Self {
        self.card.documentation_url = Some(url.into());
        self
    }

    /// A picture.
    pub fn icon_url(mut self, url: impl Into<String>) -> Self {
        self.card.icon_url = Some(url.into());
        self
    }

    /// Something that it is good at. Without any, what it does is its one skill.
    pub fn skill(mut self, skill: AgentSkill) -> Self {
        self.card.skills.push(skill);
        self
    }

    /// The media types that it reads, instead of `text/plain`.
    pub fn input_modes<T: Into<String>>(mut self, modes: impl IntoIterator<Item = T>) -> Self {
        self.card.default_input_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// The media types that it writes, instead of `text/plain`.
    pub fn output_modes<T: Into<String>>(mut self, modes: impl IntoIterator<Item = T>) -> Self {
        self.card.default_output_modes = modes.into_iter().map(Into::into).collect();
        self
    }

    /// The optional parts of the protocol that it has, instead of streaming.
    pub fn capabilities(mut self, capabilities: AgentCapabilities) -> Self {
        self.card.capabilities = capabilities;
        self
    }

    /// An extension that it has.
    pub fn extension(mut self, extension: AgentExtension) -> Self {
        self.card.capabilities.extensions.push(extension);
        self
    }

    /// A way to authenticate, by a name for requirements.
    pub fn scheme(mut self, name: impl Into<String>, scheme: impl Into<SecurityScheme>) -> Self {
        self.card
            .security_schemes
            .insert(name.into(), scheme.into());
        self
    }

    /// What suffices to be let in; of several, any one.
    pub fn require(mut self, requirement: SecurityRequirement) -> Self {
        self.card.security_requirements.push(requirement);
        self
    }

    /// The card, if there is nothing wrong with it.
    ///
    /// # Errors
    /// Everything that is: see [`AgentCard::validate`].
    pub fn build(self) -> Result<AgentCard, Invalid> {
        let mut card = self.card;
        if card.skills.is_empty() && !card.name.is_empty() {
            let (name, description) = (card.name.clone(), card.description.clone());
            card.skills = vec![AgentSkill::new("main", name, description)];
        }
        card.validate()?;
        Ok(card)
    }
}
