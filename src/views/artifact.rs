use super::{field::Field, view::serde_of_view};
use crate::{
    ExtensionView,
    json::{DecodeError, Extra, ExtraMut, Json, Members, Writer},
};

/// `artifact`: a thing that the turn makes beside its text, whole or piece by piece.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// Tells the artifacts of a turn apart; the pieces of one share it.
    pub id: String,
    /// The thing, or a piece of it.
    pub content: ArtifactContent,
    /// A name for people, such as a file name.
    pub name: Option<String>,
    /// The media type.
    pub mime_type: Option<String>,
    /// Whether the content comes after what the artifact has already. Absent is false.
    pub append: Option<bool>,
    /// Whether nothing of the artifact follows.
    pub last: Option<bool>,
    extra: Extra,
}

/// What an artifact consists of: exactly one of four members.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArtifactContent {
    /// `text`.
    Text(String),
    /// `raw`: bytes in base64.
    Raw(String),
    /// `url`: where the content is.
    Url(String),
    /// `data`: any JSON value.
    Data(Json),
}

const KNOWN: &[&str] = &[
    "type", "id", "text", "raw", "url", "data", "name", "mimeType", "append", "last",
];

impl Artifact {
    /// A whole artifact.
    #[must_use]
    pub fn new(id: impl Into<String>, content: ArtifactContent) -> Self {
        Self {
            id: id.into(),
            content,
            name: None,
            mime_type: None,
            append: None,
            last: None,
            extra: Extra::new(),
        }
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, KNOWN)
    }

    fn read(text: &str) -> Result<Self, DecodeError> {
        let (mut id, mut content, mut name, mut mime_type) = (None, None, None, None);
        let (mut append, mut last, mut extra) = (None, None, Extra::new());
        for member in Members::read(text)?.iter() {
            let one = match &*member.name() {
                b"text" => ArtifactContent::Text(Field::read(member)?),
                b"raw" => ArtifactContent::Raw(Field::read(member)?),
                b"url" => ArtifactContent::Url(Field::read(member)?),
                b"data" => ArtifactContent::Data(member.json()),
                other => {
                    match other {
                        b"type" => {}
                        b"id" => id = Some(Field::read(member)?),
                        b"name" => name = Some(Field::read(member)?),
                        b"mimeType" => mime_type = Some(Field::read(member)?),
                        b"append" => append = Some(member.bool()?),
                        b"last" => last = Some(member.bool()?),
                        _ => extra.push(member),
                    }
                    continue;
                }
            };
            // O-W04: two kinds of content at once are no kind.
            if content.replace(one).is_some() {
                return Err(member.unfit("one of `text`, `raw`, `url`, `data`", "another one"));
            }
        }
        Ok(Self {
            id: id.ok_or_else(|| DecodeError::missing("id"))?,
            content: content.ok_or_else(|| {
                DecodeError::new("one of `text`, `raw`, `url`, `data`", "none of them")
            })?,
            name,
            mime_type,
            append,
            last,
            extra,
        })
    }

    fn write(&self, mut members: Writer<'_, String>) {
        members.string("id", &self.id);
        match &self.content {
            ArtifactContent::Text(text) => members.string("text", text),
            ArtifactContent::Raw(base64) => members.string("raw", base64),
            ArtifactContent::Url(url) => members.string("url", url),
            ArtifactContent::Data(data) => members.raw("data", data.as_str()),
        }
        if let Some(name) = &self.name {
            members.string("name", name);
        }
        if let Some(mime_type) = &self.mime_type {
            members.string("mimeType", mime_type);
        }
        if let Some(append) = self.append {
            members.bool("append", append);
        }
        if let Some(last) = self.last {
            members.bool("last", last);
        }
        members.end(&self.extra);
    }
}

impl ExtensionView for Artifact {
    const TYPE: &'static str = "artifact";
}

serde_of_view!(Artifact);
