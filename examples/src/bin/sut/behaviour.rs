//! What the kits ask an agent to do: behaviour by prefix of the message id, else of the text.

use std::time::Duration;

/// One thing that the agent does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Step {
    /// WORKING.
    Work,
    /// A whole artifact, as JSON.
    Artifact(&'static str),
    /// The last chunk of the artifact, as JSON.
    LastChunk(&'static str),
    /// A message instead of a task.
    Answer(&'static str),
    /// INPUT_REQUIRED.
    Ask(&'static str),
    /// AUTH_REQUIRED.
    AskForCredentials(&'static str),
    /// COMPLETED, with a text in the status.
    Complete(&'static str),
    /// REJECTED.
    Reject(&'static str),
    /// The agent raises.
    Fail(&'static str),
    /// Time passes.
    Sleep(Duration),
    /// Until somebody cancels.
    Hang,
    /// Hands over to an agent that streams two thousand tokens.
    Agent,
    /// If the task waited for an answer, it has it: COMPLETED. Else INPUT_REQUIRED.
    AskOnce,
}

use Step::{
    Agent, Answer, Artifact, Ask, AskForCredentials, AskOnce, Complete, Fail, Hang, LastChunk,
    Reject, Sleep, Work,
};

const TEXT: &str = r#"{"artifactId": "a-1", "parts": [{"text": "Generated text content"}]}"#;
const FILE: &str = r#"{"artifactId": "a-1", "parts": [{"raw": "R2VuZXJhdGVkIGZpbGUgY29udGVudA==", "filename": "output.txt", "mediaType": "text/plain"}]}"#;
const FILE_URL: &str = r#"{"artifactId": "a-1", "parts": [{"url": "https://example.com/output.txt", "filename": "output.txt", "mediaType": "text/plain"}]}"#;
const DATA: &str = r#"{"artifactId": "a-1", "parts": [{"data": {"key": "value", "count": 42}}]}"#;
const HELLO: &str = r#"{"artifactId": "a-1", "parts": [{"text": "Stream hello from TCK"}]}"#;
const LIFECYCLE: &str = r#"{"artifactId": "a-1", "parts": [{"text": "Stream task lifecycle"}]}"#;
const ORDERED: &str = r#"{"artifactId": "a-1", "parts": [{"text": "Ordered output"}]}"#;
const STREAMED: &str = r#"{"artifactId": "a-1", "parts": [{"text": "Streamed text content"}]}"#;
const CHUNK_1: &str = r#"{"artifactId": "a-1", "parts": [{"text": "chunk-1 "}]}"#;
const CHUNK_2: &str = r#"{"artifactId": "a-1", "parts": [{"text": "chunk-2"}]}"#;

/// A prefix that is the beginning of another comes after it.
const BEHAVIOURS: &[(&str, &[Step])] = &[
    ("tck-complete-task", &[Complete("Hello from TCK")]),
    ("tck-input-required", &[Ask("What else?")]),
    ("tck-artifact-file-url", &[Artifact(FILE_URL), Complete("")]),
    ("tck-artifact-file", &[Artifact(FILE), Complete("")]),
    ("tck-artifact-text", &[Artifact(TEXT), Complete("")]),
    ("tck-artifact-data", &[Artifact(DATA), Complete("")]),
    ("tck-message-response", &[Answer("Direct message response")]),
    ("tck-stream-001", &[Work, Artifact(HELLO), Complete("")]),
    ("tck-stream-002", &[Complete("")]),
    ("tck-stream-003", &[Work, Artifact(LIFECYCLE), Complete("")]),
    (
        "tck-stream-ordering-001",
        &[Work, Artifact(ORDERED), Complete("")],
    ),
    (
        "tck-stream-artifact-text",
        &[Work, Artifact(STREAMED), Complete("")],
    ),
    (
        "tck-stream-artifact-file",
        &[Work, Artifact(FILE), Complete("")],
    ),
    ("tck-stream-artifact-chunked", CHUNKED),
    ("tck-stream-chunked", CHUNKED),
    (
        "tck-stream-basic",
        &[Work, Artifact(STREAMED), Complete("")],
    ),
    ("tck-reject-task", &[Reject("rejected")]),
    (
        "test-resubscribe-message-id",
        &[Work, Sleep(Duration::from_secs(4)), Complete("done")],
    ),
    (
        "tck-long-running",
        &[Work, Sleep(Duration::from_secs(5)), Complete("done")],
    ),
    ("tck-multi-turn", &[AskOnce]),
    ("tck-cancel", &[Work, Hang]),
    ("tck-task-failure", &[Work, Fail("failed as asked")]),
    (
        "tck-auth-required",
        &[AskForCredentials("credentials are needed")],
    ),
    ("portcullis-agent", &[Agent]),
];

const CHUNKED: &[Step] = &[Work, Artifact(CHUNK_1), LastChunk(CHUNK_2), Complete("")];

/// What to do on a message with this id and this text.
pub(crate) fn of(message_id: &str, text: &str) -> &'static [Step] {
    [message_id, text]
        .into_iter()
        .find_map(|said| {
            BEHAVIOURS
                .iter()
                .find(|(prefix, _)| said.starts_with(prefix))
        })
        .map_or(&[Complete("Hello from the agent")], |(_, steps)| steps)
}
