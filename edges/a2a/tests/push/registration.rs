use std::time::Duration;

use portcullis_a2a::{
    model::{AuthenticationInfo, ErrorKind, TaskPushNotificationConfig},
    server::{
        Server, executor_fn,
        push::{MemoryPushStore, Push, PushLimits, Registration, Screening},
    },
};
use serde_json::{Value, json};

use crate::support::{Does, Receiver, Rig, card, sending, user, work};

const CREATE: &str = "CreateTaskPushNotificationConfig";
const GET: &str = "GetTaskPushNotificationConfig";
const LIST: &str = "ListTaskPushNotificationConfigs";
const DELETE: &str = "DeleteTaskPushNotificationConfig";

fn create(url: &str) -> Value {
    json!({"taskId": "t-1", "url": url})
}

/// A task that is over, and one receiver that takes all.
async fn rig() -> Rig {
    let rig = Rig::new(Receiver::new([]));
    let message =
        json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "go"}]}});
    rig.call("SendMessage", message).await.unwrap();
    rig
}

/// EX-15.
#[tokio::test]
async fn ex_15_create_get_list_delete() {
    let rig = rig().await;
    let config = json!({"taskId": "t-1", "url": "https://hooks.example.net/a2a", "token": "tok-2",
        "authentication": {"scheme": "Bearer", "credentials": "s3cret"}});
    let created = rig.call(CREATE, config.clone()).await.unwrap();
    let mut stored = config.clone();
    stored["id"] = json!("p-1");
    assert_eq!(created, stored);
    let shown = json!({"id": "p-1", "taskId": "t-1", "url": "https://hooks.example.net/a2a",
        "authentication": {"scheme": "Bearer"}});
    let name = json!({"taskId": "t-1", "id": "p-1"});
    assert_eq!(rig.call(GET, name.clone()).await.unwrap(), shown);
    // O-P09, A2A-OP-77.
    let listed = rig.call(LIST, json!({"taskId": "t-1"})).await.unwrap();
    assert_eq!(listed["configs"], json!([shown]));
    for _ in 0..2 {
        assert_eq!(rig.call(DELETE, name.clone()).await.unwrap(), json!({}));
    }
    let error = rig.call(GET, name).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TaskNotFound);
    assert_eq!(error.message(), "Push notification config not found");
    let details = serde_json::to_value(error.details()).unwrap();
    assert_eq!(
        details[0]["metadata"],
        json!({"taskId": "t-1", "configId": "p-1"})
    );
    assert!(rig.list("t-1").await.is_empty());
}

/// A2A-OP-94, A2A-OP-96, O-P08: ids are the server's, and one that is named twice is one.
#[tokio::test]
async fn ids_are_made_or_replaced() {
    let rig = rig().await;
    for url in ["https://one.example.net/", "https://two.example.net/"] {
        rig.call(CREATE, create(url)).await.unwrap();
    }
    let mut third = create("https://three.example.net/");
    third["id"] = json!("p-1");
    rig.call(CREATE, third).await.unwrap();
    let listed = rig.list("t-1").await;
    let urls: Vec<&str> = listed
        .iter()
        .map(|config| config["url"].as_str().unwrap())
        .collect();
    assert_eq!(
        urls,
        ["https://three.example.net/", "https://two.example.net/"]
    );
}

