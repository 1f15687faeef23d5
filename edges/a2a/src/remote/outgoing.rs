use portcullis::{Failure, FailureCode, Json, Prompt, Scope};
use tokio::time::Instant;
use uuid::Uuid;

use super::Context;
use crate::{
    agent_events::{EVENTS_EXTENSION, PROMPT, SCOPE, bind},
    model::{Message, Metadata, Part, SendMessageConfiguration, SendMessageRequest},
};

/// Files and data that go with the prompt: a value in the extensions of the scope.
///
/// ```
/// # use portcullis::Scope;
/// use portcullis_a2a::{model::Part, remote::Attachments};
///
/// let mut scope = Scope::new("s");
/// let report = Part::url("https://example.com/report.pdf").with_media_type("application/pdf");
/// scope.extensions_mut().insert(Attachments::new([report]));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Attachments(Vec<Part>);

impl Attachments {
    /// These parts.
    #[must_use]
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        Self(parts.into_iter().collect())
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> &[Part] {
        &self.0
    }
}

/// The request that asks a prompt.
pub(super) fn request(
    scope: &Scope,
    prompt: &Prompt,
    context: &Context,
) -> Result<SendMessageRequest, Failure> {
    let mut message = Message::user(Uuid::now_v7().to_string(), parts(scope, prompt)?);
    message.context_id = context.context_id.clone().unwrap_or_default();
    message.task_id = context.task_id.clone().unwrap_or_default();
    if !prompt.extra().is_empty() {
        message.metadata.insert(PROMPT, extra_of(prompt)?);
        message.extensions.push(EVENTS_EXTENSION.to_owned());
    }
    // What was said before is known here.
    let wishes = SendMessageConfiguration::new().with_history_length(0);
    let mut request = SendMessageRequest::new(message).with_configuration(wishes);
    // The session is nobody else's business, nor is where the turn comes from.
    let told = bind(Scope::new(""), scope);
    let told = told.to_json_at(Instant::now().into_std());
    if told != Scope::new("").to_json() {
        let told = Json::from_text(told).map_err(Failure::internal)?;
        request.metadata.insert(SCOPE, told);
    }
    Ok(request)
}

fn parts(scope: &Scope, prompt: &Prompt) -> Result<Vec<Part>, Failure> {
    let mut parts = came_in(scope, prompt);
    if parts.is_empty() {
        if !prompt.as_text().is_empty() || prompt.images().is_empty() {
            parts.push(Part::text(prompt.as_text()));
        }
        for image in prompt.images() {
            let bytes = Part::decode_base64(image.data()).ok_or_else(|| {
                Failure::with_code(FailureCode::INVALID_PROMPT, "an image is not base64")
            })?;
            parts.push(Part::raw(bytes).with_media_type(image.mime_type()));
        }
    }
    if let Some(Attachments(more)) = scope.extensions().get() {
        parts.extend(more.iter().cloned());
    }
    Ok(parts)
}

/// The parts that a server of this process was asked with, if the prompt still is what they say.
#[cfg(feature = "server")]
fn came_in(scope: &Scope, prompt: &Prompt) -> Vec<Part> {
    let Some(context) = scope.extensions().get::<crate::server::RequestContext>() else {
        return Vec::new();
    };
    let asked = crate::server::prompt_of(context.message());
    if asked.as_text() == prompt.as_text() && asked.images() == prompt.images() {
        context.message().parts.clone()
    } else {
        Vec::new()
    }
}

#[cfg(not(feature = "server"))]
fn came_in(_: &Scope, _: &Prompt) -> Vec<Part> {
    Vec::new()
}

fn extra_of(prompt: &Prompt) -> Result<Json, Failure> {
    let mut members = Metadata::new();
    for (name, text) in prompt.extra().iter() {
        let value = Json::from_text(text).map_err(Failure::internal)?;
        members.insert(name.into_owned(), value);
    }
    Json::encode(&members).map_err(Failure::internal)
}
