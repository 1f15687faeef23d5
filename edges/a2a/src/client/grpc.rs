use std::task::{Context, Poll};

use futures_util::future::BoxFuture;
use http::{
    HeaderMap, HeaderName, HeaderValue, Request, Response, StatusCode, Uri, uri::PathAndQuery,
};
use http_body_util::{BodyExt, Full};
use serde::Serialize;
use tonic::{Code, Status, client::Grpc, metadata::MetadataMap};
use tower_service::Service;

use super::{
    BoxError,
    error::CallError,
    events::EventStream,
    exchange::in_time,
    limits::{Limits, TooLong},
    messages::Messages,
    retry_after::retry_after,
    status_details::readable,
    transport::{ReplyBody, Transport},
};
use crate::{
    binding,
    model::{
        self, CancelTaskRequest, Decode, DeleteTaskPushNotificationConfigRequest, Error,
        GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
        ListTaskPushNotificationConfigsRequest, ListTasksRequest, Operation, SendMessageRequest,
        SubscribeToTaskRequest, TaskPushNotificationConfig, decode_response,
    },
    proto::{Codec, Proto, Text, a2a, error_of, json},
};

/// What a call takes.
pub(super) trait Params: Serialize + Clone + Proto<Self::Message> {
    type Message: prost::Message + 'static;

    /// The tenant that it names.
    fn tenant(&mut self) -> &mut String;
}

/// What it gives.
pub(super) trait Answer: Decode {
    type Message: prost::Message + Default + Text + 'static;
}

macro_rules! params {
    ($($params:ident),*) => {
        $(impl Params for $params {
            type Message = a2a::$params;

            fn tenant(&mut self) -> &mut String {
                &mut self.tenant
            }
        })*
    };
}

params!(
    SendMessageRequest,
    GetTaskRequest,
    ListTasksRequest,
    CancelTaskRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    GetTaskPushNotificationConfigRequest,
    ListTaskPushNotificationConfigsRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest
);

macro_rules! answers {
    ($($answer:ident),*) => {
        $(impl Answer for model::$answer {
            type Message = a2a::$answer;
        })*
    };
}

answers!(
    SendMessageResponse,
    Task,
    ListTasksResponse,
    TaskPushNotificationConfig,
    ListTaskPushNotificationConfigsResponse,
    AgentCard
);

/// One call of a client over gRPC.
pub(super) struct OverGrpc<'a, T> {
    pub(super) transport: &'a T,
    pub(super) url: &'a Uri,
    pub(super) tenant: Option<&'a str>,
    pub(super) headers: HeaderMap,
    pub(super) limits: Limits,
}

