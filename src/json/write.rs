use std::fmt::Write as _;

use super::{Extra, string::plain_run};

/// Where JSON text is written to.
pub(crate) trait Sink {
    fn push_str(&mut self, text: &str);
}

impl Sink for String {
    fn push_str(&mut self, text: &str) {
        Self::push_str(self, text);
    }
}

impl Sink for Vec<u8> {
    fn push_str(&mut self, text: &str) {
        self.extend_from_slice(text.as_bytes());
    }
}

/// Writes the members of one object.
pub(crate) struct Writer<'a, O> {
    out: &'a mut O,
    /// What comes before the next member.
    before: &'static str,
}

impl<'a, O: Sink> Writer<'a, O> {
    /// Begins an object.
    pub(crate) const fn new(out: &'a mut O) -> Self {
        Self { out, before: "{" }
    }

    /// Begins an event.
    pub(crate) fn event(out: &'a mut O, type_name: &'static str) -> Self {
        out.push_str("{\"type\":\"");
        out.push_str(type_name);
        Self { out, before: "\"," }
    }

    /// Writes the type of an event whose name is not known when compiling, and leaves the
    /// object open.
    pub(crate) fn type_name(mut self, type_name: &str) {
        self.string("type", type_name);
    }

    fn name(&mut self, name: &'static str) {
        self.out.push_str(self.before);
        self.out.push_str("\"");
        self.out.push_str(name);
        self.out.push_str("\":");
        self.before = ",";
    }

    pub(crate) fn string(&mut self, name: &'static str, value: &str) {
        self.name(name);
        push_string(self.out, value);
    }

    pub(crate) fn raw(&mut self, name: &'static str, json: &str) {
        self.name(name);
        self.out.push_str(json);
    }

    pub(crate) fn bool(&mut self, name: &'static str, value: bool) {
        self.raw(name, if value { "true" } else { "false" });
    }

    pub(crate) fn u64(&mut self, name: &'static str, value: u64) {
        let mut digits = String::new();
        write!(digits, "{value}").expect("a string takes what is written");
        self.raw(name, &digits);
    }

    /// Writes a member by hand.
    pub(crate) fn with(&mut self, name: &'static str, write: impl FnOnce(&mut O)) {
        self.name(name);
        write(self.out);
    }

    /// Writes the unknown members and ends the object.
    pub(crate) fn end(self, extra: &Extra) {
        if let Some(members) = extra.members() {
            self.out.push_str(self.before);
            self.out.push_str(members);
            self.out.push_str("}");
        } else {
            self.out.push_str(match self.before {
                "{" => "{}",
                "\"," => "\"}",
                _ => "}",
            });
        }
    }
}

/// Writes a string with its quotes. Only what JSON demands is escaped.
pub(super) fn push_string(out: &mut impl Sink, text: &str) {
    out.push_str("\"");
    let mut rest = text;
    loop {
        let (run, tail) = rest.split_at(plain_run(rest.as_bytes()));
        out.push_str(run);
        let Some(&byte) = tail.as_bytes().first() else {
            break;
        };
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0C => out.push_str("\\f"),
            _ => {
                let mut escape = String::new();
                write!(escape, "\\u{byte:04x}").expect("a string takes what is written");
                out.push_str(&escape);
            }
        }
        rest = &tail[1..];
    }
    out.push_str("\"");
}
