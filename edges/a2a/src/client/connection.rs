use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderName, HeaderValue, Method, Request, Uri, header::CONTENT_TYPE};
use http_body_util::Full;
use portcullis::TraceContext;
use serde::Serialize;

use super::{
    error::CallError,
    events::EventStream,
    exchange::{accept, exchange, has_type, media_type, whole},
    interface::{self, NoInterface},
    reply::result_of,
    transport::Transport,
};
use crate::{
    model::{
        AgentCard, CancelTaskRequest, Decode, GetTaskRequest, ListTasksRequest, ListTasksResponse,
        SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest, Task, decode_response,
    },
    wire::{EVENT_STREAM, EXTENSIONS, Id, JSON, VERSION, VERSION_1_0},
};

/// A client of one agent, over JSON-RPC. A clone shares the transport.
///
/// See the module docs.
#[derive(Clone)]
pub struct Client<T> {
    transport: T,
    url: Uri,
    tenant: Option<String>,
    extensions: Option<HeaderValue>,
    trace: Option<TraceContext>,
    next_id: Arc<AtomicU64>,
    limit: usize,
    idle: Duration,
}

impl<T: Transport> Client<T> {
    /// A client of the interface at `url`, which is used as it is.
    #[must_use]
    pub fn new(transport: T, url: Uri) -> Self {
        Self {
            transport,
            url,
            tenant: None,
            extensions: None,
            trace: None,
            next_id: Arc::new(AtomicU64::new(1)),
            limit: 8 << 20,
            idle: Duration::from_secs(300),
        }
    }

    /// A client of the first interface of the card that it speaks, and of its tenant.
    ///
    /// # Errors
    /// When the card offers none.
    pub fn of_card(transport: T, card: &AgentCard) -> Result<Self, NoInterface> {
        let interface = interface::choose(card)?;
        let url = interface
            .url
            .parse()
            .map_err(|_| NoInterface::at(&interface.url))?;
        let client = Self::new(transport, url);
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

    /// How long a stream may be silent, comments included. The default is five minutes.
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
        self.call("SendMessage", request, &request.tenant).await
    }

    /// Sends a message and follows what happens. A refusal is an error here already.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn send_streaming_message(
        &self,
        request: &SendMessageRequest,
    ) -> Result<EventStream, CallError> {
        self.stream("SendStreamingMessage", request, &request.tenant, None)
            .await
    }

    /// Reads a task.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn get_task(&self, request: &GetTaskRequest) -> Result<Task, CallError> {
        self.call("GetTask", request, &request.tenant).await
    }

    /// A page of the caller's tasks.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn list_tasks(
        &self,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, CallError> {
        self.call("ListTasks", request, &request.tenant).await
    }

    /// Asks a task to stop.
    ///
    /// # Errors
    /// See [`CallError`].
    pub async fn cancel_task(&self, request: &CancelTaskRequest) -> Result<Task, CallError> {
        self.call("CancelTask", request, &request.tenant).await
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
        self.stream("SubscribeToTask", request, &request.tenant, last_event_id)
            .await
    }

    async fn call<R: Decode>(
        &self,
        method: &str,
        params: &impl Serialize,
        tenant: &str,
    ) -> Result<R, CallError> {
        let (id, mut request) = self.request(method, params, tenant)?;
        accept(request.headers_mut(), false);
        let response = exchange(&self.transport, request, self.limit).await?;
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), self.limit).await?;
        let result = result_of(&body, &id)
            .map_err(|error| of_type(error, &type_))?
            .unwrap_or("null");
        decode_response(result).map_err(|error| {
            CallError::protocol(format!("the result of {method} is not valid: {error}"))
        })
    }

    async fn stream(
        &self,
        method: &str,
        params: &impl Serialize,
        tenant: &str,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, CallError> {
        let (id, mut request) = self.request(method, params, tenant)?;
        let headers = request.headers_mut();
        accept(headers, true);
        if let Some(last) = last_event_id.and_then(|last| HeaderValue::from_str(last).ok()) {
            headers.insert(HeaderName::from_static("last-event-id"), last);
        }
        let response = exchange(&self.transport, request, self.limit).await?;
        if has_type(response.headers(), EVENT_STREAM) {
            return Ok(EventStream::new(
                id,
                response.into_body(),
                self.limit,
                self.idle,
            ));
        }
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), self.limit).await?;
        // A refusal that was known before the first event comes in one piece.
        result_of(&body, &id).map_err(|error| of_type(error, &type_))?;
        Ok(EventStream::one(id, &body, self.idle))
    }

    fn request(
        &self,
        method: &str,
        params: &impl Serialize,
        tenant: &str,
    ) -> Result<(Id, Request<Full<Bytes>>), CallError> {
        let id = Id::number(self.next_id.fetch_add(1, Ordering::Relaxed));
        let unwritable = |error: serde_json::Error| CallError::Transport(error.into());
        let mut params = serde_json::to_string(params).map_err(unwritable)?;
        if let (Some(ours), "") = (&self.tenant, tenant) {
            let ours = serde_json::to_string(ours).map_err(unwritable)?;
            let comma = if params == "{}" { "" } else { "," };
            params.insert_str(1, &format!("\"tenant\":{ours}{comma}"));
        }
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#);
        let mut request = Request::new(Full::from(body));
        *request.method_mut() = Method::POST;
        request.uri_mut().clone_from(&self.url);
        let headers = request.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(JSON));
        // On every request (A2A-SVC-3, O-V02).
        headers.insert(VERSION.clone(), VERSION_1_0.clone());
        if let Some(extensions) = &self.extensions {
            headers.insert(EXTENSIONS.clone(), extensions.clone());
        }
        if let Some(trace) = &self.trace {
            let (parent, state) = (Some(trace.traceparent()), trace.tracestate());
            for (name, text) in [("traceparent", parent.as_deref()), ("tracestate", state)] {
                if let Some(value) = text.and_then(|text| HeaderValue::from_str(text).ok()) {
                    headers.insert(HeaderName::from_static(name), value);
                }
            }
        }
        Ok((id, request))
    }
}

impl<T> Client<T> {
    /// Where the agent is.
    #[must_use]
    pub const fn url(&self) -> &Uri {
        &self.url
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
            .field("url", &self.url)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}

/// A page of HTML is told by its type rather than by the first byte that is no JSON.
fn of_type(error: CallError, type_: &str) -> CallError {
    match error {
        CallError::Protocol(_) if !type_.eq_ignore_ascii_case(JSON) => {
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