impl<T: Transport> OverGrpc<'_, T> {
    pub(super) fn resuming_after(mut self, event: Option<&str>) -> Self {
        if let Some(event) = event.and_then(|event| HeaderValue::from_bytes(event.as_bytes()).ok())
        {
            let name = HeaderName::from_static("last-event-id");
            self.headers.insert(name, event);
        }
        self
    }

    pub(super) async fn call<R: Answer>(
        self,
        operation: Operation,
        params: &impl Params,
    ) -> Result<String, CallError> {
        let limits = self.limits;
        let (mut grpc, path) = self.ready(operation).await?;
        let codec = Codec::<_, R::Message>::default();
        let response = in_time(&limits, grpc.unary(self.request(params), path, codec)).await?;
        let message = response.map_err(|status| failed(status, limits.piece))?;
        json(message.get_ref()).map_err(|error| {
            CallError::protocol(format!("the result of {operation} is not valid: {error}"))
        })
    }

    pub(super) async fn delete(
        self,
        params: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), CallError> {
        let limits = self.limits;
        let operation = Operation::DeleteTaskPushNotificationConfig;
        let (mut grpc, path) = self.ready(operation).await?;
        let codec = Codec::<_, ()>::default();
        let response = in_time(&limits, grpc.unary(self.request(params), path, codec)).await?;
        response
            .map(drop)
            .map_err(|status| failed(status, limits.piece))
    }

    pub(super) async fn stream(
        self,
        operation: Operation,
        params: &impl Params,
    ) -> Result<EventStream, CallError> {
        let limits = self.limits;
        let (mut grpc, path) = self.ready(operation).await?;
        let codec = Codec::<_, a2a::StreamResponse>::default();
        let request = self.request(params);
        let opening = async {
            let response = grpc.server_streaming(request, path, codec).await;
            let response = response.map_err(|status| failed(status, limits.piece))?;
            Messages::open(response.into_inner(), limits).await
        };
        Ok(EventStream::of_messages(in_time(&limits, opening).await??))
    }

    async fn ready(
        &self,
        operation: Operation,
    ) -> Result<(Grpc<Channel<T>>, PathAndQuery), CallError> {
        let channel = Channel(self.transport.clone());
        let mut grpc = Grpc::with_origin(channel, self.url.clone())
            .max_decoding_message_size(self.limits.piece);
        grpc.ready().await.map_err(CallError::Transport)?;
        let path = PathAndQuery::try_from(format!("{}/{operation}", binding::Grpc::PATH));
        Ok((grpc, path.expect("letters, dots and slashes")))
    }

    fn request<P: Params>(&self, params: &P) -> tonic::Request<P::Message> {
        let mut params = params.clone();
        let tenant = params.tenant();
        if let (Some(ours), true) = (self.tenant, tenant.is_empty()) {
            ours.clone_into(tenant);
        }
        let mut request = tonic::Request::new(params.proto());
        *request.metadata_mut() = MetadataMap::from_headers(self.headers.clone());
        request
    }
}

/// An event of a stream; `None` where it is of a kind that nobody knows.
pub(super) fn event(
    message: &a2a::StreamResponse,
) -> Result<Option<model::StreamResponse>, CallError> {
    if message.payload.is_none() {
        return Ok(None);
    }
    let invalid = |error: &dyn std::fmt::Display| {
        CallError::protocol(format!("an event is not valid: {error}"))
    };
    let json = json(message).map_err(|error| invalid(&error))?;
    decode_response(&json)
        .map(Some)
        .map_err(|error| invalid(&error))
}

/// Why a call has no answer: the server refused, or nobody answered.
pub(super) fn failed(status: Status, limit: usize) -> CallError {
    if let Some(refusal) =
        std::error::Error::source(&status).and_then(|source| source.downcast_ref::<Error>())
    {
        return CallError::Refused(Box::new(refusal.clone()));
    }
    if is_broken(&status) {
        return CallError::Transport(status.into());
    }
    // Nothing of the protocol has this code; the reader of messages has it.
    if status.code() == Code::OutOfRange {
        return TooLong::reply(limit).into();
    }
    CallError::Refused(Box::new(error_of(&status)))
}

/// Whether this side says so: what a server says comes from nothing here.
pub(super) fn is_broken(status: &Status) -> bool {
    std::error::Error::source(status).is_some()
}

/// A transport as the calls of `tonic` have it.
struct Channel<T>(T);

impl<T: Transport> Service<Request<tonic::body::Body>> for Channel<T> {
    type Response = Response<ReplyBody>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Response<ReplyBody>, BoxError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        // The transport itself is waited for in the call.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<tonic::body::Body>) -> Self::Future {
        let transport = self.0.clone();
        Box::pin(async move {
            let (head, body) = request.into_parts();
            // One message, that is at hand.
            let body = body.collect().await?.to_bytes();
            let request = Request::from_parts(head, Full::new(body));
            let response = transport.exchange(request).await?;
            // What is in front of the server speaks in statuses of HTTP, and its body is no message.
            match response.status() {
                StatusCode::OK => Ok(readable(response)),
                status => {
                    let message = format!("the server answered {status}");
                    let refusal = Error::from_http(status.as_u16(), message, None);
                    Err(refusal.retry_after(retry_after(response.headers())).into())
                }
            }
        })
    }
}
