use std::fmt::{Display, Write};

use portcullis_a2a::model::{AgentCard, AgentSkill, SecurityRequirement};

use crate::plain::push_plain;

/// What the card says, a line each.
pub(super) fn whole(card: &AgentCard, key_id: Option<&str>) -> String {
    let mut lines = vec![
        format!("{} {}", card.name, card.version),
        card.description.clone(),
    ];
    if let Some(provider) = &card.provider {
        lines.push(format!("by {}, {}", provider.organization, provider.url));
    }
    for interface in &card.supported_interfaces {
        let tenant = match &*interface.tenant {
            "" => String::new(),
            tenant => format!(", tenant {tenant}"),
        };
        lines.push(format!(
            "at {} ({} {}{tenant})",
            interface.url, interface.protocol_binding, interface.protocol_version
        ));
    }
    lines.push(format!("does {}", capabilities(card)));
    for extension in card.extensions() {
        let required = if extension.required { ", required" } else { "" };
        lines.push(format!("extension {}{required}", extension.uri));
    }
    lines.push(format!(
        "reads {}; writes {}",
        card.default_input_modes.join(", "),
        card.default_output_modes.join(", ")
    ));
    lines.extend(card.skills.iter().map(skill));
    lines.push(who(&card.security_requirements));
    lines.push(match (key_id, card.signatures.len()) {
        (Some(key_id), _) => format!("signed by {key_id}, which is trusted"),
        (None, 0) => "not signed".to_owned(),
        (None, count) => format!("signatures: {count}, not verified"),
    });
    let lines: Vec<_> = lines
        .iter()
        .filter(|line| !line.is_empty())
        .map(|text| line(text))
        .collect();
    lines.join("\n")
}

/// As one line, whatever is in it.
pub(super) fn line(text: &str) -> String {
    let mut shown = String::new();
    push_plain(&mut shown, text);
    shown
}

fn capabilities(card: &AgentCard) -> String {
    let capabilities = &card.capabilities;
    let all = [
        ("streaming", capabilities.streaming),
        ("webhooks", capabilities.push_notifications),
        ("an extended card", capabilities.extended_agent_card),
    ];
    let those: Vec<_> = all
        .iter()
        .filter(|(_, there)| *there == Some(true))
        .map(|(name, _)| *name)
        .collect();
    if those.is_empty() {
        "nothing optional".to_owned()
    } else {
        those.join(", ")
    }
}

fn skill(skill: &AgentSkill) -> String {
    let mut text = format!("skill {}: {}", skill.id, skill.name);
    if skill.description != skill.name {
        let _ = write!(text, ". {}", skill.description);
    }
    if let Some(example) = skill.examples.first() {
        let _ = write!(text, " For instance: {example}");
    }
    text
}

/// Whom the agent lets in.
fn who(alternatives: &[SecurityRequirement]) -> String {
    let schemes = |requirement: &SecurityRequirement| {
        let all = requirement.schemes.iter().map(|(name, scopes)| {
            if scopes.list.is_empty() {
                name.clone()
            } else {
                format!("{name} ({})", scopes.list.join(", "))
            }
        });
        joined(all, " and ")
    };
    if alternatives.is_empty() || alternatives.iter().any(|it| it.schemes.is_empty()) {
        "lets everybody in".to_owned()
    } else {
        format!(
            "lets in who has {}",
            joined(alternatives.iter().map(schemes), ", or ")
        )
    }
}

fn joined<T: Display>(items: impl Iterator<Item = T>, between: &str) -> String {
    let items: Vec<_> = items.map(|item| item.to_string()).collect();
    items.join(between)
}
