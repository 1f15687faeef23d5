use std::{borrow::Cow, error::Error, fmt, iter};

use super::{
    Json, Member,
    cursor::Cursor,
    line::push_line,
    string::{unescape, unescape_name},
    write::push_string,
};

/// Members that this version does not know, verbatim and in order.
///
/// They are read here and edited through the [`ExtraMut`] of what they belong to.
///
/// ```
/// use portcullis::{AgentEvent, Json};
///
/// let event = AgentEvent::from_json(r#"{"lang":"en","type":"text","n":1.50,"delta":"hi"}"#)?;
/// let AgentEvent::Text(text) = &event else { unreachable!() };
/// assert_eq!(text.extra().text("n"), Some("1.50"));
/// let names: Vec<_> = text.extra().iter().map(|(name, _)| name.into_owned()).collect();
/// assert_eq!(names, ["lang", "n"]);
/// assert_eq!(event.to_json(), r#"{"type":"text","delta":"hi","lang":"en","n":1.50}"#);
/// # Ok::<(), portcullis::DecodeError>(())
/// ```
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Extra {
    /// `"name":value,"name":value` as it came in, never empty. One pointer, since hardly any
    /// object has such members.
    #[expect(clippy::box_collection, reason = "one pointer instead of three words")]
    members: Option<Box<String>>,
}

impl Extra {
    /// No such member.
    #[must_use]
    pub const fn new() -> Self {
        Self { members: None }
    }

    /// Whether there is no such member.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_none()
    }

    /// The value of a member. Names are compared unescaped.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Json> {
        self.text(name).map(Json::checked)
    }

    /// The text of the value of a member, borrowed.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.parts()
            .find(|part| part.is(name))
            .map(|part| part.value)
    }

    /// The members: names unescaped, values as their text.
    pub fn iter(&self) -> impl Iterator<Item = (Cow<'_, str>, &str)> {
        self.parts().map(|part| (unescape(part.name), part.value))
    }

    pub(super) fn members(&self) -> Option<&str> {
        self.members.as_deref().map(String::as_str)
    }

    /// Appends a member that was read. The caller knows that its name is new.
    pub(crate) fn push(&mut self, member: &Member<'_>) {
        let members = self.next_place();
        members.push('"');
        members.push_str(member.raw_name());
        members.push_str("\":");
        push_line(members, member.text());
    }

    pub(crate) fn insert(&mut self, name: &str, value: &Json) -> Option<Json> {
        let Some(Part {
            value: old, start, ..
        }) = self.parts().find(|part| part.is(name))
        else {
            let members = self.next_place();
            push_string(members, name);
            members.push(':');
            members.push_str(value.as_str());
            return None;
        };
        let (old, end) = (Json::checked(old), start + old.len());
        if let Some(members) = &mut self.members {
            members.replace_range(start..end, value.as_str());
        }
        Some(old)
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<Json> {
        let part = self.parts().find(|part| part.is(name))?;
        let old = Json::checked(part.value);
        let kept = self
            .parts()
            .filter(|part| !part.is(name))
            .map(|part| part.whole);
        let kept = kept.collect::<Vec<_>>().join(",");
        self.members = (!kept.is_empty()).then(|| Box::new(kept));
        Some(old)
    }

    fn next_place(&mut self) -> &mut String {
        let members = self.members.get_or_insert_default();
        if !members.is_empty() {
            members.push(',');
        }
        members
    }

    fn parts(&self) -> impl Iterator<Item = Part<'_>> {
        let text = self.members().unwrap_or_default();
        let mut cursor = Cursor::new(text);
        iter::from_fn(move || {
            let begin = cursor.at();
            cursor.peek()?;
            let name = cursor.name().expect(CHECKED);
            let start = cursor.at();
            let value = cursor.value(1).expect(CHECKED);
            let whole = &text[begin..cursor.at()];
            cursor.take(b',');
            Some(Part {
                name: name.raw,
                value,
                start,
                whole,
            })
        })
    }
}

const CHECKED: &str = "members are checked when they come in";

/// One member within the text.
struct Part<'a> {
    name: &'a str,
    value: &'a str,
    /// Where the value begins.
    start: usize,
    whole: &'a str,
}

impl Part<'_> {
    fn is(&self, name: &str) -> bool {
        *unescape_name(self.name) == *name.as_bytes()
    }
}

impl fmt::Debug for Extra {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{{{}}}", self.members().unwrap_or_default())
    }
}

/// The unknown members of something, to be edited.
///
/// It knows the members that its owner has itself and refuses their names, so that nothing
/// can be made that has a member twice: a `type` among the unknown members would
/// be a second type.
///
/// ```
/// use portcullis::{Json, Text};
///
/// let mut text = Text::new("hi");
/// text.extra_mut().insert("confidence", &Json::from_text("0.75")?)?;
/// assert!(text.extra_mut().insert("type", &Json::null()).is_err());
/// assert_eq!(text.extra_mut().remove("confidence").unwrap().as_str(), "0.75");
/// assert!(text.extra().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ExtraMut<'a> {
    extra: &'a mut Extra,
    known: &'static [&'static str],
}

impl<'a> ExtraMut<'a> {
    pub(crate) const fn new(extra: &'a mut Extra, known: &'static [&'static str]) -> Self {
        Self { extra, known }
    }

    /// Adds a member at the end, or replaces the value of one in its place, and returns the
    /// value that was there.
    ///
    /// # Errors
    /// When a known member has the name, or the value nests so deep that the owner would
    /// nest deeper than 128.
    pub fn insert(&mut self, name: &str, value: &Json) -> Result<Option<Json>, InsertError> {
        if let Some(known) = self.known.iter().find(|known| **known == name) {
            return Err(InsertError::Known(known));
        }
        if Cursor::new(value.as_str()).value(1).is_err() {
            return Err(InsertError::TooDeep);
        }
        Ok(self.extra.insert(name, value))
    }

    /// Takes a member out.
    pub fn remove(&mut self, name: &str) -> Option<Json> {
        self.extra.remove(name)
    }

    /// Takes all members out.
    pub fn clear(&mut self) {
        *self.extra = Extra::new();
    }
}

/// A member that cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InsertError {
    /// The owner has a member of this name itself: set that one.
    Known(&'static str),
    /// The value nests too deep.
    TooDeep,
}

impl fmt::Display for InsertError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(name) => write!(f, "`{name}` is a known member"),
            Self::TooDeep => f.write_str("the value nests too deep"),
        }
    }
}

impl Error for InsertError {}
