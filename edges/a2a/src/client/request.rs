//! What is sent: a request of HTTP for each binding.

use std::sync::atomic::Ordering;

use bytes::Bytes;
use http::{
    HeaderMap, HeaderName, HeaderValue, Method, Request,
    header::{ACCEPT, CONTENT_TYPE},
};
use http_body_util::Full;

#[cfg(feature = "grpc")]
use super::grpc::OverGrpc;
use super::{
    binding::{Binding, Envelope},
    connection::Client,
    error::CallError,
    rest,
    transport::Transport,
};
use crate::{
    model::Operation,
    wire::{A2A_JSON, EXTENSIONS, Id, JSON, VERSION, VERSION_1_0, Verb},
};

impl<T: Transport> Client<T> {
    pub(super) fn request(
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
            if let Some(value) = text.and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok())
            {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }

    #[cfg(feature = "grpc")]
    pub(super) fn over_grpc(&self) -> OverGrpc<'_, T> {
        let mut headers = HeaderMap::new();
        self.speak(&mut headers, None);
        OverGrpc {
            transport: &self.transport,
            url: &self.url,
            tenant: self.tenant.as_deref(),
            headers,
            limits: self.limits,
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
