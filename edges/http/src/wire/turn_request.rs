use portcullis::{Prompt, Scope};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::Instant;

/// What a caller sends: `{"scope": …, "prompt": …}`.
#[derive(Debug)]
pub(crate) struct TurnRequest {
    pub(crate) scope: Scope,
    pub(crate) prompt: Prompt,
}

/// Both as text, so that each reads its own with every token.
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
    pub(crate) fn from_slice(body: &[u8]) -> Result<Self, String> {
        let members: Members<'_> =
            serde_json::from_slice(body).map_err(|error| error.to_string())?;
        let now = Instant::now().into_std();
        Ok(Self {
            scope: Scope::from_json_at(members.scope.get(), now)
                .map_err(|error| error.to_string())?,
            prompt: Prompt::from_json(members.prompt.get()).map_err(|error| error.to_string())?,
        })
    }
}
