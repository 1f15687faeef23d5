//! Streams of a real server that are cut at every place: over each binding the caller reads what it
//! would have read.

use std::time::Duration;

use futures_util::StreamExt;
use portcullis_a2a::{
    client::{Binding, CallError, Client, Resume},
    model::{Message, Part, SendMessageRequest, StreamResponse},
};

use crate::{
    cutting::Cutting,
    support::{Step, rig},
};

/// Something new every ten seconds, so that every cut is taken up before the next.
fn slowly(_: &str) -> Vec<Step> {
    let pause = || Step::sleep(Duration::from_secs(10));
    vec![
        Step::working(),
        pause(),
        Step::artifact(r#"{"artifactId": "a", "parts": [{"text": "né "}]}"#),
        pause(),
        Step::append(r#"{"artifactId": "a", "parts": [{"text": "漢"}]}"#, false),
        pause(),
        Step::Status(portcullis_a2a::model::TaskState::Working, "half way"),
        pause(),
        Step::artifact(r#"{"artifactId": "b", "parts": [{"data": {"n": 1.5}}, {"text": "x"}]}"#),
        pause(),
        Step::append(r#"{"artifactId": "a", "parts": [{"raw": "AAEC"}]}"#, true),
        pause(),
        Step::completed(),
    ]
}

/// What a caller reads: one line an event.
async fn read(binding: Binding, cuts: &[usize]) -> Result<Vec<String>, CallError> {
    let rig = rig(slowly);
    let service = Cutting::new(rig.service(), cuts);
    let url = match binding {
        Binding::JsonRpc => "http://in.process/rpc",
        Binding::Rest => "http://in.process/rest",
        _ => "http://in.process",
    };
    let client = Client::over(binding, service, url.parse().unwrap());
    let message = SendMessageRequest::new(Message::user("m-1", [Part::text("go")]));
    let stream = client.send_streaming_message(&message).await?;
    let mut stream = client.resuming(stream, Resume::new());
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        lines.push(match event?.response {
            StreamResponse::Task(task) => format!("task {}", task.status.state.as_str()),
            StreamResponse::StatusUpdate(update) => {
                let said = update.status.message.as_ref().map(Message::text);
                format!("{} {said:?}", update.status.state.as_str())
            }
            StreamResponse::ArtifactUpdate(update) => {
                let parts = serde_json::to_string(&update.artifact.parts).unwrap();
                format!("{} {} {parts}", update.artifact.artifact_id, update.append)
            }
            other => format!("{other:?}"),
        });
    }
    Ok(lines)
}

#[tokio::test(start_paused = true)]
async fn a_cut_anywhere_is_not_seen() {
    // A2A-OP-61, O-S10, ruling 16
    for binding in [Binding::JsonRpc, Binding::Rest, Binding::Grpc] {
        let whole = read(binding, &[]).await.unwrap();
        assert_eq!(whole.len(), 8, "{whole:?}");
        let mut resumed = 0;
        for cut in (0..2_200).step_by(23) {
            // Once more soon after, then late, then never.
            match read(binding, &[cut, 11 + cut % 300, 600]).await {
                Ok(lines) => {
                    assert_eq!(lines, whole, "{binding}, cut after {cut} bytes");
                    resumed += 1;
                }
                // No task was named, so there is none to come back to.
                Err(error) => {
                    let is_early = matches!(
                        error,
                        CallError::Cut { task_id: None, .. } | CallError::Transport(_)
                    );
                    assert!(is_early, "{binding}, cut after {cut} bytes: {error:?}");
                }
            }
        }
        assert!(resumed > 70, "{binding}: {resumed}");
    }
}
