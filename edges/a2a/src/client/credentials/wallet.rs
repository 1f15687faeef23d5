use std::{collections::BTreeMap, error::Error, fmt};

use http::Uri;

use super::{credential::Credential, layer::CredentialsLayer, placed::Placed};
use crate::model::{AgentCard, SecurityRequirement};

/// The credentials of a caller for one agent, by the names of the card's security schemes.
///
/// ```no_run
/// use portcullis_a2a::client::{Cards, Choice, Credential, Transport, Wallet};
///
/// # async fn doc(http: impl Transport, token: String) -> Result<(), Box<dyn std::error::Error>> {
/// let card = Cards::new(http.clone()).fetch("https://agent.example.com").await?;
/// let client = card.client(http, &Choice::new())?;
///
/// let wallet = Wallet::new().with("bearer", Credential::bearer(token));
/// let credentials = wallet.layer(card.card(), client.url())?;
/// let client = client.layer(&credentials);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Wallet(BTreeMap<String, Credential>);

impl Wallet {
    /// An empty one.
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// And this, for the scheme of that name.
    pub fn with(mut self, scheme: impl Into<String>, credential: Credential) -> Self {
        self.0.insert(scheme.into(), credential);
        self
    }

    /// A layer that shows what the card requires: all schemes of its first alternative that this
    /// wallet has everything for (A2A-CARD-17). Requests to another origin than that of `url` carry
    /// none of it.
    ///
    /// # Errors
    /// There is no such alternative.
    pub fn layer(&self, card: &AgentCard, url: &Uri) -> Result<CredentialsLayer, NoCredentials> {
        let requirements = &card.security_requirements;
        // One that asks for nothing is met by anybody, so it is the last resort.
        let alternatives = requirements.iter().filter(|one| !one.schemes.is_empty());
        let placed = alternatives.clone().find_map(|one| self.meet(card, one));
        let asks_nobody = requirements.is_empty() || requirements.len() > alternatives.count();
        match placed {
            Some(placed) => Ok(CredentialsLayer::new(url, placed)),
            None if asks_nobody => Ok(CredentialsLayer::new(url, Vec::new())),
            None => Err(NoCredentials {
                required: requirements
                    .iter()
                    .map(|one| one.schemes.keys().cloned().collect())
                    .collect(),
            }),
        }
    }

    fn meet(&self, card: &AgentCard, requirement: &SecurityRequirement) -> Option<Vec<Placed>> {
        let schemes = requirement.schemes.keys();
        schemes
            .map(|name| Placed::new(card.security_schemes.get(name)?, self.0.get(name)?))
            .collect()
    }
}

/// The card requires what the wallet does not have, or something that does not fit where it should
/// go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoCredentials {
    required: Vec<Vec<String>>,
}

impl fmt::Display for NoCredentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the agent requires credentials for ")?;
        for (index, names) in self.required.iter().enumerate() {
            if index > 0 {
                f.write_str(", or for ")?;
            }
            f.write_str(&names.join(" and "))?;
        }
        Ok(())
    }
}

impl Error for NoCredentials {}
