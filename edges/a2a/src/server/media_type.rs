use crate::model::{AgentCard, Error, ErrorKind, Message, Part, PartContent};

/// Refuses a part that the agent cannot read (A2A-OP-39).
pub(super) fn check_parts(card: &AgentCard, message: &Message) -> Result<(), Error> {
    for (index, part) in message.parts.iter().enumerate() {
        let Some(media_type) = type_of(part) else {
            continue;
        };
        if !input_modes(card).any(|mode| matches(mode, media_type)) {
            return Err(Error::new(ErrorKind::ContentTypeNotSupported)
                .with("mediaType", media_type)
                .with("field", format!("message.parts[{index}]")));
        }
    }
    Ok(())
}

/// Refuses a caller that can read nothing of what the agent writes (A2A-OP-38).
pub(super) fn check_output(card: &AgentCard, accepted: &[String]) -> Result<(), Error> {
    let fits = |mode: &str| output_modes(card).any(|written| matches(mode, written));
    if accepted.is_empty() || accepted.iter().any(|mode| fits(mode)) {
        return Ok(());
    }
    Err(Error::new(ErrorKind::ContentTypeNotSupported)
        .with("mediaType", accepted.join(","))
        .with("field", "configuration.acceptedOutputModes"))
}

/// What has to fit; text and data that name no type always do.
fn type_of(part: &Part) -> Option<&str> {
    match part.content {
        _ if !part.media_type.is_empty() => Some(&part.media_type),
        PartContent::Raw(_) | PartContent::Url(_) => Some("application/octet-stream"),
        PartContent::Text(_) | PartContent::Data(_) => None,
    }
}

fn input_modes(card: &AgentCard) -> impl Iterator<Item = &str> {
    let of_skills = card.skills.iter().flat_map(|skill| &skill.input_modes);
    card.default_input_modes
        .iter()
        .chain(of_skills)
        .map(String::as_str)
}

fn output_modes(card: &AgentCard) -> impl Iterator<Item = &str> {
    let of_skills = card.skills.iter().flat_map(|skill| &skill.output_modes);
    card.default_output_modes
        .iter()
        .chain(of_skills)
        .map(String::as_str)
}

/// Whether a mode, which may be `text/*`, `text` or `*/*`, covers a media type. Parameters
/// and case do not matter.
fn matches(mode: &str, media_type: &str) -> bool {
    let (mode, sub_mode) = split(mode);
    let (kind, sub_kind) = split(media_type);
    (mode == "*" || mode.eq_ignore_ascii_case(kind))
        && (sub_mode == "*" || sub_kind == "*" || sub_mode.eq_ignore_ascii_case(sub_kind))
}

fn split(mode: &str) -> (&str, &str) {
    let essence = mode.split(';').next().unwrap_or_default().trim();
    essence.split_once('/').unwrap_or((essence, "*"))
}
