use std::sync::Arc;

use super::{ImageRef, Inner, Prompt};
use crate::json::{DecodeError, Extra, Members, Sink, Writer, nests};

impl Prompt {
    /// Reads a prompt. Members that are not known are kept, in the images too.
    ///
    /// Nothing here bounds the number or the size of images: an edge bounds what it
    /// reads.
    ///
    /// # Errors
    /// When the text is not one JSON object with a string `text` and, if there is one, an array
    /// `images`; when a member name occurs twice in the prompt or in an image; when it nests
    /// deeper than 128.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        decode(text).map_err(|error| error.within("prompt"))
    }

    /// Writes the prompt on one line.
    pub fn write_json(&self, out: &mut Vec<u8>) {
        encode(self, out);
    }

    /// The prompt on one line.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut out = String::new();
        encode(self, &mut out);
        out
    }
}

nests!(Prompt);

fn decode(json: &str) -> Result<Prompt, DecodeError> {
    let (mut text, mut images, mut extra) = (None, None, Extra::new());
    for member in Members::read(json)?.iter() {
        match &*member.name() {
            b"text" => text = Some(member.string()?.into_owned()),
            b"images" => {
                let elements = member.array()?.into_iter();
                images = Some(
                    elements
                        .map(|element| image(&element.object()?))
                        .collect::<Result<_, _>>()
                        .map_err(|error| error.within("image of a prompt"))?,
                );
            }
            _ => extra.push(member),
        }
    }
    Ok(Prompt(Arc::new(Inner {
        text: text.ok_or_else(|| DecodeError::missing("text"))?,
        images: images.unwrap_or_default(),
        extra,
    })))
}

fn image(members: &Members<'_>) -> Result<ImageRef, DecodeError> {
    let (mut mime_type, mut data, mut extra) = (None, None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"mimeType" => mime_type = Some(member.string()?.into_owned()),
            b"data" => data = Some(member.string()?.into_owned()),
            _ => extra.push(member),
        }
    }
    Ok(ImageRef {
        mime_type: mime_type.ok_or_else(|| DecodeError::missing("mimeType"))?,
        data: data.ok_or_else(|| DecodeError::missing("data"))?,
        extra,
    })
}

fn encode(prompt: &Prompt, out: &mut impl Sink) {
    let mut members = Writer::new(out);
    members.string("text", &prompt.0.text);
    if !prompt.0.images.is_empty() {
        members.with("images", |out| {
            let mut before = "[";
            for image in &prompt.0.images {
                out.push_str(before);
                let mut members = Writer::new(out);
                members.string("mimeType", &image.mime_type);
                members.string("data", &image.data);
                members.end(&image.extra);
                before = ",";
            }
            out.push_str("]");
        });
    }
    members.end(&prompt.0.extra);
}
