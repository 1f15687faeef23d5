//! The nine refusals in all three forms, as 1.0.0 and 1.0.1 have them: the same typed error.

use base64::{Engine, prelude::BASE64_STANDARD_NO_PAD};
use portcullis_a2a::{
    client::{Binding, CallError, Client},
    model::{Error, ErrorKind, GetTaskRequest},
};
use serde_json::{Value, json};

use crate::site::{Site, reply};

/// With the code of JSON-RPC, and status and code of gRPC in 1.0.0 and in 1.0.1 (T-1).
const REFUSALS: [(ErrorKind, i32, [u16; 2], [u8; 2]); 9] = [
    (ErrorKind::TaskNotFound, -32001, [404, 404], [5, 5]),
    (ErrorKind::TaskNotCancelable, -32002, [409, 400], [9, 9]),
    (
        ErrorKind::PushNotificationNotSupported,
        -32003,
        [400, 400],
        [12, 9],
    ),
    (ErrorKind::UnsupportedOperation, -32004, [400, 400], [12, 9]),
    (
        ErrorKind::ContentTypeNotSupported,
        -32005,
        [415, 400],
        [3, 3],
    ),
    (
        ErrorKind::InvalidAgentResponse,
        -32006,
        [502, 500],
        [13, 13],
    ),
    (
        ErrorKind::ExtendedAgentCardNotConfigured,
        -32007,
        [400, 400],
        [9, 9],
    ),
    (
        ErrorKind::ExtensionSupportRequired,
        -32008,
        [400, 400],
        [9, 9],
    ),
    (ErrorKind::VersionNotSupported, -32009, [400, 400], [12, 9]),
];

async fn refusal(binding: Binding, site: Site) -> Error {
    let client = Client::over(binding, site, "http://h/".parse().unwrap());
    match client.get_task(&GetTaskRequest::new("t")).await {
        Err(CallError::Refused(error)) => *error,
        other => panic!("{binding}: {other:?}"),
    }
}

fn info(kind: ErrorKind, domain: &str) -> Value {
    json!({
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": kind.reason().unwrap(),
        "domain": domain,
        "metadata": {"taskId": "t"},
    })
}

const OURS: &str = "a2a-protocol.org";

#[tokio::test]
async fn json_rpc_by_reason_and_by_code() {
    // A2A-RPC-27, A2A-RPC-34
    for (kind, code, _, _) in REFUSALS {
        let other = if code == -32001 { -32002 } else { -32001 };
        for (code, data) in [
            (code, json!([info(kind, OURS)])),
            (code, json!(null)),
            // What is no list of details, as 0.3 had it, or somebody else's, says nothing.
            (code, json!({"any": 1})),
            (
                code,
                json!([{"@type": "x"}, 7, info(ErrorKind::TaskNotFound, "example.com")]),
            ),
            // A reason goes before a code.
            (other, json!([info(kind, OURS)])),
        ] {
            let error = json!({"code": code, "message": "no", "data": data});
            let body = json!({"jsonrpc": "2.0", "id": 1, "error": error}).to_string();
            for status in [200, 400] {
                let body = body.clone();
                let site = Site::new(move |_| reply(status, &[], body.clone()));
                let refusal = refusal(Binding::JsonRpc, site).await;
                assert_eq!(refusal.kind(), kind, "{error}");
                assert_eq!(refusal.reason(), kind.reason());
                assert_eq!(refusal.message(), "no");
            }
        }
    }
}

#[tokio::test]
async fn http_by_reason_in_both_versions() {
    // A2A-REST-25, T-1
    for (kind, _, statuses, _) in REFUSALS {
        for status in statuses {
            let body = json!({"error": {"code": status, "status": "ANY", "message": "no", "details": [info(kind, OURS)]}});
            let site = Site::new(move |_| reply(status, &[], body.to_string()));
            let refusal = refusal(Binding::Rest, site).await;
            assert_eq!(refusal.kind(), kind, "{status}");
            assert_eq!(refusal.metadata().collect::<Vec<_>>(), [("taskId", "t")]);
        }
    }
    // Without a reason, what only one refusal had.
    for (status, kind) in [
        (409, ErrorKind::TaskNotCancelable),
        (401, ErrorKind::Unauthenticated),
        (403, ErrorKind::PermissionDenied),
        (429, ErrorKind::ResourceExhausted),
        (503, ErrorKind::Unavailable),
    ] {
        let site = Site::new(move |_| reply(status, &[], r#"{"error":{"message":"no"}}"#));
        assert_eq!(refusal(Binding::Rest, site).await.kind(), kind, "{status}");
    }
}

/// A field of a message of protobuf that has a length.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    let mut length = bytes.len();
    let mut field = vec![number << 3 | 2];
    while length >= 0x80 {
        field.push(u8::try_from(length & 0x7f).unwrap() | 0x80);
        length >>= 7;
    }
    field.push(u8::try_from(length).unwrap());
    field.extend_from_slice(bytes);
    field
}

#[tokio::test]
async fn grpc_by_reason_in_both_versions() {
    // A2A-GRPC, O-G01, T-1
    for (kind, _, _, codes) in REFUSALS {
        for code in codes {
            let metadata = [field(1, b"taskId"), field(2, b"t")].concat();
            let info = [
                field(1, kind.reason().unwrap().as_bytes()),
                field(2, OURS.as_bytes()),
                field(3, &metadata),
            ]
            .concat();
            let any = [
                field(1, b"type.googleapis.com/google.rpc.ErrorInfo"),
                field(2, &info),
            ]
            .concat();
            let status = [vec![0x08, code], field(2, b"no"), field(3, &any)].concat();
            let details = BASE64_STANDARD_NO_PAD.encode(status);
            let site = Site::new(move |_| {
                let mut response = reply(
                    200,
                    &[
                        ("grpc-message", "no"),
                        ("grpc-status-details-bin", &details),
                    ],
                    "",
                );
                let headers = response.headers_mut();
                headers.insert("content-type", "application/grpc".parse().unwrap());
                headers.insert("grpc-status", u16::from(code).into());
                response
            });
            let refusal = refusal(Binding::Grpc, site).await;
            assert_eq!(refusal.kind(), kind, "{code}");
            assert_eq!(refusal.metadata().collect::<Vec<_>>(), [("taskId", "t")]);
        }
    }
}
