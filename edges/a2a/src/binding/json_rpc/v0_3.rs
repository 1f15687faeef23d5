//! A call of version 0.3.

use http::{Response, request::Parts};

use super::{reply, service::JsonRpc};
use crate::{
    binding::{
        ResponseBody,
        http::stream,
        v0_3::{Answered, activated, caller, needs_version, perform},
    },
    log::Seq,
    model::{
        ErrorKind, Operation,
        v0_3::{self, Form},
    },
    server::ProtocolVersion,
    wire::Id,
};

impl JsonRpc {
    /// A2A-COMPAT-3
    pub(super) async fn perform_v0_3(
        &self,
        head: &Parts,
        id: Id,
        method: &str,
        params: &str,
    ) -> Response<ResponseBody> {
        let Some(operation) = v0_3::operation(method) else {
            return match Operation::from_name(method) {
                Some(_) if self.settings.versions.contains(&ProtocolVersion::V1_0) => {
                    reply::refusal(&id, &needs_version(method))
                }
                _ => reply::old_refusal(&id, &ErrorKind::MethodNotFound.into()),
            };
        };
        let caller = caller(head);
        let server = &self.server;
        let bounds = &server.limits().bounds;
        let answered = match v0_3::decode_params(operation, params, bounds) {
            Ok(request) => perform(server, &caller, Form::JsonRpc, request).await,
            Err(error) => Err(error),
        };
        let response = match answered {
            Ok(Answered::Once(answer)) => reply::success(&id, &answer),
            Ok(Answered::Stream(frames)) => {
                let of_stream = id.clone();
                let events = stream(frames, self.settings.keep_alive, move |item| match item {
                    Ok(next) => reply::event(&of_stream, next.seq.map(Seq::number), &next.json),
                    Err(error) => reply::old_failed_event(&of_stream, error),
                });
                match events.await {
                    Ok(response) => response,
                    Err(error) => return reply::old_refusal(&id, &error),
                }
            }
            Err(error) => return reply::old_refusal(&id, &error),
        };
        activated(server, &caller, response)
    }
}
