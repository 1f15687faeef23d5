use portcullis::Json;
use serde::{Serialize, Serializer, ser::SerializeMap};

use super::{Form, Written};
use crate::model::{Metadata, Part, PartContent};

impl Serialize for Written<'_, Part> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let part = self.value;
        let mut object = serializer.serialize_map(None)?;
        if self.form == Form::JsonRpc {
            object.serialize_entry("kind", kind(&part.content))?;
        }
        let mut marked = false;
        match &part.content {
            PartContent::Text(text) => object.serialize_entry("text", text)?,
            PartContent::Raw(_) | PartContent::Url(_) => {
                object.serialize_entry("file", &self.form.write(&File(part)))?;
            }
            PartContent::Data(data) => {
                marked = !is_object(data);
                let data = OfData(data);
                match self.form {
                    Form::JsonRpc => object.serialize_entry("data", &data)?,
                    Form::Proto => object.serialize_entry("data", &Member("data", data))?,
                }
            }
        }
        if marked {
            let metadata = part.metadata.clone().with(WRAPPED, json_true());
            object.serialize_entry("metadata", &metadata)?;
        } else if !part.metadata.is_empty() {
            object.serialize_entry("metadata", &part.metadata)?;
        }
        object.end()
    }
}

/// What a part calls its content.
pub(super) const fn kind(content: &PartContent) -> &'static str {
    match content {
        PartContent::Text(_) => "text",
        PartContent::Raw(_) | PartContent::Url(_) => "file",
        PartContent::Data(_) => "data",
    }
}

/// The content of a part that is a file.
struct File<'a>(&'a Part);

impl Serialize for Written<'_, File<'_>> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let File(part) = self.value;
        let mut file = serializer.serialize_map(None)?;
        match &part.content {
            PartContent::Raw(bytes) => {
                let name = match self.form {
                    Form::JsonRpc => "bytes",
                    Form::Proto => "fileWithBytes",
                };
                file.serialize_entry(name, &Part::encode_base64(bytes))?;
            }
            PartContent::Url(url) => {
                let name = match self.form {
                    Form::JsonRpc => "uri",
                    Form::Proto => "fileWithUri",
                };
                file.serialize_entry(name, url)?;
            }
            PartContent::Text(_) | PartContent::Data(_) => unreachable!("a file, as chosen above"),
        }
        if !part.media_type.is_empty() {
            file.serialize_entry("mimeType", &part.media_type)?;
        }
        if !part.filename.is_empty() {
            file.serialize_entry("name", &part.filename)?;
        }
        file.end()
    }
}

/// Data, which is an object there: what is none becomes the only member of one (A2A-COMPAT-5).
struct OfData<'a>(&'a Json);

impl Serialize for OfData<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(data) = self;
        if is_object(data) {
            data.serialize(serializer)
        } else {
            Member(VALUE, data).serialize(serializer)
        }
    }
}

/// An object with one member.
struct Member<T>(&'static str, T);

impl<T: Serialize> Serialize for Member<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map([(self.0, &self.1)])
    }
}

/// Takes data out of its wrapping, if it is marked as wrapped.
pub(super) fn unwrapped(data: Json, metadata: Metadata) -> (Json, Metadata) {
    if metadata.get(WRAPPED).map(Json::as_str) != Some("true") {
        return (data, metadata);
    }
    let Some(value) = data
        .decode::<Metadata>()
        .ok()
        .and_then(|members| members.get(VALUE).cloned())
    else {
        return (data, metadata);
    };
    let rest = metadata
        .iter()
        .filter(|(name, _)| *name != WRAPPED)
        .map(|(name, value)| (name, value.clone()))
        .collect();
    (value, rest)
}

pub(super) fn is_object(data: &Json) -> bool {
    data.as_str().trim_start().starts_with('{')
}

fn json_true() -> Json {
    Json::from_text("true").expect("it is JSON")
}

/// The member of metadata that marks wrapped data, as the official SDK for Python calls it.
const WRAPPED: &str = "data_part_compat";
/// The member that wrapped data is.
const VALUE: &str = "value";
