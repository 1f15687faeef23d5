//! The data model and ProtoJSON (A2A-DATA-*, O-W*, O-H*).

use portcullis::Json;
use portcullis_a2a::model::{
    AgentCard, Artifact, Bounds, Error, ErrorKind, GetTaskRequest, ListTasksRequest,
    ListTasksResponse, Message, Metadata, Part, PartContent, Role, SecurityRequirement,
    SecurityScheme, SendMessageRequest, SendMessageResponse, StreamResponse, Task,
    TaskArtifactUpdateEvent, TaskState, TaskStatus, TaskStatusUpdateEvent, Timestamp,
    decode_request, decode_request_within, decode_response,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn faults<T: portcullis_a2a::model::Decode + std::fmt::Debug>(text: &str) -> Vec<String> {
    let invalid = decode_request::<T>(text).expect_err("should be refused");
    invalid
        .violations()
        .iter()
        .map(ToString::to_string)
        .collect()
}

/// Faults come in the order of the request, and that of `json!` is whatever `preserve_order` says.
fn sorted(mut faults: Vec<String>) -> Vec<String> {
    faults.sort_unstable();
    faults
}

fn part(text: &str) -> Part {
    decode_request(text).expect("a part")
}

fn to_json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("the model encodes")
}

fn send(message: &Value) -> String {
    json!({"message": message}).to_string()
}

