//! HTTP+JSON in version 0.3: ProtoJSON of its proto file, below `/v1`.

use serde_json::{Value, json};

use super::rig::{dual, says_in_proto};

/// A task comes wrapped, with the names of the proto file.
#[tokio::test]
async fn send_and_read() {
    let dual = dual();
    let reply = dual
        .send(
            "POST",
            "/rest/v1/message:send",
            &[],
            &says_in_proto("hi").to_string(),
        )
        .await;
    assert_eq!(reply.headers["content-type"], "application/json");
    let sent = reply.json();
    let task = &sent["task"];
    let id = task["id"].as_str().unwrap();
    assert_eq!(task["status"]["state"], "TASK_STATE_COMPLETED");
    let said = json!({
        "messageId": "m-u1", "contextId": task["contextId"], "taskId": id, "role": "ROLE_USER",
        "content": [{"text": "hi"}]
    });
    assert_eq!(task["history"], json!([said]));
    assert_eq!(
        task["artifacts"],
        json!([{"artifactId": "a-1", "parts": [{"text": "hi"}]}])
    );
    assert!(!reply.text.contains("\"kind\""), "{}", reply.text);

    // T-47: there 0 is all of it.
    for (query, messages) in [("", 1), ("?historyLength=0", 1), ("?historyLength=5", 1)] {
        let reply = dual
            .send("GET", &format!("/rest/v1/tasks/{id}{query}"), &[], "")
            .await
            .json();
        assert_eq!(
            reply["history"].as_array().map(Vec::len),
            Some(messages),
            "{query}"
        );
    }
    let mut asks = says_in_proto("hi");
    asks["configuration"] = json!({"historyLength": 0, "blocking": true});
    let reply = dual
        .send("POST", "/rest/v1/message:send", &[], &asks.to_string())
        .await
        .json();
    assert_eq!(
        reply["task"]["history"].as_array().map(Vec::len),
        Some(1),
        "{reply:#}"
    );
}

/// ProtoJSON leaves false out, so who sends wishes without `blocking` does not wait.
#[tokio::test]
async fn who_does_not_block() {
    let dual = dual();
    let mut body = says_in_proto("hang");
    for wishes in [
        json!({}),
        json!({"blocking": false}),
        json!({"acceptedOutputModes": ["text/plain"]}),
    ] {
        body["configuration"] = wishes;
        let reply = dual
            .send("POST", "/rest/v1/message:send", &[], &body.to_string())
            .await
            .json();
        assert_eq!(
            reply["task"]["status"]["state"], "TASK_STATE_SUBMITTED",
            "{reply:#}"
        );
    }
}

/// A2A-COMPAT-4 and T-45: named frames, `final`, two L; joined by either verb; T-36.
#[tokio::test]
async fn streams() {
    let dual = dual();
    let reply = dual
        .send(
            "POST",
            "/rest/v1/message:stream",
            &[],
            &says_in_proto("ask").to_string(),
        )
        .await;
    let frames = reply.frames();
    let names: Vec<_> = frames
        .iter()
        .map(|frame| frame.as_object().unwrap().keys().next().unwrap().as_str())
        .collect();
    assert_eq!(names, ["task", "statusUpdate", "statusUpdate"]);
    assert_eq!(frames[1]["statusUpdate"]["final"], false);
    let last = &frames[2]["statusUpdate"];
    assert_eq!(last["final"], true, "{last:#}");
    assert_eq!(last["status"]["state"], "TASK_STATE_INPUT_REQUIRED");
    assert_eq!(last["status"]["message"]["role"], "ROLE_AGENT");
    assert_eq!(
        last["status"]["message"]["content"],
        json!([{"text": "which?"}])
    );

    let id = frames[0]["task"]["id"].as_str().unwrap();
    let canceled = dual
        .send("POST", &format!("/rest/v1/tasks/{id}:cancel"), &[], "")
        .await
        .json();
    assert_eq!(
        canceled["status"]["state"], "TASK_STATE_CANCELLED",
        "{canceled:#}"
    );
    for verb in ["GET", "POST"] {
        let reply = dual
            .send(verb, &format!("/rest/v1/tasks/{id}:subscribe"), &[], "")
            .await;
        let frames = reply.frames();
        assert_eq!(frames.len(), 1, "{verb}: {frames:#?}");
        assert_eq!(frames[0]["task"]["status"]["state"], "TASK_STATE_CANCELLED");
    }
}

/// A webhook comes as the whole request or as its `config` alone, and goes out by its full name.
#[tokio::test]
async fn webhooks() {
    let dual = dual();
    let sent = dual
        .send(
            "POST",
            "/rest/v1/message:send",
            &[],
            &says_in_proto("hi").to_string(),
        )
        .await
        .json();
    let id = sent["task"]["id"].as_str().unwrap();
    let place = format!("/rest/v1/tasks/{id}/pushNotificationConfigs");
    let name = |webhook: &str| format!("tasks/{id}/pushNotificationConfigs/{webhook}");
    let webhook = |webhook: &str| json!({"id": webhook, "url": "https://hooks.example.net/a", "token": "tok"});
    let whole = json!({
        "parent": format!("tasks/{id}"), "configId": "w-1",
        "config": {"name": name("w-1"), "pushNotificationConfig": webhook("w-1")}
    });
    let reply = dual
        .send("POST", &place, &[], &whole.to_string())
        .await
        .json();
    assert_eq!(
        reply,
        json!({"name": name("w-1"), "pushNotificationConfig": webhook("w-1")})
    );
    let alone = json!({"name": name("w-2"), "pushNotificationConfig": webhook("w-2")});
    let reply = dual
        .send("POST", &place, &[], &alone.to_string())
        .await
        .json();
    assert_eq!(reply, alone);
    let by_id = json!({"configId": "w-3", "config": {"pushNotificationConfig": {"url": "https://hooks.example.net/a"}}});
    let reply = dual
        .send("POST", &place, &[], &by_id.to_string())
        .await
        .json();
    assert_eq!(reply["name"], name("w-3"), "{reply:#}");

    let shown = |webhook: &str| json!({"name": name(webhook), "pushNotificationConfig": {"id": webhook, "url": "https://hooks.example.net/a"}});
    let reply = dual
        .send("GET", &format!("{place}/w-1"), &[], "")
        .await
        .json();
    assert_eq!(reply, shown("w-1"));
    let reply = dual
        .send("GET", &format!("{place}?pageSize=2"), &[], "")
        .await
        .json();
    assert_eq!(reply["configs"], json!([shown("w-1"), shown("w-2")]));
    let token = reply["nextPageToken"].as_str().unwrap();
    let reply = dual
        .send("GET", &format!("{place}?pageToken={token}"), &[], "")
        .await
        .json();
    assert_eq!(reply, json!({"configs": [shown("w-3")]}));
    let reply = dual.send("DELETE", &format!("{place}/w-1"), &[], "").await;
    assert_eq!((reply.status, reply.json()), (200, json!({})));
    let reply = dual.send("GET", &format!("{place}/w-1"), &[], "").await;
    assert_eq!(reply.status, 404);
}

/// The card of a caller, which readers of either form read.
#[tokio::test]
async fn the_card_of_a_caller() {
    let dual = dual().as_somebody("ann");
    let card = dual.send("GET", "/rest/v1/card", &[], "").await.json();
    assert_eq!(card["protocolVersion"], "0.3.0");
    let ids: Vec<&Value> = card["skills"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skill| &skill["id"])
        .collect();
    assert_eq!(ids, ["main", "more"]);
}
