use std::{collections::HashMap, error::Error, fmt, io};

use super::digest::Digest;

/// What every key begins with, so that scanners find keys where they do not belong.
pub(super) const PREFIX: &str = "pck_";
/// How long a key may be that somebody presents.
const MAX_KEY: usize = 256;
/// How many bytes a file may have.
pub(super) const MAX_FILE: usize = 4 << 20;

/// The keys of a file, by their ids.
#[derive(Default)]
pub(super) struct Table(HashMap<String, Entry>);

pub(super) struct Entry {
    digest: Digest,
    pub(super) subject: String,
    pub(super) scopes: Vec<String>,
}

impl Table {
    pub(super) fn parse(text: &str) -> Result<Self, InvalidKeys> {
        let mut table = HashMap::new();
        for (at, line) in text.lines().enumerate() {
            let fault = |what| InvalidKeys::line(at + 1, what);
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let mut words = line.split_ascii_whitespace();
            let id = words.next().expect("the line is not empty");
            if !is_id(id) {
                return Err(fault("the id has other characters than letters and digits"));
            }
            let digest = words.next().and_then(Digest::from_hex);
            let digest = digest.ok_or_else(|| fault("the digest is not 64 hexadecimal digits"))?;
            let subject = words.next().ok_or_else(|| fault("nobody is named"))?;
            let scopes: Vec<String> = words.map(str::to_owned).collect();
            if !is_word(subject) || !scopes.iter().all(|scope| is_word(scope)) {
                return Err(fault("a control character"));
            }
            let entry = Entry {
                digest,
                subject: subject.to_owned(),
                scopes,
            };
            if table.insert(id.to_owned(), entry).is_some() {
                return Err(fault("the id was there before"));
            }
        }
        Ok(Self(table))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Whose key it is. An id that is not there takes the same path as a key that is wrong.
    pub(super) fn find(&self, id: &str, key: &str) -> Option<&Entry> {
        let entry = self.0.get(id);
        let digest = entry.map_or(&Digest::NOBODY, |entry| &entry.digest);
        let matches = digest.matches(&Digest::of(key));
        entry.filter(|_| matches)
    }
}

/// The id of what has the form of a key.
pub(super) fn id_of(key: &str) -> Option<&str> {
    let (id, secret) = key.strip_prefix(PREFIX)?.split_once('_')?;
    (is_id(id) && !secret.is_empty() && key.len() <= MAX_KEY).then_some(id)
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= 64 && id.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

pub(super) fn is_word(word: &str) -> bool {
    !word.is_empty() && !word.contains(|c: char| c.is_whitespace() || c.is_control())
}

/// Why there are no keys, or no new ones. It holds nothing of the file but a line's number.
#[derive(Debug)]
pub struct InvalidKeys(Fault);

#[derive(Debug)]
enum Fault {
    Line(usize, &'static str),
    Word(&'static str),
    Empty,
    TooLong,
    Random,
    Read(io::Error),
}

impl InvalidKeys {
    const fn line(number: usize, what: &'static str) -> Self {
        Self(Fault::Line(number, what))
    }

    pub(super) const fn word(what: &'static str) -> Self {
        Self(Fault::Word(what))
    }

    pub(super) const fn empty() -> Self {
        Self(Fault::Empty)
    }

    pub(super) const fn too_long() -> Self {
        Self(Fault::TooLong)
    }

    pub(super) const fn no_random() -> Self {
        Self(Fault::Random)
    }

    pub(super) const fn unreadable(error: io::Error) -> Self {
        Self(Fault::Read(error))
    }
}

impl fmt::Display for InvalidKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Fault::Line(number, what) => write!(f, "line {number} of the keys: {what}"),
            Fault::Word(what) => write!(f, "a {what} is one word without control characters"),
            Fault::Empty => f.write_str("there is no key"),
            Fault::TooLong => write!(f, "the keys take more than {MAX_FILE} bytes"),
            Fault::Random => f.write_str("the system has no random numbers"),
            Fault::Read(_) => f.write_str("the keys cannot be read"),
        }
    }
}

impl Error for InvalidKeys {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.0 {
            Fault::Read(error) => Some(error),
            _ => None,
        }
    }
}