fn hello() -> Value {
    json!({"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "hello"}]})
}

fn time() -> Timestamp {
    "2026-01-15T10:00:00.000Z".parse().expect("a time")
}

// EX-11, first half.
#[test]
fn every_fault_of_a_list_request_is_named_in_order() {
    let text = r#"{"pageSize": 150, "historyLength": -5, "status": "TASK_STATE_RUNNING"}"#;
    assert_eq!(
        faults::<ListTasksRequest>(text),
        [
            "pageSize: must be between 1 and 100",
            "historyLength: must not be negative",
            "status: unknown task state",
        ]
    );
}

// EX-11, second half; A2A-DATA-12, -13.
#[test]
fn every_fault_of_a_part_is_named() {
    let text = send(&json!({
        "messageId": "m-x", "role": "ROLE_USER",
        "parts": [{"text": "a", "url": "https://example.com/b"}, {"metadata": {}}],
    }));
    assert_eq!(
        faults::<SendMessageRequest>(&text),
        [
            "message.parts[0]: exactly one of text, raw, url, data is allowed",
            "message.parts[1]: one of text, raw, url, data is required",
        ]
    );
}

// O-W04: the order of the members does not matter.
#[test]
fn two_contents_are_refused_in_either_order() {
    for text in [
        r#"{"text":"a","data":{"k":1}}"#,
        r#"{"data":{"k":1},"text":"a"}"#,
        r#"{"text":"","data":{"k":1}}"#,
    ] {
        assert_eq!(
            faults::<Part>(text),
            ["exactly one of text, raw, url, data is allowed"],
            "{text}"
        );
    }
}

// A2A-DATA-14, -15, T-28: three different things.
#[test]
fn null_data_is_a_value_and_null_text_is_not() {
    assert_eq!(part(r#"{"data": null}"#).as_data(), Some(&Json::null()));
    assert_eq!(part(r#"{"text": ""}"#).as_text(), Some(""));
    assert_eq!(
        faults::<Part>(r#"{"text": null}"#),
        ["one of text, raw, url, data is required"]
    );
    assert_eq!(part(r#"{"text": "a", "url": null}"#), Part::text("a"));
    assert_eq!(to_json(&Part::data(Json::null())), r#"{"data":null}"#);
    assert_eq!(to_json(&Part::text("")), r#"{"text":""}"#);
}

// O-W05: the text of a number is kept.
#[test]
fn numbers_keep_their_text() {
    let text = r#"{"data":{"rev":1,"big":9007199254740993,"neg":-3,"f":0.5,"n":null,"e":1e400}}"#;
    assert_eq!(to_json(&part(text)), text);
    let text = r#"{"text":"x","metadata":{"v":1.0,"w":123456789012345678901234567890}}"#;
    assert_eq!(to_json(&part(text)), text);
}

// A frame is one line, so free-form values must fit one; their strings are not touched.
#[test]
fn free_form_values_fit_one_line() {
    let part = part("{\"data\": {\"a\" : [1,\r\n 2], \"s\": \"x  \\\" \\n y\"}}");
    assert_eq!(to_json(&part), r#"{"data":{"a":[1,2],"s":"x  \" \n y"}}"#);
}

// O-W06, A2A-DATA-7.
#[test]
fn bytes_survive_and_any_base64_is_read() {
    let bytes: Vec<u8> = (0..=255).collect();
    let written = to_json(&Part::raw(bytes.clone()));
    assert_eq!(part(&written).content, PartContent::Raw(bytes));
    let expected = PartContent::Raw(vec![0xfb, 0xff]);
    for text in ["+/8=", "+/8", "-_8=", "-_8"] {
        assert_eq!(part(&json!({"raw": text}).to_string()).content, expected);
    }
    assert!(to_json(&Part::raw([0xfb, 0xff])).contains("+/8="));
    assert_eq!(faults::<Part>(r#"{"raw": "%%"}"#), ["raw: must be base64"]);
}

// A2A-DATA-2, T-3.
#[test]
fn both_spellings_are_read_but_not_together() {
    let request: ListTasksRequest = decode_request(
        r#"{"context_id":"c-1","page_size":2,"page_token":"t","history_length":0,
            "include_artifacts":true,"status_timestamp_after":"2020-01-01T00:00:00Z"}"#,
    )
    .expect("snake case");
    assert_eq!(request.context_id, "c-1");
    assert_eq!(request.page_size, Some(2));
    assert_eq!(request.history_length, Some(0));
    assert_eq!(request.include_artifacts, Some(true));
    assert!(request.status_timestamp_after.is_some());
    assert_eq!(
        faults::<ListTasksRequest>(r#"{"contextId":"a","context_id":"a"}"#),
        ["contextId: given more than once"]
    );
    assert_eq!(
        faults::<GetTaskRequest>(r#"{"id":"a","id":"a"}"#),
        ["id: given more than once"]
    );
}

// A2A-DATA-4, -5, -6; O-H05.
#[test]
fn states_are_read_by_name_and_number() {
    let status = |text: &str| decode_request::<ListTasksRequest>(text).map(|read| read.status);
    for state in TaskState::ALL {
        let name = format!(r#"{{"status":"{state}"}}"#);
        assert_eq!(status(&name), Ok(state));
        let number = format!(r#"{{"status":{}}}"#, state.number());
        assert_eq!(status(&number), Ok(state));
        assert_eq!(to_json(&state), format!("\"{state}\""));
    }
    for unset in [
        r"{}",
        r#"{"status":null}"#,
        r#"{"status":0}"#,
        r#"{"status":"TASK_STATE_UNSPECIFIED"}"#,
    ] {
        assert_eq!(status(unset), Ok(TaskState::Unknown));
    }
    for wrong in [
        r#"{"status":9}"#,
        r#"{"status":"completed"}"#,
        r#"{"status":-1}"#,
        r#"{"status":2.5}"#,
        r#"{"status":[]}"#,
    ] {
        assert_eq!(
            faults::<ListTasksRequest>(wrong),
            ["status: unknown task state"]
        );
    }
    let task = r#"{"id":"t","status":{"state":"TASK_STATE_NEW_IN_1_1"}}"#;
    let task: Task = decode_response(task).expect("an unknown state does not crash");
    assert_eq!(task.status.state, TaskState::Unknown);
    assert!(!task.status.state.is_terminal());
}

// A2A-DATA-10.
#[test]
fn whole_numbers_come_in_three_forms() {
    let length = |text: &str| {
        decode_request::<GetTaskRequest>(&format!(r#"{{"id":"t","historyLength":{text}}}"#))
            .map(|read| read.history_length)
    };
    for text in ["2", "\"2\"", "2.0", "2e0", "20e-1"] {
        assert_eq!(length(text), Ok(Some(2)), "{text}");
    }
    for text in [
        "2.5",
        "\"x\"",
        "true",
        "[2]",
        "3000000000",
        "-1",
        "-2147483648",
        "\"inf\"",
    ] {
        assert!(length(text).is_err(), "{text}");
    }
    assert_eq!(length("null"), Ok(None));
    assert_eq!(length("0"), Ok(Some(0)));
}

// A2A-DATA-8, -9; O-W07, O-W13.
#[test]
fn times_are_read_liberally_and_written_one_way() {
    for (text, written) in [
        ("2026-01-15T10:30:00Z", "2026-01-15T10:30:00.000Z"),
        ("2026-01-15T10:30:00.1Z", "2026-01-15T10:30:00.100Z"),
        ("2026-01-15T10:30:00.123456789Z", "2026-01-15T10:30:00.123Z"),
        ("2026-01-15T12:30:00.5+02:00", "2026-01-15T10:30:00.500Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
        ("1969-12-31T23:59:59.9996Z", "1969-12-31T23:59:59.999Z"),
    ] {
        let time: Timestamp = text.parse().expect(text);
        assert_eq!(time.to_string(), written);
    }
    for text in [
        "yesterday",
        "99999-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "2026-01-15",
        "2026-01-15 10:30:00Z",
        "2026-01-15T10:30:00",
        "2026-01-15T10:30:00.Z",
        "2026-01-15T10:30:00.1234567890Z",
        "2026-13-15T10:30:00Z",
        "2026-01-15T10:30:00Z[UTC]",
        "1700000000000",
    ] {
        assert!(text.parse::<Timestamp>().is_err(), "{text}");
    }
    let system = std::time::SystemTime::from(time());
    assert_eq!(Timestamp::from(system), time());
    let old: Timestamp = "1950-05-05T05:05:05.005Z".parse().expect("a time");
    assert_eq!(Timestamp::from(std::time::SystemTime::from(old)), old);
}

// A2A-DATA-16, O-W01, T-29: unknown members at every level.
#[test]
fn unknown_members_are_ignored() {
    let mut message = hello();
    message["x-new"] = json!({"deep": [1, {"a": null}]});
    message["parts"][0]["x-new"] = json!(1);
    let text = json!({"message": message, "x-new": 1, "configuration": {"x-new": true}});
    let request: SendMessageRequest = decode_request(&text.to_string()).expect("ignored");
    assert!(!to_json(&request).contains("x-new"));
}

#[test]
fn required_members_are_required() {
    assert_eq!(faults::<SendMessageRequest>("{}"), ["message: required"]);
    assert_eq!(
        faults::<SendMessageRequest>(r#"{"message": {}}"#),
        [
            "message.messageId: required",
            "message.role: required",
            "message.parts: required"
        ]
    );
    let text = send(&json!({"messageId": "", "role": "ROLE_UNSPECIFIED", "parts": []}));
    assert_eq!(
        faults::<SendMessageRequest>(&text),
        [
            "message.messageId: required",
            "message.role: required",
            "message.parts: required"
        ]
    );
    assert_eq!(faults::<GetTaskRequest>("{}"), ["id: required"]);
    assert_eq!(
        faults::<GetTaskRequest>(r#"{"id": 5}"#),
        ["id: must be a string"]
    );
}

// A2A-OP-51.
#[test]
fn a_client_does_not_speak_for_the_agent() {
    let mut message = hello();
    message["role"] = json!("ROLE_AGENT");
    assert_eq!(
        faults::<SendMessageRequest>(&send(&message)),
        ["message.role: must be ROLE_USER"]
    );
}

#[test]
fn wrong_types_are_named_and_reading_goes_on() {
    let text = r#"{"message": [1, {"a": 2}], "configuration": "x", "metadata": 5, "tenant": {}}"#;
    assert_eq!(
        faults::<SendMessageRequest>(text),
        [
            "message: must be an object",
            "configuration: must be an object",
            "metadata: must be an object",
            "tenant: must be a string",
        ]
    );
    let mut message = hello();
    message["parts"] = json!({"text": "a"});
    message["extensions"] = json!([1, null]);
    assert_eq!(
        sorted(faults::<SendMessageRequest>(&send(&message))),
        [
            "message.extensions[0]: must be a string",
            "message.extensions[1]: must not be null",
            "message.parts: must be an array",
        ]
    );
    assert_eq!(faults::<SendMessageRequest>("7"), ["must be an object"]);
    assert_eq!(faults::<SendMessageRequest>("null"), ["must not be null"]);
    assert!(
        faults::<SendMessageRequest>("{")
            .concat()
            .starts_with("not JSON")
    );
    assert!(
        faults::<SendMessageRequest>("{} {}")
            .concat()
            .starts_with("not JSON")
    );
}

// A2A-DATA-24, A2A-SEC-11.
#[test]
fn sizes_are_bounded() {
    let mut message = hello();
    message["messageId"] = json!("x".repeat(257));
    message["taskId"] = json!("a\u{0}b");
    message["referenceTaskIds"] = json!(["ok", "\u{7f}"]);
    message["metadata"] = json!({"x": "y".repeat(70_000)});
    assert_eq!(
        sorted(faults::<SendMessageRequest>(&send(&message))),
        [
            "message.messageId: longer than 256 bytes",
            "message.metadata: larger than 65536 bytes",
            "message.referenceTaskIds[1]: must not hold control characters",
            "message.taskId: must not hold control characters",
        ]
    );
    let mut message = hello();
    message["parts"] = json!(vec![json!({"text": "a"}); 1_001]);
    assert_eq!(
        faults::<SendMessageRequest>(&send(&message)),
        ["message.parts: more than 1000 items"]
    );
    let mut bounds = Bounds::default();
    bounds.items = 1_001;
    decode_request_within::<SendMessageRequest>(&send(&message), &bounds).expect("within");
    assert_eq!(
        faults::<ListTasksRequest>(&json!({"pageToken": "x".repeat(1_025)}).to_string()),
        ["pageToken: longer than 1024 bytes"]
    );
}

// O-W12, ruling 7.
#[test]
fn nesting_is_bounded() {
    let nested = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(
            r#"{{"message":{{"messageId":"m","role":1,"parts":[{{"text":"[[\"[["}}],
                "metadata":{{"x":{open}{close}}}}}}}"#
        )
    };
    // The request, the message and the metadata are three levels.
    let deepest: SendMessageRequest = decode_request(&nested(141)).expect("144 levels");
    assert!(to_json(&deepest).contains(&"[".repeat(141)));
    for depth in [142, 1_000, 10_000, 100_000] {
        assert_eq!(
            faults::<SendMessageRequest>(&nested(depth)),
            ["nests too deep"]
        );
    }
}

// O-W11.
#[test]
fn text_is_not_changed() {
    let text = "<b>&\"'</b> é 漢 🙂 \\u003c \u{2028}";
    let written = to_json(&Part::text(text));
    assert_eq!(part(&written).as_text(), Some(text));
    assert!(written.contains("漢") && written.contains("\\\\u003c"));
}

#[test]
fn a_lone_surrogate_is_replaced() {
    assert_eq!(
        part(r#"{"text":"a\ud83d b"}"#).as_text(),
        Some("a\u{fffd} b")
    );
    assert_eq!(
        part(r#"{"text":"\udc00\ud83d"}"#).as_text(),
        Some("\u{fffd}\u{fffd}")
    );
    assert_eq!(part(r#"{"text":"\ud83d\ude42"}"#).as_text(), Some("🙂"));
}

// A2A-DATA-18, O-W08, O-W10.
#[test]
fn defaults_are_left_out() {
    let status = TaskStatus::new(TaskState::Working, time());
    let update = TaskStatusUpdateEvent::new("t-1", "c-1", status);
    assert_eq!(
        to_json(&StreamResponse::StatusUpdate(update)),
        concat!(
            r#"{"statusUpdate":{"taskId":"t-1","contextId":"c-1","#,
            r#""status":{"state":"TASK_STATE_WORKING","timestamp":"2026-01-15T10:00:00.000Z"}}}"#
        )
    );
    let mut update = TaskArtifactUpdateEvent::new("t-1", "c-1", Artifact::text("a-1", "x"));
    assert_eq!(
        to_json(&update),
        r#"{"taskId":"t-1","contextId":"c-1","artifact":{"artifactId":"a-1","parts":[{"text":"x"}]}}"#
    );
    update.append = true;
    update.last_chunk = true;
    assert!(to_json(&update).ends_with(r#""append":true,"lastChunk":true}"#));
    assert_eq!(
        to_json(&Message::user("m-1", [Part::text("x")])),
        r#"{"messageId":"m-1","role":"ROLE_USER","parts":[{"text":"x"}]}"#
    );
}

// A2A-DATA-20, T-12, O-H03.
#[test]
fn a_list_of_tasks_always_has_its_four_members() {
    assert_eq!(
        to_json(&ListTasksResponse::new()),
        r#"{"tasks":[],"nextPageToken":"","pageSize":0,"totalSize":0}"#
    );
}

// O-W02.
#[test]
fn clients_read_null_lists() {
    let message = r#"{"messageId":"m","role":"ROLE_AGENT","parts":null,"extensions":[null,"a"]}"#;
    let message: Message = decode_response(message).expect("lenient");
    assert!(message.parts.is_empty());
    assert_eq!(message.extensions, ["a"]);
    let card = r#"{"name":"x","skills":null,"supportedInterfaces":null,"capabilities":null}"#;
    let card: AgentCard = decode_response(card).expect("lenient");
    assert!(card.skills.is_empty());
}

#[test]
fn a_response_is_one_of_its_members() {
    assert!(decode_response::<StreamResponse>("{}").is_err());
    let both = r#"{"task":{"id":"t","status":{"state":2}},"message":{"messageId":"m"}}"#;
    let invalid = decode_response::<SendMessageResponse>(both).expect_err("two");
    assert_eq!(
        invalid.to_string(),
        "exactly one of task, message is allowed"
    );
    let task = r#"{"task":{"id":"t","status":{"state":2}},"message":null,"new":{}}"#;
    assert!(matches!(
        decode_response(task),
        Ok(SendMessageResponse::Task(task)) if task.id == "t"
    ));
}

// EX-1.
#[test]
fn the_card_of_the_golden_example_round_trips() {
    let card = json!({
      "name": "Echo Agent",
      "description": "Repeats what it is told.",
      "supportedInterfaces": [
        {"url": "https://agent.example.com/rpc", "protocolBinding": "JSONRPC", "protocolVersion": "1.0"},
        {"url": "https://agent.example.com/rest", "protocolBinding": "HTTP+JSON", "protocolVersion": "1.0"}
      ],
      "provider": {"organization": "Example Org", "url": "https://example.com"},
      "version": "0.3.1",
      "capabilities": {"streaming": true, "pushNotifications": true, "extendedAgentCard": false},
      "securitySchemes": {
        "bearer": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        "mtls": {"mtlsSecurityScheme": {}},
        "oauth": {"oauth2SecurityScheme": {"flows": {"clientCredentials": {
          "tokenUrl": "https://auth.example.com/t", "scopes": {}}}}}
      },
      "securityRequirements": [{"schemes": {"bearer": {}, "oauth": {"list": ["a"]}}}],
      "defaultInputModes": ["text/plain", "application/json"],
      "defaultOutputModes": ["text/plain"],
      "skills": [
        {"id": "echo", "name": "Echo", "description": "Echoes text.", "tags": ["demo"], "examples": ["say hello"]}
      ],
      "documentationUrl": ""
    });
    let read: AgentCard = decode_request(&card.to_string()).expect("a whole card");
    assert!(matches!(
        read.security_schemes["mtls"],
        SecurityScheme::MutualTls(_)
    ));
    assert_eq!(serde_json::to_value(&read).expect("encodes"), card);
    // T-23: one flow a scheme.
    let two = json!({"oauth2SecurityScheme": {"flows": {
        "clientCredentials": {"tokenUrl": "u", "scopes": {}}, "implicit": {}}}});
    let invalid = decode_response::<SecurityScheme>(&two.to_string()).expect_err("two flows");
    assert!(
        invalid
            .to_string()
            .starts_with("oauth2SecurityScheme.flows: exactly one of")
    );
}

/// O-C05: all five kinds of schemes, all five flows, and a requirement without scopes.
#[test]
fn security_schemes_round_trip() {
    let flow = |name: &str, flow: Value| json!({"oauth2SecurityScheme": {"flows": {name: flow}}});
    let urls = json!({"authorizationUrl": "https://a.example/a", "tokenUrl": "https://a.example/t",
        "refreshUrl": "https://a.example/r", "scopes": {"read": "Reads."}, "pkceRequired": true});
    let part = |names: &[&str]| -> Value {
        let member = |name: &&str| ((*name).to_owned(), urls[*name].clone());
        names
            .iter()
            .map(member)
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    let schemes = json!({
        "key": {"apiKeySecurityScheme": {"description": "d", "location": "header", "name": "X-Key"}},
        "http": {"httpAuthSecurityScheme": {"scheme": "Bearer", "bearerFormat": "JWT"}},
        "oidc": {"openIdConnectSecurityScheme": {"openIdConnectUrl": "https://a.example/.well-known/openid-configuration"}},
        "mtls": {"mtlsSecurityScheme": {}},
        "code": flow("authorizationCode", part(&["authorizationUrl", "tokenUrl", "refreshUrl", "scopes", "pkceRequired"])),
        "client": flow("clientCredentials", part(&["tokenUrl", "refreshUrl", "scopes"])),
        "implicit": flow("implicit", part(&["authorizationUrl", "scopes"])),
        "password": flow("password", part(&["tokenUrl", "scopes"])),
        "device": {"oauth2SecurityScheme": {
            "oauth2MetadataUrl": "https://a.example/.well-known/oauth-authorization-server",
            "flows": {"deviceCode": {"deviceAuthorizationUrl": "https://a.example/d",
                "tokenUrl": "https://a.example/t", "scopes": {}}}}},
    });
    for (name, scheme) in schemes.as_object().expect("an object") {
        let read: SecurityScheme =
            decode_response(&scheme.to_string()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(
            &serde_json::to_value(&read).expect("encodes"),
            scheme,
            "{name}"
        );
    }
    // An absent list of scopes is an empty one.
    let bare: SecurityRequirement = decode_response(r#"{"schemes":{"key":{}}}"#).expect("bare");
    let empty: SecurityRequirement =
        decode_response(r#"{"schemes":{"key":{"list":[]}}}"#).expect("empty");
    assert_eq!(bare, empty);
}

#[test]
fn stores_read_what_they_wrote() {
    let mut task = Task::new("t-1", "c-1", TaskStatus::new(TaskState::Working, time()));
    task.history.push(Message::user(
        "m-1",
        [Part::raw([1, 2, 3]).with_filename("f")],
    ));
    task.artifacts
        .push(Artifact::new("a", [Part::data(Json::null())]).with_name("n"));
    task.metadata = Metadata::new().with("k", Json::null());
    let text = to_json(&task);
    assert_eq!(serde_json::from_str::<Task>(&text).expect("reads"), task);
    assert_eq!(
        serde_json::from_slice::<Task>(text.as_bytes()).expect("reads"),
        task
    );
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(serde_json::from_value::<Task>(value).expect("reads"), task);
    assert_eq!(
        serde_json::from_str::<Role>("2").expect("reads"),
        Role::Agent
    );
}

#[test]
fn history_is_limited_from_the_front() {
    let mut task = Task::new("t-1", "c-1", TaskStatus::new(TaskState::Working, time()));
    task.history = ["a", "b", "c"]
        .map(|id| Message::user(id, [Part::text("x")]))
        .into();
    let ids = |length| {
        let mut task = task.clone();
        task.limit_history(length);
        task.history
            .into_iter()
            .map(|m| m.message_id)
            .collect::<String>()
    };
    assert_eq!(ids(None), "abc");
    assert_eq!(ids(Some(1_000)), "abc");
    assert_eq!(ids(Some(2)), "bc");
    assert_eq!(ids(Some(0)), "");
}

// A2A-RPC-27, -29, -30.
#[test]
fn each_refusal_has_its_code_and_reason() {
    let codes: Vec<_> = ErrorKind::REFUSALS.map(ErrorKind::code).into();
    assert_eq!(codes, (1..=9).map(|n| -32_000 - n).collect::<Vec<_>>());
    for kind in ErrorKind::REFUSALS {
        let error = Error::new(kind).with("taskId", "t-7");
        assert_eq!(
            serde_json::to_value(error.details()).expect("encodes"),
            json!([{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": kind.reason(),
                "domain": "a2a-protocol.org",
                "metadata": {"taskId": "t-7"},
            }])
        );
        let data = to_json(&error.details());
        let read = Error::from_wire(error.code(), "text", Some(&data));
        assert_eq!(read.kind(), kind);
        assert_eq!(read.metadata().collect::<Vec<_>>(), [("taskId", "t-7")]);
        // The reason wins over the code (A2A-RPC-34).
        assert_eq!(Error::from_wire(-1, "text", Some(&data)).kind(), kind);
    }
    assert!(Error::new(ErrorKind::Internal).details().is_empty());
    let wrong = Error::from(decode_request::<GetTaskRequest>("{}").expect_err("no id"));
    assert_eq!(
        serde_json::to_value(wrong.details()).expect("encodes"),
        json!([{
            "@type": "type.googleapis.com/google.rpc.BadRequest",
            "fieldViolations": [{"field": "id", "description": "required"}],
        }])
    );
    let read = Error::from_wire(-32602, "text", Some(&to_json(&wrong.details())));
    assert_eq!(read.violations(), wrong.violations());
    assert_eq!(
        Error::from_wire(-32602, "x", Some("{\"old\":1}")).code(),
        -32602
    );
}

proptest! {
    // O-W04: shuffling the members of a part never changes what it is.
    #[test]
    fn order_of_members_does_not_matter(
        members in Just(vec![
            ("data", "{\"a\":[1,2.0]}"), ("filename", "\"f\""), ("mediaType", "\"m\""),
            ("metadata", "{\"k\":1}"), ("extra", "[]"),
        ]).prop_shuffle()
    ) {
        let text = members
            .iter()
            .map(|(name, value)| format!("\"{name}\":{value}"))
            .collect::<Vec<_>>()
            .join(",");
        let expected =
            part(r#"{"data":{"a":[1,2.0]},"filename":"f","mediaType":"m","metadata":{"k":1}}"#);
        prop_assert_eq!(part(&format!("{{{text}}}")), expected);
    }

    // The decoder never panics, and what it takes it writes back the same.
    #[test]
    fn any_text_is_answered(text in "[\\[\\]{}\",:a-z0-9.\\\\ \n]{0,60}") {
        let _ = decode_request::<SendMessageRequest>(&text).is_ok();
        if let Ok(part) = decode_response::<Part>(&text) {
            prop_assert_eq!(decode_response::<Part>(&to_json(&part)), Ok(part));
        }
    }

    #[test]
    fn any_text_survives(text in any::<String>()) {
        let written = to_json(&Part::text(text.clone()));
        let read = part(&written);
        prop_assert_eq!(read.as_text(), Some(text.as_str()));
    }
}
