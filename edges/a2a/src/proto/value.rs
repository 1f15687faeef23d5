//! Free-form values: JSON text in the model, `google.protobuf.Value` in messages.

use portcullis::Json;
use prost_types::{ListValue, Struct, Value, value::Kind};

use super::{
    Proto,
    text::{Text, Writer},
};
use crate::{
    agent_events::keeps_text,
    model::{Metadata, string_of},
};

impl Proto<Struct> for Metadata {
    fn proto(self) -> Struct {
        Struct {
            fields: self
                .iter()
                .map(|(name, value)| {
                    let value = if keeps_text(name) {
                        let kind = Some(Kind::StringValue(text_of(value)));
                        Value { kind }
                    } else {
                        of_json(value)
                    };
                    (name.to_owned(), value)
                })
                .collect(),
        }
    }
}

/// Empty is absent (O-W10).
impl Proto<Option<Struct>> for Metadata {
    fn proto(self) -> Option<Struct> {
        (!self.is_empty()).then(|| self.proto())
    }
}

/// What has to keep its text is a string; if it is one already, that.
fn text_of(json: &Json) -> String {
    string_of(json.as_str()).unwrap_or_else(|| json.as_str().to_owned())
}

pub(super) fn of_json(json: &Json) -> Value {
    Reader {
        text: json.as_str(),
        at: 0,
    }
    .value()
}

/// Reads JSON that is known to be JSON, and to nest at most 144 deep. By hand, since the switches of `serde_json` that an
/// application turns on change what a number is there, and it refuses `1e999`.
struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn value(&mut self) -> Value {
        let kind = match self.peek() {
            b'{' => {
                let mut fields = std::collections::BTreeMap::new();
                self.each(b'}', |this| {
                    let name = this.string();
                    this.peek();
                    this.at += 1;
                    let value = this.value();
                    fields.insert(name, value);
                });
                Kind::StructValue(Struct { fields })
            }
            b'[' => {
                let mut values = Vec::new();
                self.each(b']', |this| values.push(this.value()));
                Kind::ListValue(ListValue { values })
            }
            b'"' => Kind::StringValue(self.string()),
            _ => self.scalar(),
        };
        Value { kind: Some(kind) }
    }

    /// The items up to the bracket that closes.
    fn each(&mut self, close: u8, mut item: impl FnMut(&mut Self)) {
        self.at += 1;
        loop {
            match self.peek() {
                b',' => self.at += 1,
                byte if byte == close => {
                    self.at += 1;
                    return;
                }
                _ => item(self),
            }
        }
    }

    /// The next byte that is no space.
    fn peek(&mut self) -> u8 {
        let bytes = self.text.as_bytes();
        while matches!(bytes[self.at], b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        bytes[self.at]
    }

    fn string(&mut self) -> String {
        self.peek();
        let start = self.at;
        let bytes = self.text.as_bytes();
        self.at += 1;
        while bytes[self.at] != b'"' {
            self.at += if bytes[self.at] == b'\\' { 2 } else { 1 };
        }
        self.at += 1;
        string_of(&self.text[start..self.at]).expect("JSON has no other escapes")
    }

    fn scalar(&mut self) -> Kind {
        let rest: &'a str = &self.text[self.at..];
        let end = rest
            .find(|c: char| !c.is_ascii_alphanumeric() && !matches!(c, '+' | '-' | '.'))
            .unwrap_or(rest.len());
        self.at += end;
        match &rest[..end] {
            "null" => Kind::NullValue(0),
            "true" => Kind::BoolValue(true),
            "false" => Kind::BoolValue(false),
            number => {
                let number: f64 = number.parse().expect("JSON has no other scalar");
                Kind::NumberValue(number.clamp(f64::MIN, f64::MAX))
            }
        }
    }
}

impl Text for Struct {
    fn write(&self, to: &mut Writer) {
        to.object(|members| {
            for (name, value) in &self.fields {
                value.write(members.name(name));
            }
        });
    }
}

impl Text for Value {
    fn write(&self, to: &mut Writer) {
        match &self.kind {
            None | Some(Kind::NullValue(_)) => to.raw("null"),
            Some(Kind::NumberValue(number)) => to.number(*number),
            Some(Kind::StringValue(text)) => to.string(text),
            Some(Kind::BoolValue(flag)) => flag.write(to),
            Some(Kind::StructValue(object)) => object.write(to),
            Some(Kind::ListValue(list)) => to.list(&list.values, |to, value| value.write(to)),
        }
    }
}
