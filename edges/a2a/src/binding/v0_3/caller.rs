use http::{HeaderName, HeaderValue, Response, request::Parts};

use crate::{
    binding::{
        ResponseBody,
        http::{caller as of_head, extensions_of},
    },
    server::{Caller, ProtocolVersion, Server},
};

/// What named extensions before 1.0 (A2A-EXT-12).
static OLD_EXTENSIONS: HeaderName = HeaderName::from_static("x-a2a-extensions");

/// Who calls, in the version of the core: what was said in 0.3 is translated from here on.
pub(in crate::binding) fn caller(head: &Parts) -> Caller {
    let caller = of_head(head);
    let mut extensions = caller.extensions().to_vec();
    for uri in extensions_of(&head.headers, &OLD_EXTENSIONS) {
        if !extensions.contains(&uri) {
            extensions.push(uri);
        }
    }
    caller
        .asking_for(extensions)
        .speaking(Some(ProtocolVersion::V1_0.as_str()))
}

/// Says which extensions are active, by the old name.
pub(in crate::binding) fn activated(
    server: &Server,
    caller: &Caller,
    mut response: Response<ResponseBody>,
) -> Response<ResponseBody> {
    let active = server.active_extensions(caller).join(",");
    if let Ok(active) = HeaderValue::from_str(&active)
        && !active.is_empty()
    {
        response
            .headers_mut()
            .insert(OLD_EXTENSIONS.clone(), active);
    }
    response
}
