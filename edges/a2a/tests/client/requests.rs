//! What the client sends.

use portcullis::TraceContext;
use portcullis_a2a::model::{
    CancelTaskRequest, GetTaskRequest, ListTasksRequest, SubscribeToTaskRequest,
};
use serde_json::json;

use crate::support::{DONE, Fake, TASK, frames, message};

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

#[tokio::test]
async fn the_trace_goes_with_a_call_that_has_one() {
    // A2A-SEC-20
    let fake = Fake::json(TASK);
    let client = fake.client();
    let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let trace: TraceContext = parent.parse().unwrap();
    let stated = trace.clone().with_tracestate("a=1,b=2").unwrap();
    for trace in [Some(&trace), Some(&stated), None] {
        let client = client.clone().in_trace(trace);
        drop(client.send_message(&message()).await);
    }
    drop(
        client
            .in_trace(Some(&trace))
            .in_trace(None)
            .send_message(&message())
            .await,
    );
    let sent: Vec<_> = fake
        .asked()
        .iter()
        .map(|asked| ["traceparent", "tracestate"].map(|name| asked.headers.get(name).cloned()))
        .map(|headers| headers.map(|value| value.map(|value| value.to_str().unwrap().to_owned())))
        .collect();
    let parent = Some(parent.to_owned());
    assert_eq!(
        sent,
        [
            [parent.clone(), None],
            [parent, Some("a=1,b=2".to_owned())],
            [None, None],
            [None, None],
        ]
    );
}
