use std::collections::BTreeMap;

use crate::model::{Role, TaskState, Timestamp};

/// A value of the model as a field of a message.
pub(crate) trait Proto<P> {
    fn proto(self) -> P;
}

macro_rules! as_it_is {
    ($($ty:ty),*) => {
        $(impl Proto<$ty> for $ty {
            fn proto(self) -> $ty {
                self
            }
        })*
    };
}

as_it_is!(String, bool, i32);

impl<T: Proto<P>, P> Proto<Option<P>> for Option<T> {
    fn proto(self) -> Option<P> {
        self.map(Proto::proto)
    }
}

impl<T: Proto<P>, P> Proto<Vec<P>> for Vec<T> {
    fn proto(self) -> Vec<P> {
        self.into_iter().map(Proto::proto).collect()
    }
}

impl<T: Proto<P>, P> Proto<BTreeMap<String, P>> for BTreeMap<String, T> {
    fn proto(self) -> BTreeMap<String, P> {
        self.into_iter()
            .map(|(name, value)| (name, value.proto()))
            .collect()
    }
}

/// What this version does not know is unspecified.
impl Proto<i32> for TaskState {
    fn proto(self) -> i32 {
        self.number().into()
    }
}

impl Proto<i32> for Role {
    fn proto(self) -> i32 {
        match self {
            Self::Unknown => 0,
            Self::User => 1,
            Self::Agent => 2,
        }
    }
}

impl Proto<prost_types::Timestamp> for Timestamp {
    fn proto(self) -> prost_types::Timestamp {
        std::time::SystemTime::from(self).into()
    }
}

/// A message, both ways: each field by its name, which the model and its decoder know it by too
/// (A2A-DATA-2).
macro_rules! map {
    ($name:ident as $pb:ident { $($field:ident),* $(,)? }) => {
        map!(@proto $name as $pb);

        impl $crate::proto::Proto<$crate::proto::a2a::$pb> for $crate::model::$name {
            fn proto(self) -> $crate::proto::a2a::$pb {
                $crate::proto::a2a::$pb {
                    $($field: $crate::proto::Proto::proto(self.$field),)*
                }
            }
        }

        impl $crate::proto::Text for $crate::proto::a2a::$pb {
            fn write(&self, to: &mut $crate::proto::text::Writer) {
                to.object(|members| {
                    $(members.member(stringify!($field), &self.$field);)*
                });
            }
        }
    };

    (@proto $name:ident as $pb:ident) => {
        /// A field that holds a message may be absent.
        impl $crate::proto::Proto<Option<$crate::proto::a2a::$pb>> for $crate::model::$name {
            fn proto(self) -> Option<$crate::proto::a2a::$pb> {
                Some($crate::proto::Proto::proto(self))
            }
        }
    };

    ($name:ident { $($field:ident),* $(,)? }) => {
        map!($name as $name { $($field),* });
    };
}

/// A message that is one `oneof`, both ways.
macro_rules! map_oneof {
    ($name:ident { $module:ident :: $oneof:ident in $slot:ident; $($variant:ident as $pb:ident = $member:literal),* $(,)? }) => {
        map!(@proto $name as $name);

        impl $crate::proto::Proto<$crate::proto::a2a::$name> for $crate::model::$name {
            fn proto(self) -> $crate::proto::a2a::$name {
                use $crate::proto::a2a::$module::$oneof;
                $crate::proto::a2a::$name {
                    $slot: Some(match self {
                        $(Self::$variant(value) => $oneof::$pb($crate::proto::Proto::proto(value)),)*
                    }),
                }
            }
        }

        impl $crate::proto::Text for $crate::proto::a2a::$name {
            fn write(&self, to: &mut $crate::proto::text::Writer) {
                use $crate::proto::a2a::$module::$oneof;
                to.object(|members| match &self.$slot {
                    $(Some($oneof::$pb(value)) => members.member($member, value),)*
                    // Whoever reads it says that something is missing.
                    None => {}
                });
            }
        }
    };
}
