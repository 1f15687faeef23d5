use std::collections::BTreeMap;

use crate::model::{Error, Invalid};

/// What is written in the JSON of the protocol.
pub(crate) trait Text {
    fn write(&self, to: &mut Writer);

    /// Whether there is nothing to write.
    fn is_absent(&self) -> bool {
        false
    }
}

/// A message in the JSON of the protocol.
///
/// # Errors
/// A number of a free-form value is none that JSON has.
pub(crate) fn json(message: &impl Text) -> Result<String, Error> {
    let mut to = Writer {
        text: Vec::with_capacity(512),
        finite: true,
    };
    message.write(&mut to);
    if !to.finite {
        return Err(Invalid::one("", "a number must be finite").into());
    }
    Ok(String::from_utf8(to.text).expect("made of strings"))
}

/// JSON text that is being made.
pub(crate) struct Writer {
    text: Vec<u8>,
    finite: bool,
}

impl Writer {
    pub(super) fn raw(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    pub(super) fn string(&mut self, text: &str) {
        serde_json::to_writer(&mut self.text, text).expect("a string always encodes");
    }

    pub(super) fn number(&mut self, number: f64) {
        /// The whole numbers up to here are exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;

        if !number.is_finite() {
            self.finite = false;
            self.raw("null");
        } else if number.fract() == 0.0 && number.abs() < EXACT {
            #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
            let whole = number as i64;
            self.raw(&whole.to_string());
        } else {
            serde_json::to_writer(&mut self.text, &number).expect("a finite number encodes");
        }
    }

    pub(super) fn object(&mut self, write: impl FnOnce(&mut Members<'_>)) {
        self.raw("{");
        write(&mut Members {
            to: self,
            first: true,
        });
        self.raw("}");
    }

    pub(super) fn list<T>(&mut self, items: &[T], mut write: impl FnMut(&mut Self, &T)) {
        self.raw("[");
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.raw(",");
            }
            write(self, item);
        }
        self.raw("]");
    }
}

/// The members of an object that is being made.
pub(crate) struct Members<'a> {
    to: &'a mut Writer,
    first: bool,
}

impl Members<'_> {
    pub(super) fn member(&mut self, name: &str, value: &impl Text) {
        if !value.is_absent() {
            self.name(name);
            value.write(self.to);
        }
    }

    /// The name of a member; its value has to follow.
    pub(super) fn name(&mut self, name: &str) -> &mut Writer {
        if !std::mem::take(&mut self.first) {
            self.to.raw(",");
        }
        self.to.string(name);
        self.to.raw(":");
        self.to
    }
}

impl Text for String {
    fn write(&self, to: &mut Writer) {
        to.string(self);
    }
}

impl Text for bool {
    fn write(&self, to: &mut Writer) {
        to.raw(if *self { "true" } else { "false" });
    }
}

/// Numbers, and enumerations, which have numbers in JSON too (A2A-DATA-4).
impl Text for i32 {
    fn write(&self, to: &mut Writer) {
        to.raw(&self.to_string());
    }
}

impl<T: Text> Text for Option<T> {
    fn write(&self, to: &mut Writer) {
        match self {
            Some(value) => value.write(to),
            None => to.raw("null"),
        }
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl<T: Text> Text for Vec<T> {
    fn write(&self, to: &mut Writer) {
        to.list(self, |to, item| item.write(to));
    }

    fn is_absent(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Text> Text for BTreeMap<String, T> {
    fn write(&self, to: &mut Writer) {
        to.object(|members| {
            for (name, value) in self {
                value.write(members.name(name));
            }
        });
    }
}

/// A time that is none is told by whoever reads it.
impl Text for prost_types::Timestamp {
    fn write(&self, to: &mut Writer) {
        to.string(&self.to_string());
    }
}

/// Nothing, as `google.protobuf.Empty` is.
impl Text for () {
    fn write(&self, to: &mut Writer) {
        to.raw("{}");
    }
}
