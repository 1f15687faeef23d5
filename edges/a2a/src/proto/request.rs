map!(SendMessageRequest {
    tenant,
    message,
    configuration,
    metadata
});
map!(SendMessageConfiguration {
    accepted_output_modes,
    task_push_notification_config,
    history_length,
    return_immediately,
});
map!(GetTaskRequest {
    tenant,
    id,
    history_length
});
map!(ListTasksRequest {
    tenant,
    context_id,
    status,
    page_size,
    page_token,
    history_length,
    status_timestamp_after,
    include_artifacts,
});
map!(ListTasksResponse {
    tasks,
    next_page_token,
    page_size,
    total_size
});
map!(CancelTaskRequest {
    tenant,
    id,
    metadata
});
map!(SubscribeToTaskRequest { tenant, id });
map!(GetExtendedAgentCardRequest { tenant });
