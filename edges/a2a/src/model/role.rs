use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::decode::{self, Blank, Context, Member, Read, Wire, read_raw};

/// Who wrote a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Role {
    /// Not set, or one that this version does not know. Only somebody who reads meets it.
    Unknown,
    /// The client.
    User,
    /// The server.
    Agent,
}

impl Role {
    /// The name in the protocol.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "ROLE_UNSPECIFIED",
            Self::User => "ROLE_USER",
            Self::Agent => "ROLE_AGENT",
        }
    }
}

impl Serialize for Role {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for Role {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        decode::deserialize(deserializer)
    }
}

impl Wire for Role {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        Ok(match read_raw(deserializer)?.get() {
            "null" | "0" | "\"ROLE_UNSPECIFIED\"" => Read::Unset,
            "1" | "\"ROLE_USER\"" => Read::Value(Self::User),
            "2" | "\"ROLE_AGENT\"" => Read::Value(Self::Agent),
            _ if cx.is_strict() => {
                cx.violation("unknown role");
                Read::Wrong
            }
            _ => Read::Value(Self::Unknown),
        })
    }
}

impl Member for Role {
    fn is_unset(&self) -> bool {
        *self == Self::Unknown
    }
}

impl Blank for Role {
    fn blank() -> Self {
        Self::Unknown
    }
}
