use http::Uri;

use super::{
    choice::{Choice, Unusable},
    reference::resolve,
};
use crate::{
    client::{
        binding::Binding,
        connection::Client,
        interface::{self, NoInterface},
        transport::Transport,
    },
    model::{AgentCard, AgentInterface},
};

/// A card, and what is known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovered {
    card: AgentCard,
    url: Option<Uri>,
    key_id: Option<String>,
}

impl Discovered {
    pub(super) const fn new(card: AgentCard, url: Option<Uri>, key_id: Option<String>) -> Self {
        Self { card, url, key_id }
    }

    /// A card that came by another way: a file, a registry. Whoever gives it vouches for where it
    /// points to, and its addresses have to be absolute.
    #[must_use]
    pub const fn given(card: AgentCard) -> Self {
        Self::new(card, None, None)
    }

    /// The card.
    #[must_use]
    pub const fn card(&self) -> &AgentCard {
        &self.card
    }

    /// Where it came from.
    #[must_use]
    pub const fn url(&self) -> Option<&Uri> {
        self.url.as_ref()
    }

    /// The key that signed it, where signatures were asked for.
    #[must_use]
    pub fn key_id(&self) -> Option<&str> {
        self.key_id.as_deref()
    }

    /// A client of the interface that the choice falls on, and of its tenant.
    ///
    /// # Errors
    /// No interface is left, or the agent requires more than the caller understands.
    pub fn client<T: Transport>(
        &self,
        transport: T,
        choice: &Choice,
    ) -> Result<Client<T>, Unusable> {
        let mut required = self
            .card
            .extensions()
            .filter(|extension| extension.required);
        if let Some(missing) = required.find(|missing| !choice.extensions.contains(&missing.uri)) {
            return Err(Unusable::Extension(missing.uri.clone()));
        }
        let mut refused = None;
        for (binding, interface) in interface::usable(&self.card, &choice.bindings, choice.by_card)
        {
            let Some(url) = self.address(binding, interface) else {
                continue;
            };
            if let Some(from) = &self.url
                && !choice.reach.allows(from, &url)
            {
                refused.get_or_insert(url);
                continue;
            }
            let extensions = choice.extensions.iter().map(|uri| &**uri);
            let client = Client::over(binding, transport, url).extensions(extensions);
            return Ok(client.tenant_of(interface));
        }
        Err(refused.map_or_else(
            || Unusable::NoInterface(NoInterface::in_card(&self.card, &choice.bindings)),
            Unusable::Elsewhere,
        ))
    }

    fn address(&self, binding: Binding, interface: &AgentInterface) -> Option<Uri> {
        let is_plain = Binding::PLAIN.contains(&binding);
        match &self.url {
            Some(base) if is_plain => resolve(base, &interface.url),
            _ => interface::address(&self.card, binding, &interface.url)
                .filter(|url| url.host().is_some()),
        }
    }
}
