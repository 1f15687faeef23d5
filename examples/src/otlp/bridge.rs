use opentelemetry::{
    Context,
    trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState},
};
use portcullis::TraceContext;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// Makes the trace of a turn the parent of its span, and says where the span is, so that a call
/// further on continues from it. For `TraceLayer::on_span`.
#[must_use]
pub fn bridge(span: &Span, trace: Option<&TraceContext>) -> Option<TraceContext> {
    if let Some(trace) = trace {
        let parent = Context::new().with_remote_span_context(remote(trace));
        // Nobody collects spans: what came in goes on.
        span.set_parent(parent).ok()?;
    }
    let here = span.context();
    let here = here.span().span_context().clone();
    let trace = TraceContext::new(
        here.trace_id().to_bytes(),
        here.span_id().to_bytes(),
        here.is_sampled(),
    )?;
    Some(
        match trace.clone().with_tracestate(&here.trace_state().header()) {
            Ok(with_state) => with_state,
            Err(_) => trace,
        },
    )
}

fn remote(trace: &TraceContext) -> SpanContext {
    let flags = if trace.is_sampled() {
        TraceFlags::SAMPLED
    } else {
        TraceFlags::default()
    };
    let state = trace.tracestate().and_then(|state| state.parse().ok());
    SpanContext::new(
        TraceId::from_bytes(trace.trace_id_bytes()),
        SpanId::from_bytes(trace.parent_id_bytes()),
        flags,
        true,
        state.unwrap_or(TraceState::NONE),
    )
}