/// A2A-OP-97, O-P01, A2A-PUSH-13: through both doors, and with the one switch.
#[tokio::test(start_paused = true)]
async fn private_addresses_are_refused_through_both_doors() {
    let rig = rig().await;
    let refused = [
        "http://hooks.example.net/",
        "https://127.0.0.1/",
        "https://127.0.0.1:8443/x",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]:1/",
        "https://10.1.2.3/",
        "https://169.254.169.254/latest/meta-data",
        "https://localhost/",
        "https://LOCALHOST./",
        "https://a.localhost/",
        "https://printer.local/",
        "https://db.internal/",
        "https://intranet/",
        "https://0x7f.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://hooks.example.net:0/",
        "https://hooks.example.net:99999/",
        "https://[::1/",
        "https:///path",
        "file:///etc/hostname",
        "ftp://hooks.example.net/",
        "https://user:secret@hooks.example.net/",
        "https://hooks.example.net/#x",
        "hooks.example.net",
        "",
    ];
    for url in refused {
        let error = rig.call(CREATE, create(url)).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams, "{url}");
        let inline = sending("go", &json!({ "url": url }));
        let error = rig.call("SendMessage", inline).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams, "{url}");
        let field = error.violations()[0].field();
        assert_eq!(
            field, "configuration.taskPushNotificationConfig.url",
            "{url}"
        );
    }
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert!(rig.receiver.attempts().is_empty());
    for url in [
        "https://hooks.example.net/a?b=c",
        "HTTPS://93.184.216.34:8443/",
        "https://[2606:4700::1111]/",
    ] {
        rig.call(CREATE, create(url)).await.unwrap();
    }
    // The switch.
    let push = Push::new(rig.receiver.clone()).screening(Screening::Private);
    let server = Server::builder(executor_fn(work), card())
        .push(push)
        .build();
    let params = sending("go", &json!({"url": "http://127.0.0.1:9/"})).to_string();
    let caller = portcullis_a2a::server::Caller::new();
    server
        .handle(&caller, "SendMessage", Some(&params))
        .await
        .unwrap();
    rig.receiver.attempted(4).await;
}

/// A2A-PUSH-4: what cannot be sent is refused, and nothing that would be a header of its own.
#[tokio::test]
async fn credentials_that_cannot_be_sent_are_refused() {
    let rig = rig().await;
    for (scheme, credentials, token) in [
        ("Digest", "x", ""),
        ("NTLM", "x", ""),
        ("Two words", "x", ""),
        ("", "x", ""),
        ("Bearer", "a\r\nX-Evil: 1", ""),
        ("Bearer", "caf\u{e9}", ""),
        ("Bearer", "x", "a\nb"),
    ] {
        let mut config = create("https://hooks.example.net/");
        config["authentication"] = json!({"scheme": scheme, "credentials": credentials});
        config["token"] = json!(token);
        let error = rig.call(CREATE, config).await.unwrap_err();
        assert_eq!(
            error.kind(),
            ErrorKind::InvalidParams,
            "{scheme} {credentials:?} {token:?}"
        );
    }
}

/// A2A-OP-98, A2A-OP-101, A2A-OP-103, O-P10: tasks of others are no tasks, and deliveries need no
/// caller.
#[tokio::test(start_paused = true)]
async fn webhooks_of_others_are_not_there() {
    let rig = Rig::new(Receiver::new([]));
    let (ann, bob) = (user("ann"), user("bob"));
    for (caller, url) in [
        (&ann, "https://ann.example.net/"),
        (&bob, "https://bob.example.net/"),
    ] {
        let webhook = json!({"id": "w", "url": url});
        rig.call_as(caller, "SendMessage", sending("go", &webhook))
            .await
            .unwrap();
    }
    rig.receiver.attempted(8).await;
    for (url, task) in [
        ("https://ann.example.net/", "t-1"),
        ("https://bob.example.net/", "t-2"),
    ] {
        let attempts = rig.receiver.attempts();
        let of: Vec<_> = attempts
            .iter()
            .filter(|attempt| attempt.url == url)
            .collect();
        assert_eq!(of.len(), 4);
        assert!(of.iter().all(|attempt| attempt.id.starts_with(task)));
    }
    let name = json!({"taskId": "t-1", "id": "w"});
    let unknown = json!({"taskId": "t-9", "id": "w"});
    for (method, params) in [
        (CREATE, create("https://evil.example.net/")),
        (GET, name.clone()),
        (LIST, json!({"taskId": "t-1"})),
        (DELETE, name.clone()),
    ] {
        let error = rig.call_as(&bob, method, params).await.unwrap_err();
        let never = match method {
            CREATE => json!({"taskId": "t-9", "url": "https://evil.example.net/"}),
            LIST => json!({"taskId": "t-9"}),
            _ => unknown.clone(),
        };
        let same = rig.call_as(&ann, method, never).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TaskNotFound, "{method}");
        assert_eq!(error.message(), same.message(), "{method}");
    }
    rig.call_as(&ann, GET, name).await.unwrap();
}

