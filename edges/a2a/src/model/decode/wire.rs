use std::{collections::BTreeMap, fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{Context, Kind, Plain};

/// The scalars, of a visitor that is for something else.
macro_rules! not_a {
    ($description:literal) => {
        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(Read::Unset)
        }

        fn visit_bool<E: Error>(self, _: bool) -> Result<Self::Value, E> {
            Ok(wrong(self.0, $description))
        }

        fn visit_i64<E: Error>(self, _: i64) -> Result<Self::Value, E> {
            Ok(wrong(self.0, $description))
        }

        fn visit_u64<E: Error>(self, _: u64) -> Result<Self::Value, E> {
            Ok(wrong(self.0, $description))
        }

        fn visit_f64<E: Error>(self, _: f64) -> Result<Self::Value, E> {
            Ok(wrong(self.0, $description))
        }

        fn visit_str<E: Error>(self, _: &str) -> Result<Self::Value, E> {
            Ok(wrong(self.0, $description))
        }
    };
}
pub(super) use not_a;

/// What came where a value was due.
pub(crate) enum Read<T> {
    Value(T),
    /// `null`: not set (A2A-DATA-14).
    Unset,
    /// Something wrong, which the context has noted.
    Wrong,
}

impl<T> Read<T> {
    pub(crate) fn map<U>(self, f: impl FnOnce(T) -> U) -> Read<U> {
        match self {
            Self::Value(value) => Read::Value(f(value)),
            Self::Unset => Read::Unset,
            Self::Wrong => Read::Wrong,
        }
    }
}

/// A type of the model, as it is read from ProtoJSON.
///
/// An error is one of syntax; whatever else is wrong is noted in the context.
pub(crate) trait Wire: Sized {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error>;
}

/// A value that a member holds.
pub(crate) trait Member {
    /// Whether it is left out when written (A2A-DATA-18).
    fn is_unset(&self) -> bool;
}

impl Member for String {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

impl Member for bool {
    fn is_unset(&self) -> bool {
        !self
    }
}

impl Member for i32 {
    fn is_unset(&self) -> bool {
        *self == 0
    }
}

impl<T> Member for Option<T> {
    fn is_unset(&self) -> bool {
        self.is_none()
    }
}

impl<T> Member for Vec<T> {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

impl<T> Member for BTreeMap<String, T> {
    fn is_unset(&self) -> bool {
        self.is_empty()
    }
}

impl<T: Wire> Wire for Option<T> {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        T::read(cx, deserializer).map(|read| read.map(Some))
    }
}

impl<T: Wire> Wire for Box<T> {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        T::read(cx, deserializer).map(|read| read.map(Self::new))
    }
}

impl<T: Wire> Wire for Vec<T> {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        read_list::<Plain, T, D>(cx, deserializer)
    }
}

/// Reads a list whose items are of a kind.
pub(super) fn read_list<'de, K: Kind<T>, T, D: Deserializer<'de>>(
    cx: &mut Context,
    deserializer: D,
) -> Result<Read<Vec<T>>, D::Error> {
    deserializer.deserialize_any(ListVisitor::<K, T>(cx, PhantomData))
}

struct ListVisitor<'a, K, T>(&'a mut Context, PhantomData<fn() -> (K, T)>);

impl<'de, K: Kind<T>, T> Visitor<'de> for ListVisitor<'_, K, T> {
    type Value = Read<Vec<T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
        let cx = self.0;
        let limit = cx.bounds().map_or(usize::MAX, |bounds| bounds.items);
        let mut items = Vec::new();
        let mut wrong = false;
        for index in 0.. {
            if index == limit {
                if seq.next_element::<IgnoredAny>()?.is_some() {
                    cx.violation(format!("more than {limit} items"));
                    while seq.next_element::<IgnoredAny>()?.is_some() {}
                    wrong = true;
                }
                break;
            }
            let seed = ItemSeed::<K, T>(cx, index, PhantomData);
            match seq.next_element_seed(seed)? {
                None => break,
                Some(Read::Value(item)) => items.push(item),
                // Some writers send null for what they left out (O-W02).
                Some(Read::Unset) if !cx.is_strict() => {}
                Some(Read::Unset) => {
                    cx.within_index(index, |cx| cx.violation("must not be null"));
                    wrong = true;
                }
                Some(Read::Wrong) => wrong = true,
            }
        }
        Ok(if wrong {
            Read::Wrong
        } else {
            Read::Value(items)
        })
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        skip_map(map)?;
        Ok(wrong(self.0, "must be an array"))
    }

    not_a!("must be an array");
}

struct ItemSeed<'a, K, T>(&'a mut Context, usize, PhantomData<fn() -> (K, T)>);

impl<'de, K: Kind<T>, T> DeserializeSeed<'de> for ItemSeed<'_, K, T> {
    type Value = Read<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Read<T>, D::Error> {
        self.0.within_index(self.1, |cx| K::read(cx, deserializer))
    }
}

impl<T: Wire> Wire for BTreeMap<String, T> {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        deserializer.deserialize_any(MapVisitor::<T>(cx, PhantomData))
    }
}

struct MapVisitor<'a, T>(&'a mut Context, PhantomData<fn() -> T>);

impl<'de, T: Wire> Visitor<'de> for MapVisitor<'_, T> {
    type Value = Read<BTreeMap<String, T>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let cx = self.0;
        let mut entries = BTreeMap::new();
        let mut wrong = false;
        while let Some(key) = map.next_key::<String>()? {
            match map.next_value_seed(EntrySeed::<T>(cx, key.clone(), PhantomData))? {
                Read::Value(value) => {
                    entries.insert(key, value);
                }
                Read::Unset if !cx.is_strict() => {}
                Read::Unset => {
                    cx.within_key(key, |cx| cx.violation("must not be null"));
                    wrong = true;
                }
                Read::Wrong => wrong = true,
            }
        }
        Ok(if wrong {
            Read::Wrong
        } else {
            Read::Value(entries)
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Self::Value, A::Error> {
        skip_seq(seq)?;
        Ok(wrong(self.0, "must be an object"))
    }

    not_a!("must be an object");
}

struct EntrySeed<'a, T>(&'a mut Context, String, PhantomData<fn() -> T>);

impl<'de, T: Wire> DeserializeSeed<'de> for EntrySeed<'_, T> {
    type Value = Read<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Read<T>, D::Error> {
        self.0.within_key(self.1, |cx| T::read(cx, deserializer))
    }
}

pub(super) fn wrong<T>(cx: &mut Context, description: &str) -> Read<T> {
    cx.violation(description);
    Read::Wrong
}

pub(super) fn skip_map<'de, A: MapAccess<'de>>(mut map: A) -> Result<(), A::Error> {
    while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
    Ok(())
}

pub(super) fn skip_seq<'de, A: SeqAccess<'de>>(mut seq: A) -> Result<(), A::Error> {
    while seq.next_element::<IgnoredAny>()?.is_some() {}
    Ok(())
}

/// The value of a member that did not come.
pub(crate) trait Blank {
    fn blank() -> Self;
}

macro_rules! blank_is_default {
    ($($ty:ty),*) => {
        $(impl Blank for $ty {
            fn blank() -> Self {
                Self::default()
            }
        })*
    };
}

blank_is_default!(String, bool, i32);

impl<T> Blank for Option<T> {
    fn blank() -> Self {
        None
    }
}

impl<T> Blank for Vec<T> {
    fn blank() -> Self {
        Self::new()
    }
}

impl<T> Blank for BTreeMap<String, T> {
    fn blank() -> Self {
        Self::new()
    }
}
