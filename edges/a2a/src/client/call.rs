//! How a call is carried out, whichever operation it is.

use std::sync::atomic::Ordering;

use http::{Response, StatusCode};
use serde::Serialize;

use super::{
    binding::{Binding, Envelope},
    connection::Client,
    error::CallError,
    events::EventStream,
    exchange::{exchange, has_type, media_type, succeeded, whole},
    params::{Answer, Params},
    retry::Attempts,
    transport::{ReplyBody, Transport},
};
use crate::{
    model::{DeleteTaskPushNotificationConfigRequest, ErrorKind, Operation, decode_response},
    wire::{A2A_JSON, EVENT_STREAM, JSON, json_string},
};

impl<T: Transport> Client<T> {
    pub(super) async fn call<R: Answer>(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
    ) -> Result<R, CallError> {
        let answer = self.call_text::<R>(operation, params, tenant).await?;
        decode_response(&answer).map_err(|error| {
            CallError::protocol(format!("the result of {operation} is not valid: {error}"))
        })
    }

    /// A call whose answer is JSON text.
    pub(super) async fn call_text<R: Answer>(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
    ) -> Result<String, CallError> {
        let mut attempts = self.attempts(operation);
        loop {
            match self.call_once::<R>(operation, params, tenant).await {
                Ok(answer) => return Ok(answer),
                Err(error) => attempts.after(error).await?,
            }
        }
    }

    fn attempts(&self, operation: Operation) -> Attempts<'_> {
        Attempts::new(self.retries.as_ref(), operation)
    }

    async fn call_once<R: Answer>(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
    ) -> Result<String, CallError> {
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            return self.over_grpc().call::<R>(operation, params).await;
        }
        let params = self.params(params, tenant)?;
        self.answer(operation, &params).await
    }

    /// A call with an answer that says nothing.
    pub(super) async fn delete(
        &self,
        params: &DeleteTaskPushNotificationConfigRequest,
        tenant: &str,
    ) -> Result<(), CallError> {
        let mut attempts = self.attempts(Operation::DeleteTaskPushNotificationConfig);
        loop {
            match self.delete_once(params, tenant).await {
                Ok(()) => return Ok(()),
                Err(error) => attempts.after(error).await?,
            }
        }
    }

    async fn delete_once(
        &self,
        params: &DeleteTaskPushNotificationConfigRequest,
        tenant: &str,
    ) -> Result<(), CallError> {
        #[cfg(feature = "grpc")]
        if self.binding == Binding::Grpc {
            return self.over_grpc().delete(params).await;
        }
        let params = self.params(params, tenant)?;
        let operation = Operation::DeleteTaskPushNotificationConfig;
        // Whatever it says: servers differ (A2A-RPC-16, A2A-REST-19).
        self.answer(operation, &params).await.map(drop)
    }

    /// The answer of an operation that answers once, as JSON text.
    async fn answer(&self, operation: Operation, params: &str) -> Result<String, CallError> {
        let (envelope, response) = self.respond(operation, params, None).await?;
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), &self.limits).await?;
        let answer = envelope
            .open(&body)
            .map_err(|error| of_type(error, &type_))?;
        Ok(answer.unwrap_or("null").to_owned())
    }

    pub(super) async fn stream(
        &self,
        operation: Operation,
        params: &impl Params,
        tenant: &str,
        last_event_id: Option<&str>,
    ) -> Result<EventStream, CallError> {
        let mut attempts = self.attempts(operation);
        loop {
            let once = self.stream_once(operation, params, tenant, last_event_id);
            match once.await {
                Ok(stream) => return Ok(stream),
                Err(error) => attempts.after(error).await?,
            }
        }
    }

    async fn stream_once(
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
            let body = response.into_body();
            return Ok(EventStream::new(envelope, body, &self.limits));
        }
        let type_ = media_type(response.headers()).to_owned();
        let body = whole(response.into_body(), &self.limits).await?;
        // A refusal that was known before the first event comes in one piece.
        EventStream::one(&envelope, &body).map_err(|error| of_type(error, &type_))
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
        let mut response = exchange(&self.transport, request, &self.limits).await?;
        // Servers of 1.0.0 may take the plain type only (A2A-REST-15).
        if self.binding == Binding::Rest
            && response.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE
            && !self.shared.plain_json.swap(true, Ordering::Relaxed)
        {
            let (_, request) = self.request(operation, params, last_event_id)?;
            response = exchange(&self.transport, request, &self.limits).await?;
        }
        let response = succeeded(response, self.binding, &self.limits).await?;
        Ok((envelope, response))
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
