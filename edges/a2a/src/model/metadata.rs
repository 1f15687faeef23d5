use std::fmt;

use portcullis::Json;
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{MapAccess, Visitor},
    ser::SerializeMap,
};
use serde_json::value::RawValue;

use super::decode::{self, Blank, Context, Member, Read, Wire, one_line, read_raw};

/// A free-form object: names and any JSON values, each with the text that it came with,
/// so numbers stay what they are (O-W05).
///
/// Empty is absent: an empty object is not written (O-W10).
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    members: Vec<(Box<str>, Json)>,
}

impl Metadata {
    /// Nothing.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            members: Vec::new(),
        }
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// How many members there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.members.len()
    }

    /// The value of a name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.members
            .iter()
            .find(|(known, _)| **known == *name)
            .map(|(_, value)| value)
    }

    /// Sets the value of a name, in the place that the name has already.
    pub fn insert(&mut self, name: impl Into<Box<str>>, value: Json) {
        let name = name.into();
        match self.members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = value,
            None => self.members.push((name, value)),
        }
    }

    /// With the value of a name.
    #[must_use]
    pub fn with(mut self, name: impl Into<Box<str>>, value: Json) -> Self {
        self.insert(name, value);
        self
    }

    /// Takes over every member of `more` (A2A-OP-47).
    pub fn merge(&mut self, more: Self) {
        if self.members.is_empty() {
            self.members = more.members;
        } else {
            for (name, value) in more.members {
                self.insert(name, value);
            }
        }
    }

    /// The members in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Json)> {
        self.members.iter().map(|(name, value)| (&**name, value))
    }
}

impl fmt::Debug for Metadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<N: Into<Box<str>>> FromIterator<(N, Json)> for Metadata {
    fn from_iter<I: IntoIterator<Item = (N, Json)>>(members: I) -> Self {
        let mut metadata = Self::new();
        for (name, value) in members {
            metadata.insert(name, value);
        }
        metadata
    }
}

impl Serialize for Metadata {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(self.members.len()))?;
        for (name, value) in &self.members {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for Metadata {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::deserialize(deserializer)
    }
}

impl Wire for Metadata {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        let raw = read_raw(deserializer)?.get();
        if raw == "null" {
            return Ok(Read::Unset);
        }
        let limit = cx.bounds().map(|bounds| bounds.metadata_bytes);
        if let Some(limit) = limit.filter(|limit| raw.len() > *limit) {
            cx.violation(format!("larger than {limit} bytes"));
            return Ok(Read::Wrong);
        }
        let members = if raw.starts_with('{') {
            serde_json::Deserializer::from_str(raw).deserialize_map(Members)
        } else {
            cx.violation("must be an object");
            return Ok(Read::Wrong);
        };
        Ok(match members {
            Ok((members, unique)) if unique || !cx.is_strict() => Read::Value(members),
            Ok(_) => {
                cx.violation("a member is given more than once");
                Read::Wrong
            }
            Err(error) => {
                cx.violation(format!("not JSON: {error}"));
                Read::Wrong
            }
        })
    }
}

struct Members;

impl<'de> Visitor<'de> for Members {
    /// The members, and whether no name came twice.
    type Value = (Metadata, bool);

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut metadata = Metadata::new();
        let mut count = 0;
        while let Some((name, value)) = map.next_entry::<Box<str>, &RawValue>()? {
            metadata.insert(name, one_line(value));
            count += 1;
        }
        let unique = count == metadata.len();
        Ok((metadata, unique))
    }
}

impl Member for Metadata {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

impl Blank for Metadata {
    fn blank() -> Self {
        Self::new()
    }
}