/// O-P11, over the operations.
#[tokio::test]
async fn the_number_of_webhooks_is_bounded() {
    let mut limits = PushLimits::default();
    limits.per_task = 10;
    let rig = Rig::with(Receiver::new([]), limits);
    let mut params = sending(
        "slow",
        &json!({"id": "0", "url": "https://hooks.example.net/"}),
    );
    params["configuration"]["returnImmediately"] = json!(true);
    rig.call("SendMessage", params).await.unwrap();
    let creates = (0..50).map(|_| rig.call(CREATE, create("https://hooks.example.net/")));
    let outcomes = futures_util::future::join_all(creates).await;
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 9);
    for error in outcomes.into_iter().filter_map(Result::err) {
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
    }
    // One that is there may be changed.
    let mut known = create("https://hooks.example.net/2");
    known["id"] = json!("0");
    rig.call(CREATE, known).await.unwrap();
}

// A2A-OP-100
#[tokio::test]
async fn lists_have_pages() {
    let rig = rig().await;
    for number in 0..5 {
        let mut config = create("https://hooks.example.net/");
        config["id"] = json!(number.to_string());
        rig.call(CREATE, config).await.unwrap();
    }
    let mut token = String::new();
    let mut found = Vec::new();
    for expected in [2, 2, 1] {
        let params = json!({"taskId": "t-1", "pageSize": 2, "pageToken": token});
        let page = rig.call(LIST, params).await.unwrap();
        let configs = page["configs"].as_array().unwrap();
        assert_eq!(configs.len(), expected);
        found.extend(
            configs
                .iter()
                .map(|config| config["id"].as_str().unwrap().to_owned()),
        );
        page["nextPageToken"]
            .as_str()
            .unwrap_or_default()
            .clone_into(&mut token);
    }
    assert_eq!(token, "");
    assert_eq!(found, ["0", "1", "2", "3", "4"]);
    for params in [
        json!({"taskId": "t-1", "pageSize": -1}),
        json!({"taskId": "t-1", "pageToken": "x"}),
        json!({"taskId": "t-1", "pageToken": "OTk"}),
    ] {
        let error = rig.call(LIST, params).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
    }
}

/// A2A-OP-4, A2A-OP-53: only where it is switched on, whatever the card says.
#[tokio::test]
async fn without_push_there_are_no_webhooks() {
    let mut declared = card();
    declared.capabilities.push_notifications = Some(true);
    let server = Server::builder(executor_fn(work), declared).build();
    assert_eq!(server.card().capabilities.push_notifications, Some(false));
    assert!(server.push_stats().is_none());
    let with = Server::builder(executor_fn(work), card())
        .push(Push::new(Receiver::new([])).store(std::sync::Arc::new(MemoryPushStore::new())))
        .build();
    assert_eq!(with.card().capabilities.push_notifications, Some(true));
}

/// A webhook that was there before is no guest of a message that is refused.
#[tokio::test(start_paused = true)]
async fn a_refused_message_takes_nothing_with_it() {
    let rig = Rig::new(Receiver::new([]));
    let mut params = sending(
        "slow",
        &json!({"id": "w", "url": "https://hooks.example.net/"}),
    );
    params["configuration"]["returnImmediately"] = json!(true);
    rig.call("SendMessage", params).await.unwrap();
    for id in ["w", "new"] {
        let mut second = sending(
            "more",
            &json!({"id": id, "url": "https://hooks.example.net/2"}),
        );
        second["message"]["taskId"] = json!("t-1");
        let error = rig.call("SendMessage", second).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnsupportedOperation);
    }
    let listed = rig.list("t-1").await;
    assert_eq!(listed.len(), 1);
    assert_eq!(listed[0]["id"], "w");
    let mut other = sending(
        "go",
        &json!({"taskId": "t-7", "url": "https://hooks.example.net/"}),
    );
    let error = rig.call("SendMessage", other.take()).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidParams);
}

/// A2A-PUSH-14: no secret in what is printed.
#[test]
fn secrets_are_not_shown() {
    let mut config =
        TaskPushNotificationConfig::new("t", "https://hooks.example.net/path-s3cret?q=s3cret");
    config.token = "s3cret".to_owned();
    config.authentication = Some(AuthenticationInfo::new("Bearer", "s3cret"));
    let key = portcullis_a2a::log::TaskKey::new(portcullis_a2a::log::Owner::ANONYMOUS, "t");
    let registration = Registration::new(key, config, portcullis_a2a::log::Seq::ZERO);
    let shown = format!("{registration:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(shown.contains("https://hooks.example.net"), "{shown}");
    let _ = Does::Takes;
}
