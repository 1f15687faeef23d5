//! Streams of events: framing, silence, watchers that leave.

use std::time::Duration;

use serde_json::json;

use crate::support::{Step, rig};

fn texts(text: &str) -> Vec<Step> {
    match text {
        "silent" => vec![Step::working(), Step::wait(), Step::completed()],
        "large" => vec![
            Step::artifact(
                &json!({"artifactId": "a-1", "parts": [{"text": "x".repeat(2 << 20)}]}).to_string(),
            ),
            Step::completed(),
        ],
        "breaks" => vec![
            Step::artifact(
                "{\"artifactId\": \"a-1\",\n\"parts\": [{\"data\": {\"a\":\r\n[1,\n2]}}, {\"text\": \"line\\nline\"}]}",
            ),
            Step::completed(),
        ],
        "slow" => vec![
            Step::working(),
            Step::sleep(Duration::from_secs(1)),
            Step::completed(),
        ],
        "much" => [Step::working(), Step::wait()]
            .into_iter()
            .chain((0..5_000).map(|number| {
                let text = number.to_string();
                let chunk = json!({"artifactId": "a-1", "parts": [{"text": text}]}).to_string();
                if number == 0 {
                    Step::artifact(&chunk)
                } else {
                    Step::append(&chunk, false)
                }
            }))
            .chain([Step::completed()])
            .collect(),
        "panics at once" => vec![Step::panic()],
        _ => vec![Step::completed()],
    }
}

fn stream(text: &str) -> String {
    json!({"jsonrpc": "2.0", "id": "s", "method": "SendStreamingMessage", "params": {"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": text}]}}}).to_string()
}

// O-S07, A2A-RPC-20, A2A-REST-29: on both bindings of JSON.
#[tokio::test(start_paused = true)]
async fn comments_while_nothing_happens() {
    let rig = rig(texts);
    let body =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "silent"}]}});
    for mut watcher in [
        rig.watch(&stream("silent")).await,
        rig.rest_watch("POST", "/message:stream", &[], &body.to_string())
            .await,
    ] {
        watcher.next().await.unwrap();
        watcher.next().await.unwrap();
        let (before, began) = (watcher.comments, tokio::time::Instant::now());
        let waited = tokio::time::timeout(Duration::from_secs(61), watcher.next()).await;
        assert!(waited.is_err() && began.elapsed() == Duration::from_secs(61));
        assert_eq!(watcher.comments - before, 4, "one in 15 s");
        rig.go_on();
        let last = watcher.next().await.unwrap();
        let update = last.get("result").unwrap_or(&last)["statusUpdate"].clone();
        assert_eq!(update["status"]["state"], "TASK_STATE_COMPLETED");
        let comments = watcher.comments;
        assert!(watcher.next().await.is_none());
        assert_eq!(watcher.comments, comments, "none after the end");
    }
}

#[tokio::test]
async fn one_line_a_frame_whatever_passes_through() {
    // O-W11, O-S08, A2A-RPC-18, A2A-RPC-19
    let rig = rig(texts);
    let response = rig.post(&stream("breaks"), &[]).await;
    let text = String::from_utf8(response.body.to_vec()).unwrap();
    assert!(!text.contains('\r'));
    for event in text.split_terminator("\n\n") {
        let lines: Vec<_> = event.lines().collect();
        let (data, ids) = lines.split_last().unwrap();
        assert!(data.starts_with("data: {"), "{event}");
        assert!(ids.iter().all(|line| line.starts_with("id: ")), "{event}");
        let frame: serde_json::Value = serde_json::from_str(&data[6..]).unwrap();
        assert_eq!(
            (&frame["jsonrpc"], &frame["id"]),
            (&json!("2.0"), &json!("s"))
        );
        assert!(frame.get("result").is_some() != frame.get("error").is_some());
    }
    assert!(text.contains("line\\nline"), "{text}");
}

#[tokio::test]
async fn a_large_event_is_one_event() {
    // O-S04
    let rig = rig(texts);
    let mut watcher = rig.watch(&stream("large")).await;
    watcher.next().await.unwrap();
    let event = watcher.next().await.unwrap();
    let text = event["result"]["artifactUpdate"]["artifact"]["parts"][0]["text"]
        .as_str()
        .unwrap();
    assert_eq!(text.len(), 2 << 20);
}

