use std::{fmt, marker::PhantomData};

use serde::{
    Deserializer,
    de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor},
};

use super::{
    Context, Kind, Member, Read,
    wire::{not_a, skip_map, skip_seq, wrong},
};

/// A JSON object with named members.
pub(crate) trait Object: Sized {
    /// The object while it is read.
    type Draft;

    /// The members, in the order of the protocol.
    const FIELDS: &'static [Field];

    fn draft() -> Self::Draft;

    /// Reads the value of a member. Answers whether the member counts as given.
    fn read_field<'de, A: MapAccess<'de>>(
        draft: &mut Self::Draft,
        index: usize,
        cx: &mut Context,
        map: &mut A,
    ) -> Result<bool, A::Error>;

    /// The object, or `None` if what is wrong has been noted.
    fn finish(draft: Self::Draft, cx: &mut Context) -> Option<Self>;
}

/// A member of an object.
pub(crate) struct Field {
    pub(crate) json: &'static str,
    /// The name in the proto file, which parsers accept too (A2A-DATA-2).
    pub(crate) proto: &'static str,
    pub(crate) required: bool,
}

impl Field {
    /// A member that may be missing.
    pub(crate) const fn new(json: &'static str, proto: &'static str) -> Self {
        Self {
            json,
            proto,
            required: false,
        }
    }
}

pub(crate) fn read_object<'de, T: Object, D: Deserializer<'de>>(
    cx: &mut Context,
    deserializer: D,
) -> Result<Read<T>, D::Error> {
    deserializer.deserialize_any(ObjectVisitor::<T>(cx, PhantomData))
}

struct ObjectVisitor<'a, T>(&'a mut Context, PhantomData<fn() -> T>);

impl<'de, T: Object> Visitor<'de> for ObjectVisitor<'_, T> {
    type Value = Read<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Read<T>, A::Error> {
        let cx = self.0;
        let mut draft = T::draft();
        // Bit sets: no object has more than 32 members.
        let mut named = 0_u32;
        let mut given = 0_u32;
        while let Some(name) = map.next_key_seed(Names(T::FIELDS))? {
            let index = match name {
                Name::Known(index) => index,
                Name::Unknown => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
                Name::Number => {
                    map.next_value::<IgnoredAny>()?;
                    skip_map(map)?;
                    return Ok(wrong(cx, "must be an object"));
                }
            };
            let bit = 1 << index;
            let counts = cx.within(T::FIELDS[index].json, |cx| {
                if named & bit != 0 {
                    cx.violation("given more than once");
                }
                T::read_field(&mut draft, index, cx, &mut map)
            })?;
            named |= bit;
            if counts {
                given |= bit;
            }
        }
        let mut complete = true;
        if cx.is_strict() {
            for (index, field) in T::FIELDS.iter().enumerate() {
                if field.required && given & (1 << index) == 0 {
                    cx.within(field.json, |cx| cx.violation("required"));
                    complete = false;
                }
            }
        }
        Ok(match T::finish(draft, cx) {
            Some(value) if complete => Read::Value(value),
            _ => Read::Wrong,
        })
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Read<T>, A::Error> {
        skip_seq(seq)?;
        Ok(wrong(self.0, "must be an object"))
    }

    not_a!("must be an object");
}

enum Name {
    Known(usize),
    Unknown,
    /// With the feature `arbitrary_precision` of `serde_json` a number comes as an object
    /// with this one member.
    Number,
}

struct Names(&'static [Field]);

impl<'de> DeserializeSeed<'de> for Names {
    type Value = Name;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Name, D::Error> {
        deserializer.deserialize_identifier(self)
    }
}

impl Visitor<'_> for Names {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a member name")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Name, E> {
        let known = self
            .0
            .iter()
            .position(|field| field.json == name || field.proto == name);
        Ok(match known {
            Some(index) => Name::Known(index),
            None if name == "$serde_json::private::Number" => Name::Number,
            None => Name::Unknown,
        })
    }
}

/// Reads the value of a member into its slot. Answers whether it counts as given.
pub(crate) fn read_slot<'de, K: Kind<T>, T: Member, A: MapAccess<'de>>(
    cx: &mut Context,
    map: &mut A,
    slot: &mut T,
) -> Result<bool, A::Error> {
    Ok(
        match map.next_value_seed(SlotSeed::<K, T>(cx, PhantomData))? {
            Read::Value(value) => {
                let given = !value.is_unset();
                *slot = value;
                given
            }
            Read::Unset => false,
            // Noted already; "required" on top would be misleading.
            Read::Wrong => true,
        },
    )
}

struct SlotSeed<'a, K, T>(&'a mut Context, PhantomData<fn() -> (K, T)>);

impl<'de, K: Kind<T>, T> DeserializeSeed<'de> for SlotSeed<'_, K, T> {
    type Value = Read<T>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Read<T>, D::Error> {
        K::read(self.0, deserializer)
    }
}
