//! Every type of the model goes into its message and comes back as it was.

use std::collections::BTreeMap;

use fastrand::Rng;
use portcullis::Json;
use proptest::prelude::*;

use super::{Proto, Text, a2a, error_of, json, status_of};
use crate::model::*;

/// Some value of a type.
trait Sample: Sized {
    fn sample(rng: &mut Rng) -> Self;
}

impl Sample for String {
    fn sample(rng: &mut Rng) -> Self {
        (0..rng.usize(1..8)).map(|_| rng.char(..)).collect()
    }
}

impl Sample for bool {
    fn sample(rng: &mut Rng) -> Self {
        rng.bool()
    }
}

impl Sample for i32 {
    fn sample(rng: &mut Rng) -> Self {
        rng.i32(..)
    }
}

impl<T: Sample> Sample for Option<T> {
    fn sample(rng: &mut Rng) -> Self {
        rng.bool().then(|| T::sample(rng))
    }
}

impl<T: Sample> Sample for Vec<T> {
    fn sample(rng: &mut Rng) -> Self {
        (0..rng.usize(0..3)).map(|_| T::sample(rng)).collect()
    }
}

impl<T: Sample> Sample for BTreeMap<String, T> {
    fn sample(rng: &mut Rng) -> Self {
        (0..rng.usize(0..3))
            .map(|_| (String::sample(rng), T::sample(rng)))
            .collect()
    }
}

/// Sorted names and numbers that are floats: what a message can hold.
impl Sample for Json {
    fn sample(rng: &mut Rng) -> Self {
        Self::encode(&value(rng, 3)).unwrap()
    }
}

fn value(rng: &mut Rng, depth: usize) -> serde_json::Value {
    match rng.usize(0..if depth == 0 { 5 } else { 7 }) {
        0 => serde_json::Value::Null,
        1 => rng.bool().into(),
        2 => rng.i64(-(1 << 53) + 1..1 << 53).into(),
        3 => (rng.f64() - 0.5).into(),
        4 => String::sample(rng).into(),
        5 => (0..rng.usize(0..3))
            .map(|_| value(rng, depth - 1))
            .collect(),
        _ => serde_json::Value::Object(
            (0..rng.usize(0..3))
                .map(|_| (String::sample(rng), value(rng, depth - 1)))
                .collect::<BTreeMap<_, _>>()
                .into_iter()
                .collect(),
        ),
    }
}

impl Sample for Metadata {
    fn sample(rng: &mut Rng) -> Self {
        BTreeMap::<String, Json>::sample(rng).into_iter().collect()
    }
}

impl Sample for Timestamp {
    fn sample(rng: &mut Rng) -> Self {
        Self::from_unix_millis(rng.i64(-62_135_596_800_000..253_402_207_200_000))
    }
}

impl Sample for TaskState {
    fn sample(rng: &mut Rng) -> Self {
        rng.choice(Self::ALL).unwrap()
    }
}

impl Sample for Role {
    fn sample(rng: &mut Rng) -> Self {
        rng.choice([Self::User, Self::Agent]).unwrap()
    }
}

impl Sample for Part {
    fn sample(rng: &mut Rng) -> Self {
        let mut part = Self::new(match rng.usize(0..4) {
            0 => PartContent::Text(String::sample(rng)),
            1 => PartContent::Raw((0..rng.usize(0..9)).map(|_| rng.u8(..)).collect()),
            2 => PartContent::Url(String::sample(rng)),
            _ => PartContent::Data(Json::sample(rng)),
        });
        part.metadata = Metadata::sample(rng);
        part.filename = String::sample(rng);
        part.media_type = String::sample(rng);
        part
    }
}

macro_rules! sample {
    ($($name:ident { $($field:ident),* })*) => {
        $(impl Sample for $name {
            fn sample(rng: &mut Rng) -> Self {
                Self { $($field: Sample::sample(rng),)* }
            }
        })*
    };
}

