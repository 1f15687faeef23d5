use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::Full;
use portcullis::TraceContext;
use serde::Serialize;

#[cfg(feature = "grpc")]
use super::grpc::OverGrpc;
use super::{
    binding::{Binding, Envelope},
    error::CallError,
    events::EventStream,
    exchange::{exchange, has_type, media_type, succeeded, whole},
    interface::{self, NoInterface},
    params::{Answer, Params},
    rest,
    transport::{ReplyBody, Transport},
};
use crate::{
    model::{
        AgentCard, CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind,
        GetExtendedAgentCardRequest, GetTaskPushNotificationConfigRequest, GetTaskRequest,
        ListTaskPushNotificationConfigsRequest, ListTaskPushNotificationConfigsResponse,
        ListTasksRequest, ListTasksResponse, Operation, SendMessageRequest, SendMessageResponse,
        SubscribeToTaskRequest, Task, TaskPushNotificationConfig, decode_response,
    },
    wire::{A2A_JSON, EVENT_STREAM, EXTENSIONS, Id, JSON, VERSION, VERSION_1_0, Verb, json_string},
};

/// A client of one agent, over one of the [bindings](Binding). A clone shares the transport.
///
/// See the module docs.
#[derive(Clone)]
pub struct Client<T> {
    transport: T,
    binding: Binding,
    url: Uri,
    tenant: Option<String>,
    extensions: Option<HeaderValue>,
    trace: Option<TraceContext>,
    shared: Arc<Shared>,
    limit: usize,
    idle: Duration,
}

/// What all clones know of the server.
struct Shared {
    next_id: AtomicU64,
    /// It takes no `application/a2a+json` (A2A-REST-15).
    plain_json: AtomicBool,
    /// It has `GET` for `SubscribeToTask` and no `POST` (A2A-REST-3).
    subscribes_by_get: AtomicBool,
}

impl<T: Transport> Client<T> {
    /// A client of the JSON-RPC interface at `url`, which is used as it is.
    #[must_use]
    pub fn new(transport: T, url: Uri) -> Self {
        Self::over(Binding::JsonRpc, transport, url)
    }

    /// A client of the interface at `url` that speaks a binding. The routes of HTTP+JSON are below
    /// the URL; of that of gRPC, scheme, host and port count.
    #[must_use]
    pub fn over(binding: Binding, transport: T, url: Uri) -> Self {
        Self {
            transport,
            binding,
            url,
            tenant: None,
            extensions: None,
            trace: None,
            shared: Arc::new(Shared {
                next_id: AtomicU64::new(1),
                plain_json: AtomicBool::new(false),
                subscribes_by_get: AtomicBool::new(false),
            }),
            limit: 8 << 20,
            idle: Duration::from_secs(300),
        }
    }

    /// A client of the first interface of the card that every transport carries, JSON-RPC or
    /// HTTP+JSON, and of its tenant. For gRPC, name it to [`of_card_over`](Self::of_card_over).
    ///
    /// # Errors
    /// When the card offers none.
    pub fn of_card(transport: T, card: &AgentCard) -> Result<Self, NoInterface> {
        Self::of_card_over(Binding::PLAIN, transport, card)
    }

    /// A client of the first interface of the card that speaks one of these bindings, and of its
    /// tenant.
    ///
    /// A gRPC interface is a `host:port`: it is taken to have TLS, except on this very machine, where
    /// the other interfaces of the port say so. [`over`](Self::over) takes what it is given.
    ///
    /// # Errors
    /// When the card offers none.
    pub fn of_card_over(
        bindings: &[Binding],
        transport: T,
        card: &AgentCard,
    ) -> Result<Self, NoInterface> {
        let (binding, interface) = interface::choose(card, bindings)?;
        let url = interface::address(card, binding, &interface.url)
            .ok_or_else(|| NoInterface::at(binding, &interface.url))?;
        let client = Self::over(binding, transport, url);
        Ok(if interface.tenant.is_empty() {
            client
        } else {
            client.tenant(&interface.tenant)
        })
    }

