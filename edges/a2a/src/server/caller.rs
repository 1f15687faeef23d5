use portcullis::{Peer, Principal, TraceContext};

use crate::log::{Owner, Seq};

/// Who calls, and what travels beside the call: everything that a binding knows and the
/// body does not say.
///
/// The principal is set by whoever has verified it, never by a body.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    tenant: Option<String>,
    principal: Option<Principal>,
    version: Option<String>,
    extensions: Vec<String>,
    last_event: Option<Seq>,
    trace: Option<TraceContext>,
    peer: Option<Peer>,
}

impl Caller {
    /// Nobody in particular, who speaks the version that this server speaks. What
    /// another process sent has to go through [`speaking`](Self::speaking).
    #[must_use]
    pub fn new() -> Self {
        Self {
            version: Some("1.0".to_owned()),
            ..Self::default()
        }
    }

    /// The `A2A-Version` of the request. `None`, and an empty text, mean 0.3
    /// (A2A-SVC-7).
    #[must_use]
    pub fn speaking(mut self, version: Option<impl Into<String>>) -> Self {
        self.version = version.map(Into::into);
        self
    }

    /// The extensions that the request asks for.
    #[must_use]
    pub fn asking_for<T: Into<String>>(mut self, uris: impl IntoIterator<Item = T>) -> Self {
        self.extensions = uris.into_iter().map(Into::into).collect();
        self
    }

    /// Who asks.
    #[must_use]
    pub fn with_principal(mut self, principal: Option<Principal>) -> Self {
        self.principal = principal;
        self
    }

    /// The tenant that the address names. One in the body has to be the same.
    #[must_use]
    pub fn in_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into()).filter(|tenant| !tenant.is_empty());
        self
    }

    /// The last frame that the caller saw of the stream that it resumes.
    #[must_use]
    pub const fn resuming_after(mut self, seq: Seq) -> Self {
        self.last_event = Some(seq);
        self
    }

    /// Where the call stands in a distributed trace: the `traceparent` and `tracestate` of
    /// the request (A2A-SEC-20). An agent finds it in the extensions of its scope.
    #[must_use]
    pub fn in_trace(mut self, trace: Option<TraceContext>) -> Self {
        self.trace = trace;
        self
    }

    /// Where the call comes from, for limits. An agent finds it in the extensions of its scope; no
    /// task keeps it.
    #[must_use]
    pub const fn calling_from(mut self, peer: Option<Peer>) -> Self {
        self.peer = peer;
        self
    }

    /// The tenant that the address names.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.tenant.as_deref()
    }

    /// Who asks.
    #[must_use]
    pub const fn principal(&self) -> Option<&Principal> {
        self.principal.as_ref()
    }

    /// The version as the request has it.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// The extensions that the request asks for.
    #[must_use]
    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// The last frame that the caller saw of the stream that it resumes.
    #[must_use]
    pub const fn last_event(&self) -> Option<Seq> {
        self.last_event
    }

    /// Where the call stands in a distributed trace.
    #[must_use]
    pub const fn trace(&self) -> Option<&TraceContext> {
        self.trace.as_ref()
    }

    /// Where the call comes from.
    #[must_use]
    pub const fn peer(&self) -> Option<Peer> {
        self.peer
    }

    /// Whose tasks this caller reaches.
    #[must_use]
    pub fn owner(&self) -> Owner {
        Owner::new(self.tenant(), self.principal())
    }
}
