/// Serialises a type through the raw value of `serde_json`, so that it nests in other
/// types. Its own depth is counted from its own root, so an envelope takes nothing away.
macro_rules! nests {
    ($($ty:ty),*) => {$(
        /// For a type that holds this one. It needs `serde_json`, and does not work
        /// below `flatten`, `untagged` or `tag`, which cannot carry raw text: nest it in a
        /// member. On its own, [`to_json`](Self::to_json) is faster.
        impl serde::Serialize for $ty {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serde_json::value::RawValue::from_string(self.to_json())
                    .map_err(serde::ser::Error::custom)?
                    .serialize(serializer)
            }
        }

        /// For a type that holds this one. It needs `serde_json`, and does not work
        /// below `flatten`, `untagged` or `tag`, which cannot carry raw text: nest it in a
        /// member. On its own, [`from_json`](Self::from_json) is faster.
        impl<'de> serde::Deserialize<'de> for $ty {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let raw = Box::<serde_json::value::RawValue>::deserialize(deserializer)?;
                Self::from_json(raw.get()).map_err(serde::de::Error::custom)
            }
        }
    )*};
}

pub(crate) use nests;