sample! {
    Task { id, context_id, status, artifacts, history, metadata }
    TaskStatus { state, message, timestamp }
    Message {
        message_id, context_id, task_id, role, parts, metadata, extensions, reference_task_ids
    }
    Artifact { artifact_id, name, description, parts, metadata, extensions }
    TaskStatusUpdateEvent { task_id, context_id, status, metadata }
    TaskArtifactUpdateEvent { task_id, context_id, artifact, append, last_chunk, metadata }
    SendMessageRequest { tenant, message, configuration, metadata }
    SendMessageConfiguration {
        accepted_output_modes, task_push_notification_config, history_length, return_immediately
    }
    GetTaskRequest { tenant, id, history_length }
    ListTasksRequest {
        tenant, context_id, status, page_size, page_token, history_length, status_timestamp_after,
        include_artifacts
    }
    ListTasksResponse { tasks, next_page_token, page_size, total_size }
    CancelTaskRequest { tenant, id, metadata }
    SubscribeToTaskRequest { tenant, id }
    TaskPushNotificationConfig { tenant, id, task_id, url, token, authentication }
    AuthenticationInfo { scheme, credentials }
    GetTaskPushNotificationConfigRequest { tenant, task_id, id }
    DeleteTaskPushNotificationConfigRequest { tenant, task_id, id }
    ListTaskPushNotificationConfigsRequest { task_id, page_size, page_token, tenant }
    ListTaskPushNotificationConfigsResponse { configs, next_page_token }
    GetExtendedAgentCardRequest { tenant }
    AgentCard {
        name, description, supported_interfaces, provider, version, documentation_url, capabilities,
        security_schemes, security_requirements, default_input_modes, default_output_modes, skills,
        signatures, icon_url
    }
    AgentInterface { url, protocol_binding, tenant, protocol_version }
    AgentProvider { url, organization }
    AgentCapabilities { streaming, push_notifications, extensions, extended_agent_card }
    AgentExtension { uri, description, required, params }
    AgentSkill {
        id, name, description, tags, examples, input_modes, output_modes, security_requirements
    }
    AgentCardSignature { protected, signature, header }
    SecurityRequirement { schemes }
    StringList { list }
    ApiKeySecurityScheme { description, location, name }
    HttpAuthSecurityScheme { description, scheme, bearer_format }
    OAuth2SecurityScheme { description, flows, oauth2_metadata_url }
    OpenIdConnectSecurityScheme { description, open_id_connect_url }
    MutualTlsSecurityScheme { description }
    AuthorizationCodeOAuthFlow { authorization_url, token_url, refresh_url, scopes, pkce_required }
    ClientCredentialsOAuthFlow { token_url, refresh_url, scopes }
    ImplicitOAuthFlow { authorization_url, refresh_url, scopes }
    PasswordOAuthFlow { token_url, refresh_url, scopes }
    DeviceCodeOAuthFlow { device_authorization_url, token_url, refresh_url, scopes }
}

macro_rules! sample_one {
    ($($name:ident { $($variant:ident),* })*) => {
        $(impl Sample for $name {
            fn sample(rng: &mut Rng) -> Self {
                let all: &[fn(&mut Rng) -> Self] =
                    &[$(|rng| Self::$variant(Sample::sample(rng)),)*];
                all[rng.usize(..all.len())](rng)
            }
        })*
    };
}

sample_one! {
    StreamResponse { Task, Message, StatusUpdate, ArtifactUpdate }
    SendMessageResponse { Task, Message }
    SecurityScheme { ApiKey, HttpAuth, OAuth2, OpenIdConnect, MutualTls }
    OAuthFlows { AuthorizationCode, ClientCredentials, Implicit, Password, DeviceCode }
}

/// Through the bytes of the wire and back.
fn round<T, P>(rng: &mut Rng)
where
    T: Sample + Clone + PartialEq + std::fmt::Debug + Decode + Proto<P>,
    P: prost::Message + Default + Text,
{
    let value = T::sample(rng);
    let bytes = value.clone().proto().encode_to_vec();
    let message = P::decode(&*bytes).unwrap();
    let back: T = decode_response(&json(&message).unwrap()).unwrap();
    assert_eq!(back, value);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    // O-G03: presence, oneofs, empty and absent, as on JSON.
    #[test]
    fn every_message_comes_back_as_it_was(seed in any::<u64>()) {
        let rng = &mut Rng::with_seed(seed);
        round::<Task, a2a::Task>(rng);
        round::<StreamResponse, a2a::StreamResponse>(rng);
        round::<SendMessageResponse, a2a::SendMessageResponse>(rng);
        round::<SendMessageRequest, a2a::SendMessageRequest>(rng);
        round::<GetTaskRequest, a2a::GetTaskRequest>(rng);
        round::<ListTasksRequest, a2a::ListTasksRequest>(rng);
        round::<ListTasksResponse, a2a::ListTasksResponse>(rng);
        round::<CancelTaskRequest, a2a::CancelTaskRequest>(rng);
        round::<SubscribeToTaskRequest, a2a::SubscribeToTaskRequest>(rng);
        round::<TaskPushNotificationConfig, a2a::TaskPushNotificationConfig>(rng);
        round::<GetTaskPushNotificationConfigRequest, a2a::GetTaskPushNotificationConfigRequest>(rng);
        round::<DeleteTaskPushNotificationConfigRequest, a2a::DeleteTaskPushNotificationConfigRequest>(rng);
        round::<ListTaskPushNotificationConfigsRequest, a2a::ListTaskPushNotificationConfigsRequest>(rng);
        round::<ListTaskPushNotificationConfigsResponse, a2a::ListTaskPushNotificationConfigsResponse>(rng);
        round::<GetExtendedAgentCardRequest, a2a::GetExtendedAgentCardRequest>(rng);
        round::<AgentCard, a2a::AgentCard>(rng);
    }
}

