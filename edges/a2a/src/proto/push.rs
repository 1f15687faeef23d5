map!(TaskPushNotificationConfig {
    tenant,
    id,
    task_id,
    url,
    token,
    authentication
});
map!(AuthenticationInfo {
    scheme,
    credentials
});
map!(GetTaskPushNotificationConfigRequest {
    tenant,
    task_id,
    id
});
map!(DeleteTaskPushNotificationConfigRequest {
    tenant,
    task_id,
    id
});
map!(ListTaskPushNotificationConfigsRequest {
    task_id,
    page_size,
    page_token,
    tenant
});
map!(ListTaskPushNotificationConfigsResponse {
    configs,
    next_page_token
});
