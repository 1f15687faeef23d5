//! What gRPC carries as text, since its numbers are floats, is the event again.

use portcullis::Json;
use portcullis_a2a::model::{Metadata, StreamResponse, Task};

pub(crate) fn task(mut task: Task) -> Task {
    metadata(&mut task.metadata);
    for artifact in &mut task.artifacts {
        metadata(&mut artifact.metadata);
    }
    task
}

pub(crate) fn response(response: StreamResponse) -> StreamResponse {
    match response {
        StreamResponse::Task(it) => StreamResponse::Task(task(it)),
        StreamResponse::StatusUpdate(mut update) => {
            metadata(&mut update.metadata);
            StreamResponse::StatusUpdate(update)
        }
        StreamResponse::ArtifactUpdate(mut update) => {
            metadata(&mut update.artifact.metadata);
            StreamResponse::ArtifactUpdate(update)
        }
        other => other,
    }
}

fn metadata(metadata: &mut Metadata) {
    if metadata.is_empty() {
        return;
    }
    *metadata = metadata
        .iter()
        .fold(Metadata::new(), |plain, (name, value)| {
            let text = value.decode::<String>().ok();
            let event = text.and_then(|text| Json::from_text(text).ok());
            plain.with(name, event.unwrap_or_else(|| value.clone()))
        });
}
