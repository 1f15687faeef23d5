use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written, security::Schemes};
use crate::{
    model::{AgentCard, AgentInterface, AgentSkill},
    server::ProtocolVersion,
    wire::{Members, object},
};

/// A card that is one of 0.3 only. Its signatures would be over another document, so it has none.
///
/// In HTTP+JSON the schemes have the members of both versions: of the official SDKs one reads them
/// as JSON-RPC has them, the other as the proto file has them.
impl Serialize for Written<'_, AgentCard> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (form, card) = (self.form, self.value);
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("name", &card.name)?;
        object.serialize_entry("description", &card.description)?;
        object.serialize_entry("version", &card.version)?;
        connection(&mut object, card)?;
        if let Some(provider) = &card.provider {
            object.serialize_entry("provider", provider)?;
        }
        if let Some(url) = &card.documentation_url {
            object.serialize_entry("documentationUrl", url)?;
        }
        if let Some(url) = &card.icon_url {
            object.serialize_entry("iconUrl", url)?;
        }
        let mut capabilities = card.capabilities.clone();
        capabilities.extended_agent_card = None;
        object.serialize_entry("capabilities", &capabilities)?;
        object.serialize_entry("defaultInputModes", &card.default_input_modes)?;
        object.serialize_entry("defaultOutputModes", &card.default_output_modes)?;
        object.serialize_entry("skills", &form.write(&*card.skills))?;
        if !card.security_schemes.is_empty() {
            let schemes = Schemes {
                schemes: &card.security_schemes,
                merged: form == Form::Proto,
            };
            object.serialize_entry("securitySchemes", &schemes)?;
        }
        security(&mut object, card)?;
        object.end()
    }
}

impl Serialize for Written<'_, AgentSkill> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let skill = self.value;
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("id", &skill.id)?;
        object.serialize_entry("name", &skill.name)?;
        object.serialize_entry("description", &skill.description)?;
        object.serialize_entry("tags", &skill.tags)?;
        for (name, list) in [
            ("examples", &skill.examples),
            ("inputModes", &skill.input_modes),
            ("outputModes", &skill.output_modes),
        ] {
            if !list.is_empty() {
                object.serialize_entry(name, list)?;
            }
        }
        if !skill.security_requirements.is_empty() {
            let security = self.form.write(&*skill.security_requirements);
            object.serialize_entry("security", &security)?;
        }
        object.end()
    }
}

/// A card of both versions in one document: the names of their members are disjoint, but for the
/// schemes, which have the members of both (A2A-COMPAT-6). `None` if the card names no interface of
/// 0.3.
pub(crate) fn hybrid(card: &AgentCard) -> Option<String> {
    old_interfaces(card).next()?;
    let new = json(card);
    let Members(members) = serde_json::from_str(&new).expect("a card is an object");
    let schemes = json(&Schemes {
        schemes: &card.security_schemes,
        merged: true,
    });
    let skills = json(&card.skills.iter().map(HybridSkill).collect::<Vec<_>>());
    let old = json(&OldMembers(card));
    let Members(old) = serde_json::from_str(&old).expect("the members are an object");
    let members: Vec<(String, &str)> = members
        .into_iter()
        .map(|(name, value)| {
            let value = match &*name {
                "securitySchemes" => &*schemes,
                "skills" => &*skills,
                _ => value.get(),
            };
            (name, value)
        })
        .chain(old.into_iter().map(|(name, value)| (name, value.get())))
        .collect();
    Some(object(&members))
}

/// What only a card of 0.3 has.
struct OldMembers<'a>(&'a AgentCard);

impl Serialize for OldMembers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        connection(&mut object, self.0)?;
        security(&mut object, self.0)?;
        object.end()
    }
}

/// A skill with the members of both versions.
struct HybridSkill<'a>(&'a AgentSkill);

impl Serialize for HybridSkill<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(skill) = self;
        let new = json(skill);
        let Members(members) = serde_json::from_str(&new).expect("a skill is an object");
        let mut object = serializer.serialize_map(None)?;
        for (name, value) in members {
            object.serialize_entry(&name, value)?;
        }
        if !skill.security_requirements.is_empty() {
            let security = Form::JsonRpc.write(&*skill.security_requirements);
            object.serialize_entry("security", &security)?;
        }
        object.end()
    }
}

/// Where the agent is and what it speaks there. A card that a host made for those who authenticate
/// may name no interface of 0.3; then whatever it names stands for it.
fn connection<M: SerializeMap>(object: &mut M, card: &AgentCard) -> Result<(), M::Error> {
    let mut interfaces: Vec<_> = old_interfaces(card).collect();
    if interfaces.is_empty() {
        interfaces.extend(&card.supported_interfaces);
    }
    object.serialize_entry("protocolVersion", "0.3.0")?;
    if let Some(first) = interfaces.first() {
        object.serialize_entry("url", &first.url)?;
        object.serialize_entry("preferredTransport", &first.protocol_binding)?;
    }
    let all: Vec<_> = interfaces.into_iter().map(OldInterface).collect();
    object.serialize_entry("additionalInterfaces", &all)?;
    if let Some(extended) = card.capabilities.extended_agent_card {
        object.serialize_entry("supportsAuthenticatedExtendedCard", &extended)?;
    }
    Ok(())
}

fn security<M: SerializeMap>(object: &mut M, card: &AgentCard) -> Result<(), M::Error> {
    if card.security_requirements.is_empty() {
        return Ok(());
    }
    let security = Form::JsonRpc.write(&*card.security_requirements);
    object.serialize_entry("security", &security)
}

fn old_interfaces(card: &AgentCard) -> impl Iterator<Item = &AgentInterface> {
    card.supported_interfaces.iter().filter(|interface| {
        ProtocolVersion::parse(&interface.protocol_version) == Some(ProtocolVersion::V0_3)
    })
}

struct OldInterface<'a>(&'a AgentInterface);

impl Serialize for OldInterface<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(interface) = self;
        serializer.collect_map([
            ("url", &interface.url),
            ("transport", &interface.protocol_binding),
        ])
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("the model always encodes")
}
