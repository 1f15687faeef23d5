use std::borrow::Cow;

use super::{
    DecodeError, Json,
    cursor::{Cursor, Fault, Quoted, TOO_DEEP},
    string::{unescape, unescape_name},
};

/// The members of one object, in order and undecoded: the one way in which every
/// object of the contract is read.
///
/// Reading checks the whole text, counts the depth from the root of the text and refuses a name that
/// occurs twice: readers disagree on which of the two counts, so a second
/// `type` could carry a terminal event past us.
pub(crate) struct Members<'a> {
    /// The usual number of members needs no allocation.
    first: [Member<'a>; FIRST],
    len: usize,
    rest: Vec<Member<'a>>,
}

#[derive(Clone, Copy)]
pub(crate) struct Member<'a> {
    /// The name without quotes, escapes kept.
    name: &'a str,
    value: &'a str,
    /// Where the value begins.
    at: usize,
    name_escaped: bool,
}

const FIRST: usize = 8;

impl<'a> Members<'a> {
    pub(crate) fn read(text: &'a str) -> Result<Self, DecodeError> {
        Self::read_at(text, 0)
    }

    /// Reads an object that lies at a byte of a longer text.
    pub(crate) fn read_at(text: &'a str, base: usize) -> Result<Self, DecodeError> {
        let mut cursor = Cursor::new(text);
        cursor.space();
        let mut members = Self {
            first: [Member::EMPTY; FIRST],
            len: 0,
            rest: Vec::new(),
        };
        let fault = |fault: Fault| syntax(text, &fault, base);
        cursor.expect(b'{', "an object").map_err(fault)?;
        cursor.space();
        if !cursor.take(b'}') {
            loop {
                let member = Member::read(&mut cursor, base).map_err(fault)?;
                members.push(member);
                cursor.space();
                if cursor.take(b',') {
                    continue;
                }
                cursor.expect(b'}', "`,` or `}`").map_err(fault)?;
                break;
            }
        }
        cursor.end().map_err(fault)?;
        members.refuse_repeated_names()?;
        Ok(members)
    }

    fn push(&mut self, member: Member<'a>) {
        match self.first.get_mut(self.len) {
            Some(place) => *place = member,
            None => self.rest.push(member),
        }
        self.len += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Member<'a>> {
        let first = self.len.min(FIRST);
        self.first[..first].iter().chain(&self.rest)
    }

    pub(crate) fn find(&self, name: &[u8]) -> Option<&Member<'a>> {
        self.iter().find(|member| *member.name() == *name)
    }

    fn refuse_repeated_names(&self) -> Result<(), DecodeError> {
        // Few plain names are compared as they are; else sorting bounds the work that
        // a hostile text can ask for.
        if self.rest.is_empty() && self.iter().all(|member| !member.name_escaped) {
            let members = &self.first[..self.len];
            for (index, member) in members.iter().enumerate() {
                if members[..index]
                    .iter()
                    .any(|other| other.name == member.name)
                {
                    return Err(member.repeated());
                }
            }
            return Ok(());
        }
        let mut names: Vec<_> = self.iter().map(|member| (member.name(), member)).collect();
        names.sort_by(|(one, _), (other, _)| one.cmp(other));
        match names.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            Some(pair) => Err(pair[1].1.repeated()),
            None => Ok(()),
        }
    }
}

impl<'a> Member<'a> {
    const EMPTY: Self = Self {
        name: "",
        value: "",
        at: 0,
        name_escaped: false,
    };

    fn read(cursor: &mut Cursor<'a>, base: usize) -> Result<Self, Fault> {
        let Quoted { raw, escaped } = cursor.name()?;
        cursor.space();
        let at = base + cursor.at();
        Ok(Self {
            name: raw,
            value: cursor.value(1)?,
            at,
            name_escaped: escaped,
        })
    }

