//! HTTP+JSON: routes, queries, bodies, statuses.

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::{
    rest_golden::{now, say},
    support::{Rig, Step, card, rig, rig_of},
};

fn texts(text: &str) -> Vec<Step> {
    match text {
        "artifact" => vec![
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "hello"}]}"#),
            Step::completed(),
        ],
        "wait" => vec![Step::working(), Step::wait(), Step::completed()],
        "wait twice" => vec![
            Step::working(),
            Step::wait(),
            Step::artifact(r#"{"artifactId": "a-1", "parts": [{"text": "one"}]}"#),
            Step::wait(),
            Step::completed(),
        ],
        "ask" => vec![Step::input_required("what?")],
        _ => vec![Step::completed()],
    }
}

async fn send(rig: &Rig, body: &Value) -> Value {
    let reply = rig
        .rest("POST", "/message:send", &[], &body.to_string())
        .await;
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["task"].clone()
}

async fn task_id(rig: &Rig, text: &str) -> String {
    let reply = rig.rest("POST", "/message:send", &[], &now(text)).await;
    reply.json()["task"]["id"].as_str().unwrap().to_owned()
}

fn reason(error: &Value) -> &str {
    error["error"]["details"][0]["reason"]
        .as_str()
        .unwrap_or("-")
}

fn fields(error: &Value) -> Vec<&str> {
    let details = error["error"]["details"].as_array().unwrap();
    let violations = details
        .iter()
        .filter_map(|detail| detail["fieldViolations"].as_array());
    violations
        .flatten()
        .map(|violation| violation["field"].as_str().unwrap())
        .collect()
}

