use std::marker::PhantomData;

use portcullis::Json;
use serde::de::MapAccess;

use crate::model::{
    Part, PartContent,
    decode::{Bytes, Context, Field, Object, Plain, Read, Wire, read_object, read_slot},
    v0_3::part::{is_object, kind, unwrapped},
};

/// How a form writes parts.
pub(super) trait Parts: 'static {
    /// The members of a file: bytes, address, media type, name.
    const FILE: [Field; 4];

    /// Reads what a data part holds.
    fn read_data<'de, A: MapAccess<'de>>(
        cx: &mut Context,
        map: &mut A,
    ) -> Result<Option<Json>, A::Error>;
}

/// The parts of JSON-RPC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OfRpc {}

impl Parts for OfRpc {
    const FILE: [Field; 4] = [
        Field::new("bytes", "bytes"),
        Field::new("uri", "uri"),
        Field::new("mimeType", "mime_type"),
        Field::new("name", "name"),
    ];

    fn read_data<'de, A: MapAccess<'de>>(
        cx: &mut Context,
        map: &mut A,
    ) -> Result<Option<Json>, A::Error> {
        let mut data: Option<Json> = None;
        read_slot::<Plain, _, A>(cx, map, &mut data)?;
        Ok(data.filter(|data| is_data(cx, data)))
    }
}

/// The parts of HTTP+JSON.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum OfProto {}

impl Parts for OfProto {
    const FILE: [Field; 4] = [
        Field::new("fileWithBytes", "file_with_bytes"),
        Field::new("fileWithUri", "file_with_uri"),
        Field::new("mimeType", "mime_type"),
        Field::new("name", "name"),
    ];

    fn read_data<'de, A: MapAccess<'de>>(
        cx: &mut Context,
        map: &mut A,
    ) -> Result<Option<Json>, A::Error> {
        let mut part: Option<DataPart> = None;
        read_slot::<Plain, _, A>(cx, map, &mut part)?;
        let data = part.and_then(|part| part.data);
        Ok(data.filter(|data| cx.within("data", |cx| is_data(cx, data))))
    }
}

message! {
    /// What holds the data of a part.
    received DataPart {
        /// The data.
        data: Option<Json> = "data", required;
    }
}

fn is_data(cx: &mut Context, data: &Json) -> bool {
    let is_object = is_object(data);
    if !is_object {
        cx.violation("must be an object");
    }
    is_object
}

/// A part, in one of the forms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct OldPart<F> {
    pub(super) part: Part,
    form: PhantomData<F>,
}

pub(super) struct Draft {
    kind: String,
    content: Option<PartContent>,
    contents: usize,
    rest: Part,
}

impl Draft {
    fn set(&mut self, content: Option<PartContent>) {
        self.contents += 1;
        self.content = content;
    }
}

impl<F: Parts> Object for OldPart<F> {
    type Draft = Draft;

    const FIELDS: &'static [Field] = &[
        Field::new("kind", "kind"),
        Field::new("text", "text"),
        Field::new("file", "file"),
        Field::new("data", "data"),
        Field::new("metadata", "metadata"),
    ];

    fn draft() -> Draft {
        Draft {
            kind: String::new(),
            content: None,
            contents: 0,
            rest: Part::text(""),
        }
    }

    fn read_field<'de, A: MapAccess<'de>>(
        draft: &mut Draft,
        index: usize,
        cx: &mut Context,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        match index {
            0 => return read_slot::<Plain, _, A>(cx, map, &mut draft.kind),
            1 => {
                let mut text: Option<String> = None;
                if read_slot::<Plain, _, A>(cx, map, &mut text)? {
                    draft.set(text.map(PartContent::Text));
                }
            }
            2 => {
                let mut file: Option<File<F>> = None;
                if read_slot::<Plain, _, A>(cx, map, &mut file)? {
                    draft.set(None);
                    if let Some(File { part, .. }) = file {
                        draft.content = Some(part.content);
                        draft.rest.media_type = part.media_type;
                        draft.rest.filename = part.filename;
                    }
                }
            }
            3 => {
                let data = F::read_data(cx, map)?;
                draft.set(data.map(PartContent::Data));
            }
            _ => return read_slot::<Plain, _, A>(cx, map, &mut draft.rest.metadata),
        }
        Ok(true)
    }

    fn finish(draft: Draft, cx: &mut Context) -> Option<Self> {
        match draft.contents {
            0 => cx.violation("one of text, file, data is required"),
            1 => {
                // Without, it was noted what is wrong with it.
                let content = draft.content?;
                if !draft.kind.is_empty() && draft.kind != kind(&content) {
                    cx.within("kind", |cx| {
                        cx.violation("does not name what the part holds")
                    });
                    return None;
                }
                let mut part = Part {
                    content,
                    ..draft.rest
                };
                if let PartContent::Data(data) = part.content {
                    let (data, metadata) = unwrapped(data, part.metadata);
                    part.content = PartContent::Data(data);
                    part.metadata = metadata;
                }
                return Some(Self {
                    part,
                    form: PhantomData,
                });
            }
            _ => cx.violation("exactly one of text, file, data is allowed"),
        }
        None
    }
}

/// A file, in one of the forms.
struct File<F> {
    part: Part,
    form: PhantomData<F>,
}

impl<F: Parts> Object for File<F> {
    type Draft = (usize, Part);

    const FIELDS: &'static [Field] = &F::FILE;

    fn draft() -> Self::Draft {
        (0, Part::text(""))
    }

    fn read_field<'de, A: MapAccess<'de>>(
        (contents, part): &mut Self::Draft,
        index: usize,
        cx: &mut Context,
        map: &mut A,
    ) -> Result<bool, A::Error> {
        match index {
            0 => {
                let mut bytes: Option<Bytes> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut bytes)?;
                *contents += usize::from(given);
                if let Some(Bytes(bytes)) = bytes {
                    part.content = PartContent::Raw(bytes);
                }
                Ok(given)
            }
            1 => {
                let mut address: Option<String> = None;
                let given = read_slot::<Plain, _, A>(cx, map, &mut address)?;
                *contents += usize::from(given);
                if let Some(address) = address {
                    part.content = PartContent::Url(address);
                }
                Ok(given)
            }
            2 => read_slot::<Plain, _, A>(cx, map, &mut part.media_type),
            _ => read_slot::<Plain, _, A>(cx, map, &mut part.filename),
        }
    }

    fn finish((contents, part): Self::Draft, cx: &mut Context) -> Option<Self> {
        let [bytes, address, ..] = &F::FILE;
        match contents {
            0 => cx.violation(format!(
                "one of {}, {} is required",
                bytes.json, address.json
            )),
            1 => {
                return Some(Self {
                    part,
                    form: PhantomData,
                });
            }
            _ => cx.violation(format!(
                "exactly one of {}, {} is allowed",
                bytes.json, address.json
            )),
        }
        None
    }
}

impl<F: Parts> Wire for OldPart<F> {
    fn read<'de, D: serde::Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        read_object(cx, deserializer)
    }
}

impl<F: Parts> Wire for File<F> {
    fn read<'de, D: serde::Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        read_object(cx, deserializer)
    }
}
