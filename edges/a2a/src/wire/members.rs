use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{MapAccess, Visitor},
};
use serde_json::value::RawValue;

/// The members of an object in their order, however often a name comes; values are JSON.
pub(crate) struct Members<'a>(pub(crate) Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OfMap;

        impl<'de> Visitor<'de> for OfMap {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }

        deserializer.deserialize_map(OfMap)
    }
}

/// An object of members whose values are JSON.
pub(crate) fn object<N: AsRef<str>, V: AsRef<str>>(members: &[(N, V)]) -> String {
    let mut object = String::from("{");
    for (name, value) in members {
        if object.len() > 1 {
            object.push(',');
        }
        object.push_str(&json_string(name.as_ref()));
        object.push(':');
        object.push_str(value.as_ref());
    }
    object.push('}');
    object
}

/// A string as JSON.
pub(crate) fn json_string(text: &str) -> String {
    serde_json::to_string(text).expect("a string always encodes")
}