// A2A-REST-20, A2A-REST-21, A2A-REST-22, O-R01: the status and the body of every error, on the
// wire.
#[tokio::test]
async fn every_refusal_has_its_status_and_body() {
    let mut declared = card();
    declared["capabilities"] = json!({"streaming": true, "extendedAgentCard": true,
        "extensions": []});
    let rig = rig_of(&declared, texts);
    let done = send(&rig, &say("x")).await["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let odd = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"raw": "AAEC", "mediaType": "application/x-odd"}]}});
    let cancel = format!("/tasks/{done}:cancel");
    let subscribe = format!("/tasks/{done}:subscribe");
    for (verb, path, body, status, code, why) in [
        (
            "GET",
            "/tasks/nope",
            String::new(),
            404,
            "NOT_FOUND",
            "TASK_NOT_FOUND",
        ),
        (
            "POST",
            &cancel,
            String::new(),
            400,
            "FAILED_PRECONDITION",
            "TASK_NOT_CANCELABLE",
        ),
        (
            "GET",
            "/tasks/t/pushNotificationConfigs",
            String::new(),
            400,
            "FAILED_PRECONDITION",
            "PUSH_NOTIFICATION_NOT_SUPPORTED",
        ),
        (
            "POST",
            &subscribe,
            String::new(),
            400,
            "FAILED_PRECONDITION",
            "UNSUPPORTED_OPERATION",
        ),
        (
            "POST",
            "/message:send",
            odd.to_string(),
            400,
            "INVALID_ARGUMENT",
            "CONTENT_TYPE_NOT_SUPPORTED",
        ),
        (
            "GET",
            "/extendedAgentCard",
            String::new(),
            400,
            "FAILED_PRECONDITION",
            "EXTENDED_AGENT_CARD_NOT_CONFIGURED",
        ),
        (
            "POST",
            "/message:send",
            "{".to_owned(),
            400,
            "INVALID_ARGUMENT",
            "PARSE_ERROR",
        ),
        (
            "POST",
            "/message:send",
            "{}".to_owned(),
            400,
            "INVALID_ARGUMENT",
            "INVALID_PARAMS",
        ),
        ("GET", "/", String::new(), 404, "NOT_FOUND", "-"),
        ("PUT", "/tasks", String::new(), 405, "UNIMPLEMENTED", "-"),
    ] {
        let reply = rig.rest(verb, path, &[], &body).await;
        let got = reply.json();
        assert_eq!(reply.status, status, "{verb} {path}: {got}");
        assert_eq!(reply.header("content-type"), "application/a2a+json");
        let error = &got["error"];
        assert_eq!(got.as_object().unwrap().len(), 1, "{got}");
        assert_eq!(error["code"], status, "{got}");
        assert_eq!(error["status"], code, "{got}");
        assert_eq!(reason(&got), why, "{got}");
        assert!(
            error["message"].is_string() && error["details"].is_array(),
            "{got}"
        );
    }
}

// A2A-REST-10, A2A-REST-11, O-R02: each parameter is honoured; each wrong value is told by name;
// others are ignored.
#[tokio::test]
async fn parameters_of_a_query_are_typed() {
    let rig = rig(texts);
    for text in ["artifact", "artifact", "artifact"] {
        send(&rig, &say(text)).await;
    }
    send(&rig, &say("ask")).await;
    let list = async |query: &str| {
        let reply = rig.rest("GET", &format!("/tasks?{query}"), &[], "").await;
        assert_eq!(reply.status, 200, "{query}: {reply:?}");
        reply.json()
    };
    let page =
        list("includeArtifacts=true&status=TASK_STATE_COMPLETED&pageSize=2&historyLength=0").await;
    assert_eq!(
        (page["tasks"].as_array().unwrap().len(), &page["totalSize"]),
        (2, &json!(3))
    );
    assert_eq!(page["pageSize"], 2);
    // O-H06
    assert!(page["tasks"][0]["artifacts"].is_array());
    assert!(page["tasks"][0].get("history").is_none());
    // A token of the server, escaped as clients do; with plus signs for spaces nowhere.
    let token = page["nextPageToken"].as_str().unwrap();
    let next = list(&format!("includeArtifacts=true&status=TASK_STATE_COMPLETED&pageSize=2&historyLength=0&pageToken={token}")).await;
    assert_eq!(
        (
            next["tasks"].as_array().unwrap().len(),
            &next["nextPageToken"]
        ),
        (1, &json!(""))
    );
    // O-H03, O-H05: all four members on an empty page; no filter and an empty one are none.
    let empty = list("contextId=nobody").await;
    assert_eq!(
        empty,
        json!({"tasks": [], "nextPageToken": "", "pageSize": 50, "totalSize": 0})
    );
    for query in [
        "",
        "status=&contextId=&pageSize=&pageToken=",
        "unknown=1&A2A-Version=9&&=&x",
    ] {
        assert_eq!(list(query).await["totalSize"], 4, "{query}");
    }
    assert!(
        list("includeArtifacts=false").await["tasks"][0]
            .get("artifacts")
            .is_none()
    );
    // The names of the proto file, and the number of a state (A2A-REST-12, A2A-DATA-4).
    assert_eq!(
        list("page_size=1&history_length=1&include_artifacts=true&status=3").await["totalSize"],
        3
    );
    assert_eq!(
        list("status_timestamp_after=2100-01-01T00%3A00%3A00Z").await["totalSize"],
        0
    );
    assert_eq!(
        list("statusTimestampAfter=2000-01-01T00:00:00Z&historyLength=1").await["totalSize"],
        4
    );

    for (query, field) in [
        ("includeArtifacts=yes", "includeArtifacts"),
        ("includeArtifacts=1", "includeArtifacts"),
        ("status=TASK_STATE_RUNNING", "status"),
        ("status=9", "status"),
        ("pageSize=abc", "pageSize"),
        // O-H04
        ("pageSize=0", "pageSize"),
        ("pageSize=-1", "pageSize"),
        ("pageSize=101", "pageSize"),
        ("pageSize=2.5", "pageSize"),
        ("pageSize=99999999999", "pageSize"),
        ("pageToken=garbage", "pageToken"),
        // O-H02
        ("historyLength=-1", "historyLength"),
        ("historyLength=-2147483648", "historyLength"),
        ("historyLength=abc", "historyLength"),
        ("statusTimestampAfter=yesterday", "statusTimestampAfter"),
        ("contextId=%ff", "contextId"),
        ("contextId=%0a", "contextId"),
        ("pageSize=1&pageSize=2", "pageSize"),
        ("pageSize=1&page_size=1", "pageSize"),
    ] {
        let reply = rig.rest("GET", &format!("/tasks?{query}"), &[], "").await;
        let got = reply.json();
        assert_eq!(reply.status, 400, "{query}: {got}");
        assert_eq!(got["error"]["status"], "INVALID_ARGUMENT", "{query}");
        assert_eq!(fields(&got), [field], "{query}: {got}");
    }
    // What a GET carries besides is nobody's.
    let reply = rig.rest("GET", "/tasks?pageSize=1", &[], "{").await;
    assert_eq!(reply.json()["pageSize"], 1, "{reply:?}");
    // All at once (EX-11).
    let reply = rig
        .rest(
            "GET",
            "/tasks?pageSize=150&historyLength=-5&status=TASK_STATE_RUNNING",
            &[],
            "",
        )
        .await;
    assert_eq!(
        fields(&reply.json()),
        ["pageSize", "historyLength", "status"]
    );
}

// O-H01: absent, 0, 1, many.
#[tokio::test]
async fn history_lengths() {
    let rig = rig(texts);
    let task = send(&rig, &say("ask")).await;
    let id = task["id"].as_str().unwrap();
    let mut body = say("more");
    body["message"]["taskId"] = json!(id);
    send(&rig, &body).await;
    for (query, messages) in [
        ("", Some(3)),
        ("?historyLength=0", None),
        ("?historyLength=1", Some(1)),
        ("?historyLength=1000", Some(3)),
        ("?historyLength=", Some(3)),
    ] {
        let got = rig
            .rest("GET", &format!("/tasks/{id}{query}"), &[], "")
            .await
            .json();
        let history = got
            .get("history")
            .map(|history| history.as_array().unwrap().len());
        assert_eq!(history, messages, "{query}");
    }
    let reply = rig
        .rest("GET", &format!("/tasks/{id}?historyLength=abc"), &[], "")
        .await;
    assert_eq!(
        (reply.status, fields(&reply.json())),
        (400, vec!["historyLength"])
    );
}

// O-R04, A2A-REST-4..6: colon routes, and bodies that are not needed.
#[tokio::test]
async fn colon_routes_and_bodies_that_are_not_needed() {
    let rig = rig(texts);
    for body in [
        "",
        "{}",
        "null",
        " ",
        r#"{"metadata": {"why": "x"}}"#,
        "ID",
        "TASK_ID",
    ] {
        for type_ in ["application/json", "application/a2a+json", ""] {
            let id = task_id(&rig, "wait").await;
            let body = match body {
                "ID" => json!({"id": id}).to_string(),
                "TASK_ID" => json!({"id": "", "futureField": [1]}).to_string(),
                body => body.to_owned(),
            };
            let headers = [("content-type", type_)];
            let headers = if type_.is_empty() { &[][..] } else { &headers };
            let path = format!("/tasks/{id}:cancel");
            let reply = rig.rest("POST", &path, headers, &body).await;
            assert_eq!(reply.status, 200, "{body:?} {type_}: {reply:?}");
            assert_eq!(reply.json()["status"]["state"], "TASK_STATE_CANCELED");
        }
    }
    // What says something else than the address, what is no object, and what is no JSON.
    let id = task_id(&rig, "wait").await;
    let path = format!("/tasks/{id}:cancel");
    for (body, field) in [
        (r#"{"id": "other"}"#, "id"),
        (r#"{"id": 7}"#, "id"),
        ("[]", ""),
        ("7", ""),
        (r#"{"metadata": 7}"#, "metadata"),
    ] {
        let got = rig.rest("POST", &path, &[], body).await;
        assert_eq!(
            (got.status, fields(&got.json())),
            (400, vec![field]),
            "{body}"
        );
    }
    for body in ["{", "{}{}", "nul", "\u{feff}{}"] {
        let got = rig.rest("POST", &path, &[], body).await;
        assert_eq!(
            (got.status, reason(&got.json())),
            (400, "PARSE_ERROR"),
            "{body}"
        );
    }
    let state = rig
        .rest("GET", &format!("/tasks/{id}"), &[], "")
        .await
        .json();
    assert_eq!(
        state["status"]["state"], "TASK_STATE_WORKING",
        "none of that touched it"
    );

    // Ids with colons, escaped and not: only a suffix that there is is one.
    for (path, id) in [
        ("/tasks/a:b", "a:b"),
        ("/tasks/a%3Acancel", "a:cancel"),
        ("/tasks/a%3asubscribe", "a:subscribe"),
        ("/tasks/x:y:z", "x:y:z"),
        ("/tasks/..%2F..%2Fadmin%3Fa%3D1", "../../admin?a=1"),
        ("/tasks/%C3%A9", "é"),
        ("/tasks/a+b", "a+b"),
        ("/tasks/tasks", "tasks"),
    ] {
        let reply = rig.rest("GET", path, &[], "").await;
        assert_eq!(reply.status, 404);
        let metadata = &reply.json()["error"]["details"][0]["metadata"];
        assert_eq!(metadata["taskId"], id, "{path}");
    }
    let reply = rig.rest("POST", "/tasks/a:b:cancel", &[], "").await;
    assert_eq!(
        reply.json()["error"]["details"][0]["metadata"]["taskId"],
        "a:b"
    );
    // A2A-REST-4: never an id with a verb in it.
    let reply = rig.rest("GET", "/tasks/x:subscribe", &[], "").await;
    assert_eq!(
        reply.json()["error"]["details"][0]["metadata"]["taskId"],
        "x"
    );
    let reply = rig.rest("GET", "/tasks/x:cancel", &[], "").await;
    assert_eq!((reply.status, reply.header("allow")), (405, "POST"));
}

// A2A-REST-23
#[tokio::test]
async fn what_is_not_there_and_what_is_not_allowed() {
    let rig = rig(texts);
    for path in [
        "",
        "/",
        "/task",
        "/tasks/a/b",
        "/tasks/a/pushNotificationConfigs/c/d",
        "/message",
        "/message:sendx",
        "//tasks",
        "/acme",
        "/acme/",
        "/acme/acme/tasks",
        "/tasks%ff",
        "/.well-known/x",
        "/tasks/../tasks",
        "/message:send/tasks",
        "/a/b/c/d/e/f/g",
        "/extendedAgentCard/tasks",
    ] {
        let reply = rig.rest("GET", path, &[], "").await;
        assert_eq!(reply.status, 404, "{path}");
        assert_eq!(reply.json()["error"]["status"], "NOT_FOUND", "{path}");
        assert_eq!(reply.json()["error"]["details"], json!([]), "{path}");
    }
    for (verb, path, allow) in [
        ("GET", "/message:send", "POST"),
        ("DELETE", "/message:stream", "POST"),
        ("POST", "/tasks", "GET"),
        ("POST", "/tasks/a", "GET"),
        ("HEAD", "/tasks/a", "GET"),
        ("DELETE", "/tasks/a:subscribe", "POST, GET"),
        ("PUT", "/tasks/a/pushNotificationConfigs", "POST, GET"),
        (
            "POST",
            "/acme/tasks/a/pushNotificationConfigs/c",
            "GET, DELETE",
        ),
        ("PUT", "/extendedAgentCard", "GET"),
    ] {
        let reply = rig.rest(verb, path, &[], "").await;
        assert_eq!(
            (reply.status, reply.header("allow")),
            (405, allow),
            "{verb} {path}"
        );
        assert_eq!(reply.json()["error"]["status"], "UNIMPLEMENTED");
    }
    // Named, and empty: what JSON-RPC says of it too.
    for path in ["/tasks/", "/tasks/%00", "/tasks/%zz", "/tasks/%ff"] {
        let reply = rig.rest("GET", path, &[], "").await;
        assert_eq!(
            (reply.status, fields(&reply.json())),
            (400, vec!["id"]),
            "{path}"
        );
    }
    let long = format!("/tasks/{}", "i".repeat(257));
    assert_eq!(
        fields(&rig.rest("GET", &long, &[], "").await.json()),
        ["id"]
    );
}

// A2A-REST-13, O-J06, A2A-REST-14, A2A-REST-18
#[tokio::test]
async fn media_types() {
    let rig = rig(texts);
    let body = say("x").to_string();
    for (sent, accepted, answered) in [
        ("application/json", "", "application/json"),
        ("application/json; charset=utf-8", "*/*", "application/json"),
        ("Application/JSON", "", "application/json"),
        ("application/a2a+json", "", "application/a2a+json"),
        ("application/vnd.x+json", "", "application/a2a+json"),
        ("", "", "application/a2a+json"),
        ("", "application/json", "application/json"),
        (
            "application/json",
            "application/a2a+json, application/json",
            "application/a2a+json",
        ),
        (
            "application/json",
            "application/a2a+json;q=0.5, application/json;q=0.9",
            "application/json",
        ),
        (
            "application/json",
            "application/a2a+json;q=0, */*",
            "application/json",
        ),
        ("application/json", "text/html", "application/json"),
    ] {
        let mut headers = Vec::new();
        if !sent.is_empty() {
            headers.push(("content-type", sent));
        }
        if !accepted.is_empty() {
            headers.push(("accept", accepted));
        }
        let reply = rig.rest("POST", "/message:send", &headers, &body).await;
        assert_eq!(reply.status, 200, "{headers:?}");
        assert_eq!(reply.header("content-type"), answered, "{headers:?}");
        // Errors alike (A2A-REST-24).
        let reply = rig.rest("POST", "/message:send", &headers, "{").await;
        assert_eq!(reply.header("content-type"), answered, "{headers:?}");
    }
    for type_ in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
        "x",
    ] {
        let reply = rig
            .rest("POST", "/message:send", &[("content-type", type_)], &body)
            .await;
        assert_eq!(reply.status, 415, "{type_}");
        assert_eq!(reply.json()["error"]["status"], "INVALID_ARGUMENT");
        // Nothing was sent, so nothing is of the wrong type.
        let id = task_id(&rig, "wait").await;
        let path = format!("/tasks/{id}:cancel");
        assert_eq!(
            rig.rest("POST", &path, &[("content-type", type_)], "")
                .await
                .status,
            200
        );
    }
}

// O-M04
#[tokio::test]
async fn a_body_over_the_limit() {
    let rig = rig(texts);
    let said = rig
        .rest(
            "POST",
            "/message:send",
            &[("content-length", "99999999")],
            "{}",
        )
        .await;
    assert_eq!(said.status, 413);
    assert_eq!(said.json()["error"]["code"], 413);
    let large = json!({"message": {"messageId": "m", "role": "ROLE_USER", "parts": [{"text": "x".repeat(11 << 20)}]}});
    assert_eq!(
        rig.rest("POST", "/message:stream", &[], &large.to_string())
            .await
            .status,
        413
    );
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let reply = rig.rest("POST", "/message:send", &[], &deep).await;
    assert_eq!(reply.status, 400, "O-W12");
}

// A2A-REST-2, 5, 7: three carriers of a tenant, which must agree.
#[tokio::test]
async fn tenants() {
    let mut card = card();
    card["supportedInterfaces"][1]["tenant"] = json!("acme inc");
    let rig = rig_of(&card, texts);
    let mut body = say("ask");
    let reply = rig
        .rest("POST", "/acme%20inc/message:send", &[], &body.to_string())
        .await;
    assert_eq!(reply.status, 200);
    let id = reply.json()["task"]["id"].as_str().unwrap().to_owned();
    for path in [
        "/acme%20inc/tasks/ID",
        "/tasks/ID?tenant=acme+inc",
        "/acme%20inc/tasks/ID?tenant=acme%20inc",
    ] {
        let reply = rig.rest("GET", &path.replace("ID", &id), &[], "").await;
        assert_eq!(reply.status, 200, "{path}");
    }
    for path in [
        "/tasks/ID",
        "/other/tasks/ID",
        "/tasks/ID?tenant=other",
        "/tasks/ID?tenant=",
    ] {
        let reply = rig.rest("GET", &path.replace("ID", &id), &[], "").await;
        assert_eq!(
            (reply.status, reason(&reply.json())),
            (404, "TASK_NOT_FOUND"),
            "{path}"
        );
    }
    for path in [
        "/acme%20inc/tasks/ID?tenant=other",
        "/tasks/ID?tenant=a&tenant=a",
        "/acme%00/tasks/ID",
    ] {
        let reply = rig.rest("GET", &path.replace("ID", &id), &[], "").await;
        assert_eq!(
            (reply.status, fields(&reply.json())),
            (400, vec!["tenant"]),
            "{path}"
        );
    }
    body["tenant"] = json!("acme inc");
    for path in [
        "/message:send",
        "/acme%20inc/message:send",
        "/message:send?tenant=acme+inc",
    ] {
        let reply = rig.rest("POST", path, &[], &body.to_string()).await;
        assert_eq!(reply.status, 200, "{path}");
    }
    let reply = rig
        .rest("POST", "/other/message:send", &[], &body.to_string())
        .await;
    assert_eq!((reply.status, fields(&reply.json())), (400, vec!["tenant"]));
    // A2A-REST-9: no tenant is called like a route.
    for tenant in [
        "tasks",
        "message:send",
        "message:stream",
        "extendedAgentCard",
    ] {
        let reply = rig
            .rest(
                "POST",
                &format!("/{tenant}/message:send"),
                &[],
                &body.to_string(),
            )
            .await;
        assert!(matches!(reply.status, 404 | 405), "{tenant}: {reply:?}");
    }
}

// Ruling 16
#[tokio::test]
async fn a_watcher_comes_back_where_it_was() {
    let rig = rig(texts);
    let id = task_id(&rig, "wait twice").await;
    let path = format!("/tasks/{id}:subscribe");
    let mut first = rig.rest_watch("POST", &path, &[], "").await;
    first.next().await.unwrap();
    rig.go_on();
    while first.next().await.unwrap().get("artifactUpdate").is_none() {}
    let at = first.last_id.clone().unwrap();
    let before: u64 = at.parse().unwrap();
    drop(first);
    // From the event before the artifact, so that it comes again.
    let last = (before - 1).to_string();
    let mut again = rig
        .rest_watch("GET", &path, &[("last-event-id", &last)], "")
        .await;
    let task = again.next().await.unwrap();
    assert!(
        task["task"].get("artifacts").is_none(),
        "folded to that event: {task}"
    );
    assert_eq!(again.last_id.as_deref(), Some(&*last));
    assert!(again.next().await.unwrap()["artifactUpdate"].is_object());
    assert_eq!(again.last_id, Some(at));
    rig.go_on();
    assert!(again.next().await.unwrap()["statusUpdate"].is_object());
    assert_eq!(again.next().await, None);
}

fn run<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
        .block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    // Whatever path and query come, there is an answer of the protocol.
    #[test]
    fn any_address_is_answered(
        path in "(/(tasks|acme|message:send|[ -~&&[^?# ]]{0,8}|%[0-9a-f]{2}|[a-z]{0,3}:cancel|pushNotificationConfigs)){0,6}/?",
        query in "(&?(tenant|pageSize|page_token|status|includeArtifacts|contextId|[ -~&&[^# ]]{0,4})=?[ -~&&[^# ]]{0,6}){0,4}",
        verb in prop::sample::select(vec!["GET", "POST", "DELETE", "PUT"]),
        body in prop::sample::select(vec!["", "{}", "null", "[", "{\"id\":1}"]),
    ) {
        let uri = format!("/rest{path}?{query}");
        if uri.parse::<http::Uri>().is_ok() {
            let reply = run(async {
                rig(texts).send(verb, &uri, &[("a2a-version", "1.0")], body).await
            });
            prop_assert!(matches!(reply.status, 200 | 400 | 404 | 405), "{} {}: {:?}", verb, uri, reply);
            let json = reply.json();
            if reply.status != 200 {
                prop_assert_eq!(&json["error"]["code"], reply.status);
            }
        }
    }
}
