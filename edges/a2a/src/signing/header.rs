use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};

/// The protected header of a JWS, as far as cards use it (A2A-SIG-2).
#[derive(Debug, Deserialize, Serialize)]
pub(super) struct Header {
    pub(super) alg: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) jku: Option<String>,
    pub(super) kid: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) typ: Option<String>,
    /// What a reader has to understand (RFC 7515, section 4.1.11): this one understands nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) crit: Option<Vec<String>>,
}

impl Header {
    pub(super) fn encode(&self) -> String {
        let json = serde_json::to_vec(self).expect("texts encode");
        BASE64_URL_SAFE_NO_PAD.encode(json)
    }

    pub(super) fn decode(protected: &str) -> Option<Self> {
        let json = BASE64_URL_SAFE_NO_PAD.decode(protected).ok()?;
        serde_json::from_slice(&json).ok()
    }
}

/// What the signature is over (A2A-SIG-3).
pub(super) fn signing_input(protected: &str, payload: &[u8]) -> String {
    let mut input = String::with_capacity(protected.len() + 1 + payload.len() * 4 / 3 + 4);
    input.push_str(protected);
    input.push('.');
    BASE64_URL_SAFE_NO_PAD.encode_string(payload, &mut input);
    input
}
