//! What makes a card good: every fault at once, each with the path of its member.

mod address;
mod content;
mod findings;
mod interface;
mod security;

use self::findings::Findings;
use super::AgentCard;
use crate::model::{Invalid, Violation};

impl AgentCard {
    /// Whether the card can be served: what has to be there is there and says something (A2A-CARD-10),
    /// addresses are absolute (A2A-CARD-12) and hold no credentials (A2A-CARD-7), bindings and versions
    /// are written as callers compare them (A2A-CARD-14, 15), media types, schemes and extensions are
    /// such, and what is named is declared (A2A-CARD-17).
    ///
    /// A card of somebody else's needs none of it to be read: a client does without what it does not
    /// use (A2A-CARD-8).
    ///
    /// ```
    /// use portcullis_a2a::model::{AgentCard, AgentInterface, SecurityRequirement};
    ///
    /// let mut card = AgentCard::new("Echo", "Repeats it.", AgentInterface::json_rpc("/rpc"));
    /// card.version.clear();
    /// card.security_requirements = vec![SecurityRequirement::new().with("bearer", ["read"])];
    /// let faults = card.validate().unwrap_err();
    /// let faults: Vec<_> = faults.violations().iter().map(ToString::to_string).collect();
    /// assert_eq!(
    ///     faults,
    ///     [
    ///         "version: required",
    ///         "supportedInterfaces[0].url: must be an absolute URL, such as https://agent.example.com/",
    ///         "securityRequirements[0].schemes.bearer: is no scheme of securitySchemes",
    ///     ],
    /// );
    /// ```
    ///
    /// # Errors
    /// Every fault that was found.
    pub fn validate(&self) -> Result<(), Invalid> {
        let faults = self.findings().faults;
        if faults.is_empty() {
            Ok(())
        } else {
            Err(Invalid::new(faults))
        }
    }

    /// What may be so and had better not: addresses without encryption, which no production has
    /// (A2A-CARD-12), or that nobody else can reach, patch numbers of protocols (A2A-SVC-2), deprecated
    /// flows, an extended card without a way to authenticate (A2A-OP-104), texts that say nothing.
    #[must_use]
    pub fn advice(&self) -> Vec<Violation> {
        self.findings().advice
    }

    fn findings(&self) -> Findings {
        let mut found = Findings::default();
        content::check(self, &mut found);
        interface::check(&self.supported_interfaces, &mut found);
        security::check(self, &mut found);
        found
    }
}
