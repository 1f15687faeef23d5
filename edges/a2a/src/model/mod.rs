//! The data model of A2A 1.0 and its JSON form.
//!
//! Names, numbers and presence follow `a2a.proto`; the JSON form is ProtoJSON. In short:
//!
//! - Written: lowerCamelCase names, full enum names, members at their default left out
//!   unless the protocol requires them, timestamps in UTC with three fraction digits,
//!   free-form values with the text that they came with.
//! - Read: both spellings of a name (not in one object), enum names and numbers, any
//!   base64 alphabet, `null` as "not set", unknown members ignored, one member of each
//!   `oneof`.
//!
//! There are two ways to read. [`decode_request`] is for servers: everything required is
//! there, everything is within [`Bounds`], and [`Invalid`] names each fault that was
//! found. [`decode_response`], which is what `Deserialize` does, is for clients and
//! stores: what is missing takes its default, and an unknown state of a task is
//! [`TaskState::Unknown`].
//!
//! ```
//! use portcullis_a2a::model::{SendMessageRequest, decode_request};
//!
//! let invalid = decode_request::<SendMessageRequest>(
//!     r#"{"message": {"role": "ROLE_USER", "parts": [{"text": "a", "url": "b"}]}}"#,
//! )
//! .unwrap_err();
//! let faults: Vec<_> = invalid.violations().iter().map(ToString::to_string).collect();
//! assert_eq!(
//!     faults,
//!     [
//!         "message.parts[0]: exactly one of text, raw, url, data is allowed",
//!         "message.messageId: required",
//!     ],
//! );
//! ```

#[macro_use]
mod decode;

mod artifact;
mod bounds;
mod card;
mod error;
mod event;
mod message;
mod metadata;
mod operation;
mod part;
mod push;
mod request;
mod role;
mod state;
mod task;
mod timestamp;
#[cfg(feature = "v0_3")]
pub(crate) mod v0_3;

pub use self::{
    artifact::Artifact,
    bounds::Bounds,
    card::{
        AgentCapabilities, AgentCard, AgentCardBuilder, AgentCardSignature, AgentExtension,
        AgentInterface, AgentProvider, AgentSkill, ApiKeySecurityScheme,
        AuthorizationCodeOAuthFlow, ClientCredentialsOAuthFlow, DeviceCodeOAuthFlow,
        HttpAuthSecurityScheme, ImplicitOAuthFlow, MutualTlsSecurityScheme, OAuth2SecurityScheme,
        OAuthFlows, OpenIdConnectSecurityScheme, PasswordOAuthFlow, SecurityRequirement,
        SecurityScheme, StringList,
    },
    decode::{Decode, decode_request, decode_request_within, decode_response},
    error::{Error, ErrorDetails, ErrorKind, Invalid, RpcCode, Violation},
    event::{SendMessageResponse, StreamResponse, TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    message::Message,
    metadata::Metadata,
    operation::{Operation, Request},
    part::{Part, PartContent},
    push::{
        AuthenticationInfo, DeleteTaskPushNotificationConfigRequest,
        GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest,
        ListTaskPushNotificationConfigsResponse, TaskPushNotificationConfig,
    },
    request::{
        CancelTaskRequest, GetExtendedAgentCardRequest, GetTaskRequest, ListTasksRequest,
        ListTasksResponse, SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest,
    },
    role::Role,
    state::TaskState,
    task::{Task, TaskStatus},
    timestamp::{InvalidTimestamp, Timestamp},
};
#[cfg(feature = "grpc")]
pub(crate) use self::{decode::string_of, error::DOMAIN};
