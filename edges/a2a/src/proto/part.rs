use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    Proto, a2a,
    a2a::part::Content,
    text::{Text, Writer},
    value,
};
use crate::model::{Part, PartContent};

impl Proto<a2a::Part> for Part {
    fn proto(self) -> a2a::Part {
        a2a::Part {
            content: Some(match self.content {
                PartContent::Text(text) => Content::Text(text),
                PartContent::Raw(bytes) => Content::Raw(bytes),
                PartContent::Url(url) => Content::Url(url),
                PartContent::Data(data) => Content::Data(value::of_json(&data)),
            }),
            metadata: self.metadata.proto(),
            filename: self.filename,
            media_type: self.media_type,
        }
    }
}

impl Text for a2a::Part {
    fn write(&self, to: &mut Writer) {
        to.object(|members| {
            match &self.content {
                Some(Content::Text(text)) => members.member("text", text),
                Some(Content::Raw(bytes)) => members.member("raw", &STANDARD.encode(bytes)),
                Some(Content::Url(url)) => members.member("url", url),
                Some(Content::Data(data)) => members.member("data", data),
                // Whoever reads it says that something is missing.
                None => {}
            }
            members.member("metadata", &self.metadata);
            members.member("filename", &self.filename);
            members.member("media_type", &self.media_type);
        });
    }
}