#[test]
fn what_protobuf_cannot_hold_is_the_nearest_that_it_can() {
    // A2A-DATA-11
    let data = Json::from_text(
        r#" { "z" : [ 9007199254740993, 1.0, -0.0, 1e400, -1e400, 1e-999 ] , "a":"\ud83d\u00e9\n", "b" : { } , "c":[],"d":true }"#,
    )
    .unwrap();
    let part: Part = decode_response(&json(&Part::data(data).proto()).unwrap()).unwrap();
    assert_eq!(
        part.as_data().unwrap().as_str(),
        concat!(
            r#"{"a":"�é\n","b":{},"c":[],"d":true,"#,
            r#""z":[9007199254740992.0,1,0,1.7976931348623157e+308,-1.7976931348623157e+308,0]}"#
        )
    );
}

#[test]
fn numbers_that_are_none_in_json_are_refused() {
    let mut part = Part::data(Json::from_text("[1]").unwrap()).proto();
    part.metadata = Metadata::new()
        .with("n", Json::from_text("2").unwrap())
        .proto();
    for wrong in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let kind = prost_types::value::Kind::NumberValue(wrong);
        let mut broken = part.clone();
        let fields = &mut broken.metadata.as_mut().unwrap().fields;
        fields.insert("n".to_owned(), prost_types::Value { kind: Some(kind) });
        let error = json(&broken).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidParams);
        assert_eq!(
            error.violations()[0].description(),
            "a number must be finite"
        );
    }
}

#[test]
fn times_that_are_none_are_named() {
    let mut request: a2a::ListTasksRequest = ListTasksRequest::new().proto();
    for (seconds, nanos) in [(i64::MAX, 0), (i64::MIN, 0), (-62_135_596_801, 0)] {
        request.status_timestamp_after = Some(prost_types::Timestamp { seconds, nanos });
        let invalid = decode_request::<ListTasksRequest>(&json(&request).unwrap()).unwrap_err();
        assert_eq!(invalid.violations()[0].field(), "statusTimestampAfter");
    }
}

#[test]
fn enumerations_that_nobody_knows() {
    // A2A-DATA-5: refused in a request, unknown in an answer.
    let mut message: a2a::Message = Message::user("m", [Part::text("x")]).proto();
    for (role, fault) in [(0, "required"), (3, "unknown role"), (-1, "unknown role")] {
        message.role = role;
        let json = json(&message).unwrap();
        let invalid = decode_request::<Message>(&json).unwrap_err();
        let violation = &invalid.violations()[0];
        assert_eq!(
            (violation.field(), violation.description()),
            ("role", fault)
        );
        assert_eq!(
            decode_response::<Message>(&json).unwrap().role,
            Role::Unknown
        );
    }
    let mut request: a2a::ListTasksRequest = ListTasksRequest::new().proto();
    request.status = 9;
    let json = json(&request).unwrap();
    assert_eq!(
        decode_request::<ListTasksRequest>(&json)
            .unwrap_err()
            .violations()[0]
            .description(),
        "unknown task state"
    );
}

// O-G01: each of the nine, and every other one, comes back as it was sent.
#[test]
fn errors_come_back_as_they_were() {
    let others = [
        ErrorKind::InvalidParams,
        ErrorKind::Internal,
        ErrorKind::Unauthenticated,
        ErrorKind::PermissionDenied,
        ErrorKind::ResourceExhausted,
        ErrorKind::Unavailable,
    ];
    for kind in ErrorKind::REFUSALS.into_iter().chain(others) {
        let error = Error::with_message(kind, "Não, obrigado\n")
            .retry_after(Some(std::time::Duration::from_millis(1_500)));
        let error = match kind.reason() {
            Some(_) => error.with("taskId", "t/1"),
            None => error,
        };
        let status = status_of(&error);
        assert_eq!(i32::from(status.code()), kind.rpc_code().number());
        let told = error_of(&status);
        assert_eq!((told.kind(), told.message()), (kind, error.message()));
        assert_eq!(told.after(), error.after());
        assert_eq!(
            told.metadata().collect::<Vec<_>>(),
            error.metadata().collect::<Vec<_>>()
        );
    }
    let invalid = Error::invalid_param("message.parts", "required");
    assert_eq!(
        error_of(&status_of(&invalid)).violations(),
        invalid.violations()
    );
}

#[test]
fn an_error_fits_into_trailers() {
    let long = "é".repeat(100_000);
    let error = Error::with_message(ErrorKind::TaskNotFound, long.clone()).with("taskId", &long);
    let violations = (0..32).map(|_| Violation::new(&long, &long)).collect();
    let status = status_of(&error.violating(violations));
    assert!(status.details().len() < 6_000, "{}", status.details().len());
    assert!(status.message().len() <= 512);
    let told = error_of(&status);
    assert_eq!(told.kind(), ErrorKind::TaskNotFound);
    assert!(!told.violations().is_empty());
}

#[test]
fn codes_tell_what_no_reason_does() {
    for (code, kind) in [
        (tonic::Code::NotFound, ErrorKind::TaskNotFound),
        (tonic::Code::Unimplemented, ErrorKind::MethodNotFound),
        (tonic::Code::Unknown, ErrorKind::Internal),
        (tonic::Code::DeadlineExceeded, ErrorKind::Unavailable),
    ] {
        let garbage = tonic::Status::with_details(code, "x", "not a message".into());
        assert_eq!(error_of(&garbage).kind(), kind);
    }
}
