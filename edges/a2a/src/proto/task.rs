map!(Task {
    id,
    context_id,
    status,
    artifacts,
    history,
    metadata
});
map!(TaskStatus {
    state,
    message,
    timestamp
});
map!(Message {
    message_id,
    context_id,
    task_id,
    role,
    parts,
    metadata,
    extensions,
    reference_task_ids,
});
map!(Artifact {
    artifact_id,
    name,
    description,
    parts,
    metadata,
    extensions
});
map!(TaskStatusUpdateEvent {
    task_id,
    context_id,
    status,
    metadata
});
map!(TaskArtifactUpdateEvent {
    task_id,
    context_id,
    artifact,
    append,
    last_chunk,
    metadata,
});
map_oneof!(StreamResponse {
    stream_response::Payload in payload;
    Task as Task = "task",
    Message as Message = "message",
    StatusUpdate as StatusUpdate = "statusUpdate",
    ArtifactUpdate as ArtifactUpdate = "artifactUpdate",
});
map_oneof!(SendMessageResponse {
    send_message_response::Payload in payload;
    Task as Task = "task",
    Message as Message = "message",
});
