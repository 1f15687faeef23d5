use base64::{Engine, display::Base64Display, engine::general_purpose::STANDARD};
use portcullis::Json;
use serde::{Serialize, Serializer, de::MapAccess, ser::SerializeMap};

use super::{
    Metadata,
    decode::{self, Bytes, Context, Field, Member, Object, Plain, read_slot},
};

/// A piece of a message or an artifact: exactly one content.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Part {
    /// What it holds.
    pub content: PartContent,
    /// Data of extensions.
    pub metadata: Metadata,
    /// The name of the file, if it is one.
    pub filename: String,
    /// The media type of the content.
    pub media_type: String,
}

/// What a part holds.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum PartContent {
    /// Text.
    Text(String),
    /// The bytes of a file; base64 in JSON.
    Raw(Vec<u8>),
    /// Where a file is. Never fetched by this crate (A2A-SEC-19).
    Url(String),
    /// Any JSON value, null too.
    Data(Json),
}

impl Part {
    /// A part with this content.
    #[must_use]
    pub const fn new(content: PartContent) -> Self {
        Self {
            content,
            metadata: Metadata::new(),
            filename: String::new(),
            media_type: String::new(),
        }
    }

    /// Text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self::new(PartContent::Text(text.into()))
    }

    /// The bytes of a file.
    #[must_use]
    pub fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self::new(PartContent::Raw(bytes.into()))
    }

    /// Where a file is.
    #[must_use]
    pub fn url(url: impl Into<String>) -> Self {
        Self::new(PartContent::Url(url.into()))
    }

    /// Any JSON value.
    #[must_use]
    pub const fn data(data: Json) -> Self {
        Self::new(PartContent::Data(data))
    }

    /// With a media type.
    #[must_use]
    pub fn with_media_type(mut self, media_type: impl Into<String>) -> Self {
        self.media_type = media_type.into();
        self
    }

    /// With the name of the file.
    #[must_use]
    pub fn with_filename(mut self, filename: impl Into<String>) -> Self {
        self.filename = filename.into();
        self
    }

    /// The text, if it is text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.content {
            PartContent::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The text, if it is nothing but text: no name, no type, no metadata.
    #[must_use]
    pub fn as_plain_text(&self) -> Option<&str> {
        let bare =
            self.metadata.is_empty() && self.filename.is_empty() && self.media_type.is_empty();
        self.as_text().filter(|_| bare)
    }

    /// The JSON value, if it is one.
    #[must_use]
    pub const fn as_data(&self) -> Option<&Json> {
        match &self.content {
            PartContent::Data(data) => Some(data),
            _ => None,
        }
    }

    /// Base64 of bytes as [`Raw`](PartContent::Raw) has them.
    #[must_use]
    pub fn encode_base64(bytes: &[u8]) -> String {
        STANDARD.encode(bytes)
    }

    /// The bytes of base64: either alphabet, with or without padding.
    #[must_use]
    pub fn decode_base64(base64: &str) -> Option<Vec<u8>> {
        decode::decode_base64(base64)
    }
}

pub(crate) struct PartDraft {
    content: Option<PartContent>,
    contents: usize,
    rest: Part,
}

impl PartDraft {
    fn set(&mut self, given: bool, content: Option<PartContent>) -> bool {
        self.contents += usize::from(given);
        if content.is_some() {
            self.content = content;
        }
        given
    }
}

impl Object for Part {
    type Draft = PartDraft;

    const FIELDS: &'static [Field] = &[
        Field::new("text", "text"),
        Field::new("raw", "raw"),
        Field::new("url", "url"),
        Field::new("data", "data"),
        Field::new("metadata", "metadata"),
        Field::new("filename", "filename"),
        Field::new("mediaType", "media_type"),
    ];

    fn draft() -> PartDraft {
        PartDraft {
            content: None,
            contents: 0,
            rest: Self::text(""),
        }
    }

    fn read_field<'de, A: MapAccess<'de>>(
        draft: &mut PartDraft,
        index: usize,
        cx: &mut Context,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        // `Option`, so that an empty text or a JSON null is a content (A2A-DATA-14, -15).
        match index {
            0 => {
                let mut text: Option<String> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut text)?;
                Ok(draft.set(given, text.map(PartContent::Text)))
            }
            1 => {
                let mut raw: Option<Bytes> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut raw)?;
                Ok(draft.set(given, raw.map(|Bytes(raw)| PartContent::Raw(raw))))
            }
            2 => {
                let mut url: Option<String> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut url)?;
                Ok(draft.set(given, url.map(PartContent::Url)))
            }
            3 => {
                let mut data: Option<Json> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut data)?;
                Ok(draft.set(given, data.map(PartContent::Data)))
            }
            4 => read_slot::<Plain, _, A>(cx, map, &mut draft.rest.metadata),
            5 => read_slot::<Plain, _, A>(cx, map, &mut draft.rest.filename),
            _ => read_slot::<Plain, _, A>(cx, map, &mut draft.rest.media_type),
        }
    }

    fn finish(draft: PartDraft, cx: &mut Context) -> Option<Self> {
        match draft.contents {
            0 => cx.violation("one of text, raw, url, data is required"),
            1 => {
                return draft.content.map(|content| Self {
                    content,
                    ..draft.rest
                });
            }
            _ => cx.violation("exactly one of text, raw, url, data is allowed"),
        }
        None
    }
}

message!(@wire Part);

impl Serialize for Part {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        match &self.content {
            PartContent::Text(text) => object.serialize_entry("text", text)?,
            PartContent::Raw(bytes) => object.serialize_entry("raw", &Base64(bytes))?,
            PartContent::Url(url) => object.serialize_entry("url", url)?,
            PartContent::Data(data) => object.serialize_entry("data", data)?,
        }
        if !self.metadata.is_unset() {
            object.serialize_entry("metadata", &self.metadata)?;
        }
        if !self.filename.is_empty() {
            object.serialize_entry("filename", &self.filename)?;
        }
        if !self.media_type.is_empty() {
            object.serialize_entry("mediaType", &self.media_type)?;
        }
        object.end()
    }
}

struct Base64<'a>(&'a [u8]);

impl Serialize for Base64<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&Base64Display::new(self.0, &STANDARD))
    }
}
