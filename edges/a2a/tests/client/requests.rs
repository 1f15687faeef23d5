//! What the client sends.

use portcullis_a2a::model::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest,
};
use serde_json::json;

use crate::support::{DONE, Fake, frames, message};

#[tokio::test]
async fn version_extensions_and_tenant_go_with_every_request() {
    // O-V02, O-V05, O-C06, A2A-CARD-19
    let fake = Fake::events(frames(&[DONE]));
    let client = fake.client().tenant("acme").extensions(["urn:a", "urn:b"]);
    // The answers do not matter here, and are wrong for some.
    drop(client.send_message(&message()).await);
    drop(client.send_streaming_message(&message()).await);
    drop(client.get_task(&GetTaskRequest::new("t")).await);
    drop(client.list_tasks(&ListTasksRequest::default()).await);
    drop(client.cancel_task(&CancelTaskRequest::new("t")).await);
    drop(
        client
            .subscribe_to_task(&SubscribeToTaskRequest::new("t"), Some("41"))
            .await,
    );
    let asked = fake.asked();
    let methods: Vec<_> = asked
        .iter()
        .map(|asked| asked.body["method"].as_str().unwrap())
        .collect();
    assert_eq!(
        methods,
        [
            "SendMessage",
            "SendStreamingMessage",
            "GetTask",
            "ListTasks",
            "CancelTask",
            "SubscribeToTask"
        ]
    );
    for (index, asked) in asked.iter().enumerate() {
        assert_eq!(asked.uri, "http://agent.example/rpc");
        assert_eq!(asked.headers["a2a-version"], "1.0");
        assert_eq!(asked.headers["a2a-extensions"], "urn:a,urn:b");
        assert_eq!(asked.headers["content-type"], "application/json");
        assert_eq!(asked.body["params"]["tenant"], "acme");
        assert_eq!(asked.body["id"], json!(index + 1), "ids are unique");
        assert_eq!(asked.headers.get("last-event-id").is_some(), index == 5);
    }
}
