use http::{HeaderValue, Response, request::Parts};
use portcullis::{Peer, Principal};

use super::{ResponseBody, parameters::Parameters};
use crate::{
    server::{Caller, Server},
    wire::EXTENSIONS,
};

/// Who calls: what the headers say, and the principal and the peer that layers in front have
/// established.
pub(in crate::binding) fn caller(head: &Parts) -> Caller {
    let parameters = Parameters::of(head);
    let caller = Caller::new()
        .speaking(parameters.version)
        .asking_for(parameters.extensions)
        .in_trace(parameters.trace)
        .with_principal(head.extensions.get::<Principal>().cloned())
        .calling_from(head.extensions.get::<Peer>().copied());
    match parameters.last_event_id {
        Some(seq) => caller.resuming_after(seq),
        None => caller,
    }
}

/// Says which extensions are active, on streams too (A2A-EXT-7).
pub(in crate::binding) fn activated(
    server: &Server,
    caller: &Caller,
    mut response: Response<ResponseBody>,
) -> Response<ResponseBody> {
    let active = server.active_extensions(caller).join(",");
    if let Ok(active) = HeaderValue::from_str(&active)
        && !active.is_empty()
    {
        response.headers_mut().insert(EXTENSIONS.clone(), active);
    }
    response
}
