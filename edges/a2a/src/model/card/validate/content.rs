use std::collections::HashMap;

use super::{Findings, address};
use crate::model::{AgentCapabilities, AgentCard, AgentCardSignature, AgentProvider, AgentSkill};

/// What the card says of the agent itself.
pub(super) fn check(card: &AgentCard, found: &mut Findings) {
    found.required("name", &card.name);
    found.wanted("description", &card.description);
    found.required("version", &card.version);
    if let Some(provider) = &card.provider {
        self::provider(provider, found);
    }
    for (path, url) in [
        ("documentationUrl", &card.documentation_url),
        ("iconUrl", &card.icon_url),
    ] {
        if let Some(url) = url.as_deref().filter(|url| !url.is_empty())
            && !address::is_uri(url)
        {
            found.fault(path, "must be an absolute URL");
        }
    }
    capabilities(&card.capabilities, found);
    for (path, modes) in [
        ("defaultInputModes", &card.default_input_modes),
        ("defaultOutputModes", &card.default_output_modes),
    ] {
        // A2A-DATA-21.
        if modes.is_empty() {
            found.fault(path, "at least one is required");
        }
        media_types(path, modes, found);
    }
    skills(&card.skills, found);
    signatures(&card.signatures, found);
}

fn provider(provider: &AgentProvider, found: &mut Findings) {
    found.required("provider.organization", &provider.organization);
    if found.required("provider.url", &provider.url) {
        address::web(found, "provider.url", &provider.url);
    }
}

fn capabilities(capabilities: &AgentCapabilities, found: &mut Findings) {
    let mut first_of = HashMap::new();
    for (index, extension) in capabilities.extensions.iter().enumerate() {
        let path = format!("capabilities.extensions[{index}].uri");
        let uri = &*extension.uri;
        if !found.required(&path, uri) {
            continue;
        }
        if !address::is_uri(uri) {
            found.fault(&path, "must be an absolute URI");
        } else if uri.contains(',') {
            // A2A-SVC-13: callers list them with commas between.
            found.fault(&path, "must not hold a comma: nobody can ask for it");
        }
        if let Some(first) = first_of.insert(uri, index) {
            found.fault(path, format!("is that of capabilities.extensions[{first}]"));
        }
    }
}

fn skills(skills: &[AgentSkill], found: &mut Findings) {
    let mut first_of = HashMap::new();
    for (index, skill) in skills.iter().enumerate() {
        let path = |member: &str| format!("skills[{index}].{member}");
        if found.required(&path("id"), &skill.id)
            && let Some(first) = first_of.insert(&*skill.id, index)
        {
            found.fault(path("id"), format!("is that of skills[{first}]"));
        }
        found.required(&path("name"), &skill.name);
        found.wanted(&path("description"), &skill.description);
        // A2A-DATA-21.
        if skill.tags.is_empty() {
            found.fault(path("tags"), "at least one is required");
        }
        for (tag, text) in skill.tags.iter().enumerate() {
            found.required(&path(&format!("tags[{tag}]")), text);
        }
        media_types(&path("inputModes"), &skill.input_modes, found);
        media_types(&path("outputModes"), &skill.output_modes, found);
    }
}

fn signatures(signatures: &[AgentCardSignature], found: &mut Findings) {
    for (index, signature) in signatures.iter().enumerate() {
        let path = |member: &str| format!("signatures[{index}].{member}");
        found.required(&path("protected"), &signature.protected);
        found.required(&path("signature"), &signature.signature);
    }
}

fn media_types(path: &str, modes: &[String], found: &mut Findings) {
    for (index, mode) in modes.iter().enumerate() {
        if !is_media_type(mode) {
            let path = format!("{path}[{index}]");
            found.fault(path, "must be a media type, such as text/plain");
        }
    }
}

/// With parameters or without, a range or not.
fn is_media_type(mode: &str) -> bool {
    let essence = mode.split(';').next().unwrap_or_default().trim();
    essence
        .split_once('/')
        .is_some_and(|(kind, sub)| is_token(kind) && is_token(sub))
}

/// RFC 9110, section 5.6.2.
pub(super) fn is_token(text: &str) -> bool {
    let is_of_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_of_token)
}
