//! Lists, page after page.

use futures_util::{StreamExt, TryStreamExt};
use portcullis_a2a::{
    client::CallError,
    model::{ListTaskPushNotificationConfigsRequest, ListTasksRequest},
};
use serde_json::{Value, json};

use crate::scripted::{Reply, Scripted};

fn page(ids: &[&str], next: Option<&str>) -> Reply {
    let tasks: Vec<Value> = ids
        .iter()
        .map(|id| json!({"id": id, "status": {"state": "TASK_STATE_COMPLETED"}}))
        .collect();
    let mut page = json!({"tasks": tasks, "totalSize": 99, "pageSize": 2});
    if let Some(next) = next {
        page["nextPageToken"] = json!(next);
    }
    Reply::Result(page)
}

fn request() -> ListTasksRequest {
    let mut request = ListTasksRequest::default();
    request.context_id = "c".to_owned();
    request
}

#[tokio::test]
async fn every_page_in_its_order() {
    // A2A-OP-77: an empty page is not the last one; no token at all is.
    for last in [Some(""), None] {
        let server = Scripted::new([
            page(&["1", "2"], Some("a")),
            page(&[], Some("b")),
            page(&["3"], Some("c")),
            page(&["4"], last),
        ]);
        let tasks = server.client().list_all_tasks(request());
        let ids: Vec<_> = tasks.map_ok(|task| task.id).try_collect().await.unwrap();
        assert_eq!(ids, ["1", "2", "3", "4"]);
        let tokens: Vec<_> = server
            .calls()
            .into_iter()
            .map(|call| {
                assert_eq!(call.params["contextId"], "c", "the filter stays");
                call.params["pageToken"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned()
            })
            .collect();
        assert_eq!(tokens, ["", "a", "b", "c"]);
    }
}

#[tokio::test]
async fn a_page_is_fetched_when_it_is_needed() {
    let server = Scripted::new([page(&["1", "2"], Some("a")), page(&["3"], None)]);
    let mut tasks = server.client().list_all_tasks(request());
    assert_eq!(server.calls().len(), 0, "nobody has asked yet");
    for _ in 0..2 {
        tasks.next().await.unwrap().unwrap();
        assert_eq!(server.calls().len(), 1);
    }
    tasks.next().await.unwrap().unwrap();
    assert_eq!(server.calls().len(), 2);
    assert!(tasks.next().await.is_none());
    assert!(tasks.next().await.is_none());
}

#[tokio::test]
async fn an_error_is_the_last_item() {
    let server = Scripted::new([page(&["1"], Some("a")), Reply::Refused(-32602)]);
    let items: Vec<_> = server.client().list_all_tasks(request()).collect().await;
    assert!(
        matches!(&items[..], [Ok(_), Err(CallError::Refused(_))]),
        "{items:?}"
    );
}

#[tokio::test]
async fn a_circle_is_left() {
    let round = [
        page(&["1"], Some("a")),
        page(&["2"], Some("b")),
        page(&[], Some("a")),
    ];
    let server = Scripted::new(round);
    let items: Vec<_> = server.client().list_all_tasks(request()).collect().await;
    assert!(
        matches!(&items[..], [Ok(_), Ok(_), Err(CallError::Protocol(_))]),
        "{items:?}"
    );
}

#[tokio::test]
async fn webhooks_too() {
    let page = |id: &str, next: &str| {
        Reply::Result(
            json!({"configs": [{"id": id, "taskId": "t", "url": "https://h/"}], "nextPageToken": next}),
        )
    };
    let server = Scripted::new([page("1", "a"), page("2", "")]);
    let request = ListTaskPushNotificationConfigsRequest::new("t");
    let configs = server.client().list_all_push_configs(request);
    let ids: Vec<_> = configs
        .map_ok(|config| config.id)
        .try_collect()
        .await
        .unwrap();
    assert_eq!(ids, ["1", "2"]);
}
