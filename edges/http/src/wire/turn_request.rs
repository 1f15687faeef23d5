//! What a caller sends: `{"scope": …, "prompt": …}`.

use portcullis::{Prompt, Scope};
#[cfg(feature = "server")]
use serde::Deserialize;
#[cfg(feature = "server")]
use serde_json::value::RawValue;
use tokio::time::Instant;

#[derive(Debug)]
pub(crate) struct TurnRequest {
    pub(crate) scope: Scope,
    pub(crate) prompt: Prompt,
}

/// Both as text, so that each reads its own with every token.
#[cfg(feature = "server")]
#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    scope: &'a RawValue,
    #[serde(borrow)]
    prompt: &'a RawValue,
}

impl TurnRequest {
    /// Reads a body that came in now.
    ///
    /// # Errors
    /// What is wrong with it, for the caller.
    #[cfg(feature = "server")]
    pub(crate) fn from_slice(body: &[u8]) -> Result<Self, String> {
        // Also where the value means nothing: what is no UTF-8 is no JSON.
        let body = str::from_utf8(body).map_err(|error| error.to_string())?;
        let members: Members<'_> = serde_json::from_str(body).map_err(|error| error.to_string())?;
        let now = Instant::now().into_std();
        Ok(Self {
            scope: Scope::from_json_at(members.scope.get(), now)
                .map_err(|error| error.to_string())?,
            prompt: Prompt::from_json(members.prompt.get()).map_err(|error| error.to_string())?,
        })
    }

    /// The body that is sent now.
    #[cfg(feature = "client")]
    pub(crate) fn to_json(&self) -> Vec<u8> {
        let now = Instant::now().into_std();
        let mut body = b"{\"scope\":".to_vec();
        body.extend_from_slice(self.scope.to_json_at(now).as_bytes());
        body.extend_from_slice(b",\"prompt\":");
        self.prompt.write_json(&mut body);
        body.push(b'}');
        body
    }
}
