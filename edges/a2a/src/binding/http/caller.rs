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

/// Where tenants tell agents apart, a caller says in the parameters which one is meant. The head of the
/// answer is that agent's too.
#[cfg(any(feature = "jsonrpc", feature = "grpc"))]
pub(in crate::binding) fn addressing(server: &Server, caller: Caller, params: &str) -> Caller {
    #[derive(serde::Deserialize)]
    struct Named {
        #[serde(default)]
        tenant: Option<String>,
    }
    if !server.has_others() {
        return caller;
    }
    match serde_json::from_str(params) {
        Ok(Named {
            tenant: Some(tenant),
        }) => caller.in_tenant(tenant),
        // What else may be wrong with them is told by whoever reads them.
        _ => caller,
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
