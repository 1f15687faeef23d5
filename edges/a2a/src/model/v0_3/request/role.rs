use serde::Deserializer;

use crate::model::{
    Role,
    decode::{Blank, Context, Member, Read, Wire, read_raw},
};

/// Who wrote a message, in the names of either form.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sender(pub(super) Role);

impl Wire for Sender {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        Ok(match read_raw(deserializer)?.get() {
            "null" | "0" | "\"ROLE_UNSPECIFIED\"" => Read::Unset,
            "\"user\"" | "\"ROLE_USER\"" | "1" => Read::Value(Self(Role::User)),
            "\"agent\"" | "\"ROLE_AGENT\"" | "2" => Read::Value(Self(Role::Agent)),
            _ => {
                cx.violation("unknown role");
                Read::Wrong
            }
        })
    }
}

impl Member for Sender {
    fn is_unset(&self) -> bool {
        self.0.is_unset()
    }
}

impl Blank for Sender {
    fn blank() -> Self {
        Self(Role::blank())
    }
}