    /// Puts a tenant into every request.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Asks for these extensions with every request. What no header can hold is left out.
    #[must_use]
    pub fn extensions<'a>(mut self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let line = uris.into_iter().collect::<Vec<_>>().join(",");
        self.extensions = HeaderValue::from_str(&line)
            .ok()
            .filter(|line| !line.is_empty());
        self
    }

    /// Says with every request where it stands in a distributed trace, in the headers
    /// `traceparent` and `tracestate`. A clone for one turn is cheap:
    ///
    /// ```
    /// # use portcullis::{Scope, TraceContext};
    /// # use portcullis_a2a::client::{Client, Transport};
    /// # fn doc(client: Client<impl Transport>, scope: &Scope) {
    /// let client = client.clone().in_trace(scope.extensions().get::<TraceContext>());
    /// # }
    /// ```
    #[must_use]
    pub fn in_trace(mut self, trace: Option<&TraceContext>) -> Self {
        self.trace = trace.cloned();
        self
    }

    /// The most bytes that a reply or an event may have. The default is 8 MiB.
    #[must_use]
    pub const fn limit(mut self, bytes: usize) -> Self {
        self.limit = bytes;
        self
    }

    /// How long a stream may be silent, comments included. The default is five minutes. gRPC has
    /// no comments, so there it does not count; let the transport send pings of HTTP/2.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// Sends a message and waits for its task or its answer.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send_message(
        &self,
        request: &SendMessageRequest,
    ) -> Result<SendMessageResponse, CallError> {
        self.call(Operation::SendMessage, request, &request.tenant)
            .await
    }

    /// Sends a message and follows what happens. A refusal is an error here already.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send_streaming_message(
        &self,
        request: &SendMessageRequest,
    ) -> Result<EventStream, CallError> {
        self.stream(
            Operation::SendStreamingMessage,
            request,
            &request.tenant,
            None,
        )
        .await
    }

    /// Reads a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn get_task(&self, request: &GetTaskRequest) -> Result<Task, CallError> {
        self.call(Operation::GetTask, request, &request.tenant)
            .await
    }

    /// A page of the caller's tasks.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_tasks(
        &self,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, CallError> {
        self.call(Operation::ListTasks, request, &request.tenant)
            .await
    }

    /// Asks a task to stop.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cancel_task(&self, request: &CancelTaskRequest) -> Result<Task, CallError> {
        self.call(Operation::CancelTask, request, &request.tenant)
            .await
    }

    /// Joins a running task: the task as it is, then what happens. With the id of an event, the
    /// first frame is the task as of that event, and everything after follows, where the server
    /// can.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn subscribe_to_task(
        &self,
        request: &SubscribeToTaskRequest,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, CallError> {
        self.stream(
            Operation::SubscribeToTask,
            request,
            &request.tenant,
            last_event_id,
        )
        .await
    }

    /// Leaves a webhook for a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn create_push_config(
        &self,
        config: &TaskPushNotificationConfig,
    ) -> Result<TaskPushNotificationConfig, CallError> {
        let operation = Operation::CreateTaskPushNotificationConfig;
        self.call(operation, config, &config.tenant).await
    }

    /// Reads one webhook of a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn push_config(
        &self,
        request: &GetTaskPushNotificationConfigRequest,
    ) -> Result<TaskPushNotificationConfig, CallError> {
        let operation = Operation::GetTaskPushNotificationConfig;
        self.call(operation, request, &request.tenant).await
    }

    /// Reads the webhooks of a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_push_configs(
        &self,
        request: &ListTaskPushNotificationConfigsRequest,
    ) -> Result<ListTaskPushNotificationConfigsResponse, CallError> {
        let operation = Operation::ListTaskPushNotificationConfigs;
        self.call(operation, request, &request.tenant).await
    }

    /// Removes a webhook; one that is gone already too.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn delete_push_config(
        &self,
        request: &DeleteTaskPushNotificationConfigRequest,
    ) -> Result<(), CallError> {
        let operation = Operation::DeleteTaskPushNotificationConfig;
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            return self.over_grpc().delete(request).await;
        }
        let params = self.params(request, &request.tenant)?;
        // Whatever it says: servers differ (A2A-RPC-16, A2A-REST-19).
        self.answer(operation, &params).await.map(drop)
    }

    /// Reads the card for those who authenticate.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn extended_card(
        &self,
        request: &GetExtendedAgentCardRequest,
    ) -> Result<AgentCard, CallError> {
        let operation = Operation::GetExtendedAgentCard;
        self.call(operation, request, &request.tenant).await
    }

    async fn call<R: Answer>(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
    ) -> Result<R, CallError> {
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            return self.over_grpc().call(operation, params).await;
        }
        let params = self.params(params, tenant)?;
        let answer = self.answer(operation, &params).await?;
        decode_response(&answer).map_err(|error| {
            CallError::protocol(format!("the result of {operation} is not valid: {error}"))
        })
    }

    /// The answer of an operation that answers once, as JSON text.
    async fn answer(&self, operation: Operation, params: &str) -> Result<String, CallError> {
        let (envelope, response) = self.respond(operation, params, None).await?;
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), self.limit).await?;
        let answer = envelope
            .open(&body)
            .map_err(|error| of_type(error, &type_))?;
        Ok(answer.unwrap_or("null").to_owned())
    }

    async fn stream(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, CallError> {
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            let over_grpc = self.over_grpc().resuming_after(last_event_id);
            return over_grpc.stream(operation, params).await;
        }
        let params = self.params(params, tenant)?;
        let (envelope, response) = self.respond(operation, &params, last_event_id).await?;
        if has_type(response.headers(), EVENT_STREAM) {
            return Ok(EventStream::new(
                envelope,
                response.into_body(),
                self.limit,
                self.idle,
            ));
        }
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), self.limit).await?;
        // A refusal that was known before the first event comes in one piece.
        envelope
            .open(&body)
            .map_err(|error| of_type(error, &type_))?;
        Ok(EventStream::one(envelope, &body, self.idle))
    }

    /// The parameters as a JSON object, with our tenant where they name none.
    fn params(&self, params: &impl Serialize, tenant: &str) -> Result<String, CallError> {
        let unwritable = |error: serde_json::Error| CallError::Transport(error.into());
        let mut params = serde_json::to_string(params).map_err(unwritable)?;
        if let (Some(ours), "") = (&self.tenant, tenant) {
            let ours = json_string(ours);
            let comma = if params == "{}" { "" } else { "," };
            params.insert_str(1, &format!("\"tenant\":{ours}{comma}"));
        }
        Ok(params)
    }

    /// Sends a call, and once more in another form to a server that does not know the first.
    async fn respond(
        &self,
        operation: Operation,
        params: &str,
        last_event_id: Option<&str>,
    ) -> Result<(Envelope, Response<ReplyBody>), CallError> {
        let first = self.attempt(operation, params, last_event_id).await;
        let by_get = &self.shared.subscribes_by_get;
        match first {
            // Servers after the proto file have no POST there (A2A-REST-3).
            Err(error)
                if self.binding == Binding::Rest
                    && operation == Operation::SubscribeToTask
                    && is_nowhere(&error)
                    && !by_get.load(Ordering::Relaxed) =>
            {
                by_get.store(true, Ordering::Relaxed);
                let second = self.attempt(operation, params, last_event_id).await;
                if second.as_ref().is_err_and(is_nowhere) {
                    by_get.store(false, Ordering::Relaxed);
                }
                second
            }
            first => first,
        }
    }

    async fn attempt(
        &self,
        operation: Operation,
        params: &str,
        last_event_id: Option<&str>,
    ) -> Result<(Envelope, Response<ReplyBody>), CallError> {
        let (envelope, request) = self.request(operation, params, last_event_id)?;
        let mut response = exchange(&self.transport, request).await?;
        // Servers of 1.0.0 may take the plain type only (A2A-REST-15).
        if self.binding == Binding::Rest
            && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
            && !self.shared.plain_json.swap(true, Ordering::Relaxed)
        {
            let (_, request) = self.request(operation, params, last_event_id)?;
            response = exchange(&self.transport, request).await?;
        }
        let response = succeeded(response, self.binding, self.limit).await?;
        Ok((envelope, response))
    }

    fn request(
        &self,
        operation: Operation,
        params: &str,
        last_event_id: Option<&str>,
    ) -> Result<(Envelope, Request<Full<Bytes>>), CallError> {
        let (envelope, mut request) = match self.binding {
            Binding::JsonRpc => self.of_json_rpc(operation, params),
            Binding::Rest => self.of_rest(operation, params)?,
            #[cfg(feature = "grpc")]
            Binding::Grpc => unreachable!("gRPC has calls of its own"),
        };
        let headers = request.headers_mut();
        headers.insert(ACCEPT, self.accepts(operation));
        self.speak(headers, last_event_id);
        Ok((envelope, request))
    }

    /// What travels beside a call (A2A-SVC-1).
    fn speak(&self, headers: &mut HeaderMap, last_event_id: Option<&str>) {
        // On every request (A2A-SVC-3, O-V02).
        headers.insert(VERSION.clone(), VERSION_1_0.clone());
        if let Some(extensions) = &self.extensions {
            headers.insert(EXTENSIONS.clone(), extensions.clone());
        }
        let (parent, state) = self.trace.as_ref().map_or((None, None), |trace| {
            (Some(trace.traceparent()), trace.tracestate())
        });
        for (name, text) in [
            ("traceparent", parent.as_deref()),
            ("tracestate", state),
            ("last-event-id", last_event_id),
        ] {
            if let Some(value) = text.and_then(|text| HeaderValue::from_str(text).ok()) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }

    #[cfg(feature = "grpc")]
    fn over_grpc(&self) -> OverGrpc<'_, T> {
        let mut headers = HeaderMap::new();
        self.speak(&mut headers, None);
        OverGrpc {
            transport: &self.transport,
            url: &self.url,
            tenant: self.tenant.as_deref(),
            headers,
            limit: self.limit,
        }
    }

    fn of_json_rpc(&self, operation: Operation, params: &str) -> (Envelope, Request<Full<Bytes>>) {
        let id = Id::number(self.shared.next_id.fetch_add(1, Ordering::Relaxed));
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{operation}","params":{params}}}"#);
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.url);
        let json = HeaderValue::from_static(JSON);
        request.headers_mut().insert(CONTENT_TYPE, json);
        (Envelope::JsonRpc(id), request)
    }

    fn of_rest(
        &self,
        operation: Operation,
        params: &str,
    ) -> Result<(Envelope, Request<Full<Bytes>>), CallError> {
        let verbs = Verb::of(operation);
        let by_get = self.shared.subscribes_by_get.load(Ordering::Relaxed);
        let verb = if by_get {
            verbs[verbs.len() - 1]
        } else {
            verbs[0]
        };
        let call = rest::Call::new(&self.url, operation, verb, params)?;
        let typed = call.body.is_some();
        let mut request = Request::new(Full::from(call.body.unwrap_or_default()));
        *request.method_mut() = verb.method();
        *request.uri_mut() = call.uri;
        if typed {
            let plain = self.shared.plain_json.load(Ordering::Relaxed);
            let type_ = HeaderValue::from_static(if plain { JSON } else { A2A_JSON });
            request.headers_mut().insert(CONTENT_TYPE, type_);
        }
        Ok((Envelope::None, request))
    }

    /// An answer of one piece, or a stream where one is due (A2A-RPC-24, A2A-REST-15).
    fn accepts(&self, operation: Operation) -> HeaderValue {
        let streams = matches!(
            operation,
            Operation::SendStreamingMessage | Operation::SubscribeToTask
        );
        let is_rest = self.binding == Binding::Rest;
        HeaderValue::from_static(match (is_rest, streams) {
            (false, false) => JSON,
            (false, true) => "text/event-stream, application/json",
            (true, false) => "application/a2a+json, application/json",
            (true, true) => "text/event-stream, application/a2a+json, application/json",
        })
    }
}

