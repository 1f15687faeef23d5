use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::wire::Id;

/// A call that is a valid request object, whatever it asks for.
#[derive(Debug)]
pub(super) struct Call {
    /// `None` is a notification, which A2A has none of (A2A-RPC-9).
    pub(super) id: Option<Id>,
    pub(super) method: String,
    /// JSON text; absent and null are `{}` (A2A-RPC-5).
    pub(super) params: String,
}

/// Why a body is no call. The id is that of the reply.
#[derive(Debug)]
pub(super) enum NoCall {
    /// -32700
    NotJson,
    /// -32600
    Invalid(Id),
}

impl Call {
    pub(super) fn decode(body: &[u8]) -> Result<Self, NoCall> {
        // Nothing here recurses, however deep the body nests: the members stay text, and what
        // decodes them counts first (O-W12).
        let text = std::str::from_utf8(body).map_err(|_| NoCall::NotJson)?;
        let whole: &RawValue = serde_json::from_str(text).map_err(|_| NoCall::NotJson)?;
        // A batch, which no official SDK takes either (A2A-RPC-10), or no object at all.
        if !whole.get().starts_with('{') {
            return Err(NoCall::Invalid(Id::null()));
        }
        let members = serde_json::from_str::<Members<'_>>(whole.get())
            .map_err(|_| NoCall::Invalid(Id::null()))?;
        let id = match members.id {
            None => None,
            Some(id) => Some(Id::from_json(id.get()).ok_or_else(|| NoCall::Invalid(Id::null()))?),
        };
        let invalid = || NoCall::Invalid(id.clone().unwrap_or_else(Id::null));
        if string(members.jsonrpc).as_deref() != Some("2.0") {
            return Err(invalid());
        }
        let method = string(members.method).ok_or_else(invalid)?;
        let params = members.params.map_or("{}", RawValue::get);
        Ok(Self {
            id,
            method,
            params: params.to_owned(),
        })
    }
}

/// The members of a request object, undecoded. Others are ignored; one that comes twice makes the
/// object invalid.
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow, default)]
    jsonrpc: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    /// Null is as absent.
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

/// Tells null from absent: one is an id, the other makes a notification.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

fn string(member: Option<&RawValue>) -> Option<String> {
    serde_json::from_str(member?.get()).ok()
}
