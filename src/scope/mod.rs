//! In which circumstances an agent is asked.

mod peer;
mod principal;
mod record;
mod sink;
mod trace_context;
mod wire;

use std::{fmt, sync::Arc, time::Instant};

use crate::{
    Extensions,
    json::{Extra, ExtraMut, Json},
};

pub use self::{
    peer::Peer,
    principal::Principal,
    record::{TurnRecord, TurnSummary},
    sink::UsageSink,
    trace_context::{TraceContext, TraceContextError},
};

/// In which circumstances an agent is asked (Agent Handler, section 3).
///
/// `session`, `source`, the deadline, the output schema and unknown members may come
/// over a wire. `principal`, `tenant` and the typed map are set by code only: decoding
/// a request never yields them.
///
/// Cloning is one reference count.
#[derive(Clone)]
pub struct Scope(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    session: String,
    source: Option<String>,
    deadline: Option<Instant>,
    output_schema: Option<Json>,
    /// What `constraints` holds beside the deadline.
    constraints_extra: Extra,
    extra: Extra,
    principal: Option<Principal>,
    tenant: Option<String>,
    sink: Option<UsageSink>,
    record: TurnRecord,
    extensions: Extensions,
}

impl Scope {
    /// A scope of a session. The session is an opaque anchor that the caller owns;
    /// the turns of one conversation share it.
    #[must_use]
    pub fn new(session: impl Into<String>) -> Self {
        Self(Arc::new(Inner {
            session: session.into(),
            source: None,
            deadline: None,
            output_schema: None,
            constraints_extra: Extra::new(),
            extra: Extra::new(),
            principal: None,
            tenant: None,
            sink: None,
            record: TurnRecord::new(),
            extensions: Extensions::new(),
        }))
    }

    fn inner(&mut self) -> &mut Inner {
        Arc::make_mut(&mut self.0)
    }

    /// The anchor of the conversation.
    #[must_use]
    pub fn session(&self) -> &str {
        &self.0.session
    }

    /// Replaces the session.
    pub fn set_session(&mut self, session: impl Into<String>) {
        self.inner().session = session.into();
    }

    /// Where the turn comes from: a channel, a trigger.
    #[must_use]
    pub fn source(&self) -> Option<&str> {
        self.0.source.as_deref()
    }

    /// Says where the turn comes from.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<String>) -> Self {
        self.inner().source = Some(source.into());
        self
    }

    /// When the turn has to be over. On a wire it is the milliseconds that remain.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.deadline
    }

    /// Sets or removes the deadline.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.inner().deadline = deadline;
    }

    /// Sets the deadline.
    #[must_use]
    pub fn with_deadline(mut self, deadline: Instant) -> Self {
        self.set_deadline(Some(deadline));
        self
    }

    /// The JSON Schema that `completed.data` shall fit.
    #[must_use]
    pub fn output_schema(&self) -> Option<&Json> {
        self.0.output_schema.as_ref()
    }

    /// Asks for structured data that fits a JSON Schema.
    #[must_use]
    pub fn with_output_schema(mut self, schema: Json) -> Self {
        self.inner().output_schema = Some(schema);
        self
    }

    /// Who asks. Never taken from a wire.
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.0.principal.as_ref()
    }

    /// Sets or removes who asks.
    pub fn set_principal(&mut self, principal: Option<Principal>) {
        self.inner().principal = principal;
    }

    /// Sets who asks.
    #[must_use]
    pub fn with_principal(mut self, principal: Principal) -> Self {
        self.set_principal(Some(principal));
        self
    }

    /// On whose behalf the service runs. Never taken from a wire scope.
    #[must_use]
    pub fn tenant(&self) -> Option<&str> {
        self.0.tenant.as_deref()
    }

    /// Sets the tenant.
    #[must_use]
    pub fn with_tenant(mut self, tenant: impl Into<String>) -> Self {
        self.inner().tenant = Some(tenant.into());
        self
    }

    /// Where an engine may report usage that no event can carry any more, because
    /// the turn was dropped.
    #[must_use]
    pub fn usage_sink(&self) -> Option<&UsageSink> {
        self.0.sink.as_ref()
    }

    /// Adds a sink. Reports go to the sinks that were there as well.
    pub fn add_usage_sink(&mut self, sink: UsageSink) {
        let sink = match self.0.sink.clone() {
            Some(outer) => sink.and(outer),
            None => sink,
        };
        self.inner().sink = Some(sink);
    }

    /// Replaces all sinks; what a layer does that changes the reports of a run.
    pub fn set_usage_sink(&mut self, sink: Option<UsageSink>) {
        self.inner().sink = sink;
    }

    /// What the layers of this turn share: inner ones write, outer ones read at the end.
    #[must_use]
    pub fn record(&self) -> &TurnRecord {
        &self.0.record
    }

    /// Begins the record of another turn.
    pub(crate) fn renew_record(&mut self) {
        self.inner().record = TurnRecord::new();
    }

    /// Values by their type, for this process only.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        &self.0.extensions
    }

    /// Values by their type, to be edited.
    pub fn extensions_mut(&mut self) -> &mut Extensions {
        &mut self.inner().extensions
    }

    /// Members that this version does not know.
    #[must_use]
    pub fn extra(&self) -> &Extra {
        &self.0.extra
    }

    /// Members that this version does not know, to be edited.
    pub fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.inner().extra, &wire::KNOWN)
    }

    /// Members of `constraints` that this version does not know.
    #[must_use]
    pub fn constraints_extra(&self) -> &Extra {
        &self.0.constraints_extra
    }

    /// Members of `constraints` that this version does not know, to be edited.
    pub fn constraints_extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(
            &mut self.inner().constraints_extra,
            &wire::KNOWN_CONSTRAINTS,
        )
    }
}

impl fmt::Debug for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Scope")
            .field("session", &self.0.session)
            .field("source", &self.0.source)
            .field("deadline", &self.0.deadline)
            .field("principal", &self.0.principal)
            .field("tenant", &self.0.tenant)
            .field("extensions", &self.0.extensions)
            .finish_non_exhaustive()
    }
}
