use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, Error, MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object, undecoded. A name that occurs twice is an error, as everywhere.
pub(super) struct Members(Vec<(String, Box<RawValue>)>);

impl Members {
    /// A member, as its text.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.get())
    }

    /// A member, decoded.
    pub(super) fn decode<T: DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, serde_json::Error> {
        self.text(name).map(serde_json::from_str).transpose()
    }
}

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;

        impl<'de> Visitor<'de> for Reader {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members: Vec<(String, Box<RawValue>)> = Vec::new();
                while let Some((name, value)) = map.next_entry()? {
                    if members.iter().any(|(known, _)| *known == name) {
                        return Err(A::Error::custom("a member occurs twice"));
                    }
                    // The lines that we know have four.
                    if members.len() == 32 {
                        return Err(A::Error::custom("more than 32 members"));
                    }
                    members.push((name, value));
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(Reader)
    }
}
