//! Tasks that a message refers to.

use portcullis_a2a::{
    model::{Artifact, Part, TaskState},
    server::{RequestContext, Server, executor_fn},
};
use serde_json::{Value, json};

use crate::support::{call_as, card, send, server_of, user};

/// Answers with the ids and texts of the tasks that a message refers to.
fn librarian() -> Server {
    let executor = executor_fn(async |cx: RequestContext, out| {
        let mut found = Vec::new();
        for task in cx.reference_tasks().await.expect("the log reads") {
            let text = match task.artifacts.first().map(|artifact| &artifact.parts[0]) {
                Some(Part { content, .. }) => format!("{content:?}"),
                None => "nothing".to_owned(),
            };
            found.push(format!("{} {text}", task.id));
        }
        out.emit(Artifact::text("a-1", found.join(", "))).await;
        out.emit(cx.status(TaskState::Completed)).await;
    });
    server_of(Server::builder(executor, card()))
}

fn refers(ids: &[&str]) -> Value {
    let mut params = send("x");
    params["message"]["referenceTaskIds"] = json!(ids);
    params
}

// A2A-OP-23, O-A02: what the caller may not read is as if it were not named.
#[tokio::test]
async fn an_executor_reads_what_its_caller_may_read() {
    let server = librarian();
    let ask = async |caller: &portcullis_a2a::server::Caller, ids: &[&str]| {
        let answer = call_as(&server, caller, "SendMessage", &refers(ids)).await;
        let task = answer.expect("a task")["task"].clone();
        let text = task["artifacts"][0]["parts"][0]["text"]
            .as_str()
            .map(str::to_owned);
        (
            task["id"].as_str().expect("an id").to_owned(),
            text.unwrap_or_default(),
        )
    };
    let (mine, nothing) = ask(&user("a"), &[]).await;
    assert_eq!(nothing, "");
    let (_, found) = ask(&user("a"), &[&mine, "absent", &mine]).await;
    assert_eq!(found.matches(&mine).count(), 2, "{found}");
    for other in [user("b"), user("a").in_tenant("acme")] {
        let (_, found) = ask(&other, &[&mine, "absent"]).await;
        assert_eq!(found, "");
    }
    let many = vec![mine.as_str(); 40];
    let (_, found) = ask(&user("a"), &many).await;
    assert_eq!(found.matches(&mine).count(), RequestContext::REFERENCES);
}