impl<T> Client<T> {
    /// Where the agent is.
    #[must_use]
    pub const fn url(&self) -> &Uri {
        &self.url
    }

    /// What it speaks.
    #[must_use]
    pub const fn binding(&self) -> Binding {
        self.binding
    }

    /// What carries the requests.
    #[must_use]
    pub const fn get_ref(&self) -> &T {
        &self.transport
    }
}

impl<T> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("binding", &self.binding)
            .field("url", &self.url)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

/// Whether nothing is served at an address, as opposed to a task that is not there.
fn is_nowhere(error: &CallError) -> bool {
    match error {
        CallError::Refused(refusal) => refusal.kind() == ErrorKind::MethodNotFound,
        CallError::Status { status, .. } => {
            matches!(
                *status,
                StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED
            )
        }
        _ => false,
    }
}

/// A page of HTML is told by its type rather than by the first byte that is no JSON.
fn of_type(error: CallError, type_: &str) -> CallError {
    let is_json = [JSON, A2A_JSON]
        .iter()
        .any(|json| type_.eq_ignore_ascii_case(json));
    match error {
        CallError::Protocol(_) if !is_json => {
            let type_ = if type_.is_empty() {
                "without a type"
            } else {
                type_
            };
            CallError::protocol(format!("the reply is {type_}, not {JSON}"))
        }
        error => error,
    }
}
