use portcullis::{ImageRef, Prompt};

use super::events_extension::prompt_members;
use crate::model::{Message, Part, PartContent};

/// What an agent is asked (A2A-MAP-2): text and data in the order of the parts, pictures
/// as pictures. Other files stay in the message, which the scope carries.
pub(crate) fn prompt_of(message: &Message) -> Prompt {
    let texts: Vec<&str> = message.parts.iter().filter_map(text_of).collect();
    let mut prompt = Prompt::text(texts.join("\n"));
    for part in &message.parts {
        if let PartContent::Raw(bytes) = &part.content
            && part.media_type.to_ascii_lowercase().starts_with("image/")
        {
            let image = ImageRef::new(&part.media_type, Part::encode_base64(bytes));
            prompt = prompt.with_image(image);
        }
    }
    for (name, value) in prompt_members(&message.metadata) {
        // Text and images are parts.
        let _known = prompt.extra_mut().insert(&name, &value);
    }
    prompt
}

fn text_of(part: &Part) -> Option<&str> {
    match &part.content {
        PartContent::Text(text) => Some(text),
        PartContent::Data(data) => Some(data.as_str()),
        PartContent::Raw(bytes) if is_text(&part.media_type) => str::from_utf8(bytes).ok(),
        PartContent::Raw(_) | PartContent::Url(_) => None,
    }
}

fn is_text(media_type: &str) -> bool {
    let media_type = media_type.to_ascii_lowercase();
    media_type.starts_with("text/") || media_type.starts_with("application/json")
}