#[tokio::test]
async fn ids_grow_and_a_stream_resumes_after_one() {
    // Ruling 16
    let rig = rig(texts);
    let mut watcher = rig.watch(&stream("silent")).await;
    let opened = watcher.next().await.unwrap();
    let id = opened["result"]["task"]["id"].as_str().unwrap().to_owned();
    let first = watcher.last_id.clone().unwrap();
    watcher.next().await.unwrap();
    let second = watcher.last_id.clone().unwrap();
    assert!(second.parse::<u64>().unwrap() > first.parse::<u64>().unwrap());
    drop(watcher);

    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": id}})
            .to_string();
    let mut resumed = rig.watch_after(&subscribe, &first).await;
    let task = resumed.next().await.unwrap();
    assert_eq!(
        task["result"]["task"]["status"]["state"], "TASK_STATE_SUBMITTED",
        "as of that event"
    );
    assert_eq!(
        resumed.next().await.unwrap()["result"]["statusUpdate"]["status"]["state"],
        "TASK_STATE_WORKING"
    );
    assert_eq!(resumed.last_id.as_deref(), Some(second.as_str()));
    rig.go_on();
    assert_eq!(
        resumed.next().await.unwrap()["result"]["statusUpdate"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    assert!(resumed.next().await.is_none());
}

#[tokio::test]
async fn a_watcher_that_leaves_ends_nothing() {
    // O-D01, O-D03, A2A-OP-66
    let rig = rig(texts);
    let mut caller = rig.watch(&stream("silent")).await;
    let opened = caller.next().await.unwrap();
    let id = opened["result"]["task"]["id"].clone();
    caller.next().await.unwrap();
    let subscribe =
        json!({"jsonrpc": "2.0", "id": 2, "method": "SubscribeToTask", "params": {"id": id}})
            .to_string();
    let mut stays = rig.watch(&subscribe).await;
    stays.next().await.unwrap();
    for _ in 0..100 {
        let mut leaves = rig.watch(&subscribe).await;
        leaves.next().await.unwrap();
    }
    drop(caller);
    assert_eq!(rig.watchers(), 1);
    rig.go_on();
    assert_eq!(
        stays.next().await.unwrap()["result"]["statusUpdate"]["status"]["state"],
        "TASK_STATE_COMPLETED"
    );
    assert!(stays.next().await.is_none());
    drop(stays);
    assert_eq!(rig.watchers(), 0);
}

#[tokio::test]
async fn a_watcher_whose_reads_fail_is_told_and_the_task_goes_on() {
    // EX-14, A2A-RPC-23, O-A03
    let rig = rig(texts);
    let mut watcher = rig.watch(&stream("silent")).await;
    let opened = watcher.next().await.unwrap();
    watcher.next().await.unwrap();
    rig.break_reads(true);
    rig.go_on();
    assert_eq!(
        watcher.next().await.unwrap(),
        json!({"jsonrpc": "2.0", "id": "s", "error": {"code": -32603, "message": "Internal error"}})
    );
    assert!(watcher.next().await.is_none());
    rig.break_reads(false);
    let get = json!({"jsonrpc": "2.0", "id": 2, "method": "GetTask", "params": {"id": opened["result"]["task"]["id"]}});
    let completed = async {
        while rig.post(&get.to_string(), &[]).await.json()["result"]["status"]["state"]
            != "TASK_STATE_COMPLETED"
        {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), completed)
        .await
        .expect("it completes");
}

#[tokio::test]
async fn a_panic_before_anything_is_a_failed_task() {
    // O-J08
    let rig = rig(texts);
    let blocking = stream("panics at once").replace("SendStreamingMessage", "SendMessage");
    let reply = rig.post(&blocking, &[]).await.json();
    let status = &reply["result"]["task"]["status"];
    assert_eq!(status["state"], "TASK_STATE_FAILED", "{reply}");
    assert!(!status.to_string().contains("secret"), "{reply}");

    let mut watcher = rig.watch(&stream("panics at once")).await;
    let mut last = None;
    while let Some(event) = watcher.next().await {
        last = Some(event);
    }
    let last = last.unwrap();
    assert!(last.to_string().contains("TASK_STATE_FAILED"), "{last}");
    let fine = rig.post(&stream("fine"), &[]).await;
    assert!(String::from_utf8_lossy(&fine.body).contains("TASK_STATE_COMPLETED"));
}

#[tokio::test(start_paused = true)]
async fn a_hundred_calls_wait_for_one_another_not_at_all() {
    // O-M02
    let rig = rig(texts);
    let request = stream("slow").replace("SendStreamingMessage", "SendMessage");
    let began = tokio::time::Instant::now();
    let replies = futures_util::future::join_all((0..100).map(|_| rig.post(&request, &[]))).await;
    assert!(
        replies.iter().all(
            |reply| reply.json()["result"]["task"]["status"]["state"] == "TASK_STATE_COMPLETED"
        )
    );
    assert!(
        began.elapsed() < Duration::from_millis(1_100),
        "{:?}",
        began.elapsed()
    );
}

// A2A-OP-65
#[tokio::test]
async fn a_watcher_that_does_not_read_misses_nothing_and_holds_up_nobody() {
    // O-M01, A2A-OP-66, ruling 17
    let rig = rig(texts);
    let mut fast = rig.watch(&stream("much")).await;
    let opened = fast.next().await.unwrap();
    let id = &opened["result"]["task"]["id"];
    let subscribe =
        json!({"jsonrpc": "2.0", "id": "s", "method": "SubscribeToTask", "params": {"id": id}})
            .to_string();
    let mut slow = rig.watch_after(&subscribe, "1").await;
    let mut seen = vec![opened];
    rig.go_on();
    while let Some(event) = fast.next().await {
        seen.push(event);
    }
    assert_eq!(seen.len(), 5_003);
    let mut late = Vec::new();
    while let Some(event) = slow.next().await {
        late.push(event);
    }
    assert_eq!(late[1..], seen[1..]);
}
