/// A message of the protocol: a struct, and its JSON form both ways.
///
/// `name: Type = "jsonName" | "proto_name" as Kind, presence;` where the proto name is
/// left out if it is the same, the kind if the type says it all, and `presence` is
/// `required` (has to be there, always written), `needed` (has to be there) or `written`
/// (always written).
///
/// `secret` before the name leaves `Debug` to be written by hand: something in the message is none
/// of a log's business. `received` is for what is only read, and never shown.
macro_rules! message {
    (
        @message [$($derive:ident),*] $vis:vis,
        $(#[$meta:meta])*
        $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $ty:ty = $json:literal $(| $proto:literal)? $(as $kind:ident)?
                    $(, $presence:ident)?;
            )*
        }
        $(check $check:path;)?
    ) => {
        $(#[$meta])*
        #[derive($($derive),*)]
        #[non_exhaustive]
        $vis struct $name {
            $(
                $(#[$field_meta])*
                $vis $field: $ty,
            )*
        }

        impl $name {
            /// Every member at its default.
            pub(crate) fn blank() -> Self {
                Self { $($field: <$ty as $crate::model::decode::Blank>::blank(),)* }
            }
        }

        impl $crate::model::decode::Blank for $name {
            fn blank() -> Self {
                Self::blank()
            }
        }

        impl $crate::model::decode::Object for $name {
            type Draft = Self;

            const FIELDS: &'static [$crate::model::decode::Field] = &[
                $($crate::model::decode::Field {
                    json: $json,
                    proto: message!(@proto $json $(| $proto)?),
                    required: message!(@required $($presence)?),
                },)*
            ];

            fn draft() -> Self {
                Self::blank()
            }

            fn read_field<'de, A: ::serde::de::MapAccess<'de>>(
                draft: &mut Self,
                index: usize,
                cx: &mut $crate::model::decode::Context,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                let mut number = 0;
                $(
                    if index == number {
                        return $crate::model::decode::read_slot::<
                            message!(@kind $($kind)?), $ty, A,
                        >(cx, map, &mut draft.$field);
                    }
                    number += 1;
                )*
                unreachable!("member {index} of {number}")
            }

            fn finish(
                draft: Self,
                _cx: &mut $crate::model::decode::Context,
            ) -> Option<Self> {
                $($check(&draft, _cx);)?
                Some(draft)
            }
        }

        message!(@wire $name);
    };

    (
        @serialize $name:ident {
            $(
                $(#[$field_meta:meta])*
                $field:ident: $ty:ty = $json:literal $(| $proto:literal)? $(as $kind:ident)?
                    $(, $presence:ident)?;
            )*
        }
        $(check $check:path;)?
    ) => {
        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap;
                let mut object = serializer.serialize_map(None)?;
                $(
                    if message!(@written $($presence)?)
                        || !$crate::model::decode::Member::is_unset(&self.$field)
                    {
                        object.serialize_entry($json, &self.$field)?;
                    }
                )*
                object.end()
            }
        }
    };

    (@wire $name:ident) => {
        impl $crate::model::decode::Wire for $name {
            fn read<'de, D: ::serde::Deserializer<'de>>(
                cx: &mut $crate::model::decode::Context,
                deserializer: D,
            ) -> Result<$crate::model::decode::Read<Self>, D::Error> {
                $crate::model::decode::read_object(cx, deserializer)
            }
        }

        impl $crate::model::decode::Member for $name {
            fn is_unset(&self) -> bool {
                false
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(
                deserializer: D,
            ) -> Result<Self, D::Error> {
                $crate::model::decode::deserialize(deserializer)
            }
        }
    };

    (@proto $json:literal) => { $json };
    (@proto $json:literal | $proto:literal) => { $proto };
    (@kind) => { $crate::model::decode::Plain };
    (@kind $kind:ident) => { $crate::model::decode::$kind };
    (@required) => { false };
    (@required required) => { true };
    (@required needed) => { true };
    (@required written) => { false };
    (@written) => { false };
    (@written needed) => { false };
    (@written $presence:ident) => { true };

    ($(#[$meta:meta])* secret $name:ident $($rest:tt)*) => {
        message!(@message [Clone, PartialEq] pub, $(#[$meta])* $name $($rest)*);
        message!(@serialize $name $($rest)*);
    };
    ($(#[$meta:meta])* received $name:ident $($rest:tt)*) => {
        message!(@message [Clone, PartialEq] pub(super), $(#[$meta])* $name $($rest)*);
    };
    ($(#[$meta:meta])* $name:ident $($rest:tt)*) => {
        message!(@message [Clone, Debug, PartialEq] pub, $(#[$meta])* $name $($rest)*);
        message!(@serialize $name $($rest)*);
    };
}

/// A message that is one `oneof`: an enum, and its JSON form both ways.
macro_rules! oneof {
    (
        $(#[$meta:meta])*
        $name:ident: $expected:literal {
            $(
                $(#[$variant_meta:meta])*
                $variant:ident($ty:ty) = $json:literal $(| $proto:literal)?;
            )*
        }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$variant_meta])*
                $variant($ty),
            )*
        }

        $(
            impl From<$ty> for $name {
                fn from(value: $ty) -> Self {
                    Self::$variant(value)
                }
            }
        )*

        impl $crate::model::decode::Object for $name {
            /// How many members were given, and the last of them.
            type Draft = (usize, Option<Self>);

            const FIELDS: &'static [$crate::model::decode::Field] = &[
                $($crate::model::decode::Field {
                    json: $json,
                    proto: message!(@proto $json $(| $proto)?),
                    required: false,
                },)*
            ];

            fn draft() -> Self::Draft {
                (0, None)
            }

            fn read_field<'de, A: ::serde::de::MapAccess<'de>>(
                (count, draft): &mut Self::Draft,
                index: usize,
                cx: &mut $crate::model::decode::Context,
                map: &mut A,
            ) -> Result<bool, A::Error> {
                let mut number = 0;
                $(
                    if index == number {
                        let mut slot: Option<$ty> = None;
                        let given = $crate::model::decode::read_slot::<
                            $crate::model::decode::Plain, _, A,
                        >(cx, map, &mut slot)?;
                        *count += usize::from(given);
                        if let Some(value) = slot {
                            *draft = Some(Self::$variant(value));
                        }
                        return Ok(given);
                    }
                    number += 1;
                )*
                unreachable!("member {index} of {number}")
            }

            fn finish(
                (count, draft): Self::Draft,
                cx: &mut $crate::model::decode::Context,
            ) -> Option<Self> {
                match count {
                    0 => cx.violation(concat!("one of ", $expected, " is required")),
                    1 => return draft,
                    _ => cx.violation(concat!("exactly one of ", $expected, " is allowed")),
                }
                None
            }
        }

        message!(@wire $name);

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                use ::serde::ser::SerializeMap;
                let mut object = serializer.serialize_map(Some(1))?;
                match self {
                    $(Self::$variant(value) => object.serialize_entry($json, value)?,)*
                }
                object.end()
            }
        }
    };
}