    /// The name unescaped, to be compared.
    pub(crate) fn name(&self) -> Cow<'a, [u8]> {
        if self.name_escaped {
            unescape_name(self.name)
        } else {
            Cow::Borrowed(self.name.as_bytes())
        }
    }

    /// The name as it was written, without quotes.
    pub(super) const fn raw_name(&self) -> &'a str {
        self.name
    }

    /// The text of the value.
    pub(crate) const fn text(&self) -> &'a str {
        self.value
    }

    /// The value, kept as text.
    pub(crate) fn json(&self) -> Json {
        Json::checked(self.value)
    }

    pub(crate) fn string(&self) -> Result<Cow<'a, str>, DecodeError> {
        match self.value.strip_prefix('"') {
            Some(rest) => Ok(unescape(&rest[..rest.len() - 1])),
            None => Err(self.wrong("a string")),
        }
    }

    pub(crate) fn bool(&self) -> Result<bool, DecodeError> {
        match self.value {
            "true" => Ok(true),
            "false" => Ok(false),
            _ => Err(self.wrong("true or false")),
        }
    }

    /// A number, kept as text.
    pub(crate) fn number(&self) -> Result<Json, DecodeError> {
        match self.value.as_bytes() {
            [b'-' | b'0'..=b'9', ..] => Ok(Json::checked(self.value)),
            _ => Err(self.wrong("a number")),
        }
    }

    /// A number that is written as digits only.
    pub(crate) fn digits(&self) -> Option<u64> {
        let digits = self.value.bytes().all(|byte| byte.is_ascii_digit());
        digits.then(|| self.value.parse().ok()).flatten()
    }

    pub(crate) fn object(&self) -> Result<Members<'a>, DecodeError> {
        if self.value.starts_with('{') {
            Members::read_at(self.value, self.at)
        } else {
            Err(self.wrong("an object"))
        }
    }

    pub(crate) fn array(&self) -> Result<Vec<Self>, DecodeError> {
        if self.value.starts_with('[') {
            Ok(elements(self))
        } else {
            Err(self.wrong("an array"))
        }
    }

    pub(crate) fn wrong(&self, expected: impl Into<Cow<'static, str>>) -> DecodeError {
        DecodeError::new(expected, kind(self.value.as_bytes().first().copied()))
            .member_named(&unescape(self.name))
            .at(self.at)
    }

    /// The value has the right type and does not fit all the same.
    pub(crate) fn unfit(&self, expected: &'static str, found: &'static str) -> DecodeError {
        DecodeError::new(expected, found)
            .member_named(&unescape(self.name))
            .at(self.at)
    }

    fn repeated(&self) -> DecodeError {
        self.unfit("each name once", "the same name again")
    }
}

/// The elements of an array that was checked, under the name of the array.
fn elements<'a>(array: &Member<'a>) -> Vec<Member<'a>> {
    let mut cursor = Cursor::new(array.value);
    let mut elements = Vec::new();
    cursor.take(b'[');
    cursor.space();
    while cursor.peek() != Some(b']') {
        cursor.space();
        let at = array.at + cursor.at();
        let value = cursor.value(1).expect("the array has been checked");
        elements.push(Member {
            value,
            at,
            ..*array
        });
        cursor.space();
        cursor.take(b',');
    }
    elements
}

pub(super) fn syntax(text: &str, fault: &Fault, base: usize) -> DecodeError {
    let found = if fault.expected == TOO_DEEP {
        Cow::Borrowed("more")
    } else {
        match text[floor(text, fault.at)..].chars().next() {
            None => Cow::Borrowed("the end of the text"),
            Some('{') => Cow::Borrowed("an object"),
            Some('[') => Cow::Borrowed("an array"),
            Some(char) => Cow::Owned(format!("`{}`", char.escape_debug())),
        }
    };
    DecodeError::new(fault.expected, found).at(base + fault.at)
}

fn floor(text: &str, at: usize) -> usize {
    text.floor_char_boundary(at)
}

const fn kind(first: Option<u8>) -> &'static str {
    match first {
        Some(b'"') => "a string",
        Some(b'{') => "an object",
        Some(b'[') => "an array",
        Some(b't' | b'f') => "true or false",
        Some(b'n') => "null",
        _ => "a number",
    }
}
