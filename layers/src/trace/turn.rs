use std::time::Duration;

use portcullis::{
    AgentEvent, End, FailureCode, Flow, Outbox, Prompt, Scope, TraceContext, Turn, Usage,
};
use tracing::{Span, field::Empty};

use super::{TraceLayer, content::Content};
use crate::{
    receipt::{Measure, Measured, Outcome, last},
    semconv,
};

/// The span of one turn.
#[derive(Debug)]
pub struct TraceTurn {
    span: Span,
    measure: Measure,
    answer: Option<Content>,
}

impl TraceTurn {
    pub(super) fn new(layer: &TraceLayer, scope: &mut Scope, prompt: &Prompt) -> Self {
        let agent = layer.agent.as_deref();
        let trace = scope.extensions().get::<TraceContext>();
        let span = tracing::info_span!(
            semconv::INVOKE_AGENT,
            otel.name = agent.map(|agent| format!("{} {agent}", semconv::INVOKE_AGENT)),
            otel.kind = "internal",
            otel.status_code = Empty,
            { semconv::ERROR } = Empty,
            { semconv::OPERATION } = semconv::INVOKE_AGENT,
            { semconv::AGENT } = agent,
            { semconv::CONVERSATION } = scope.session(),
            { semconv::REQUEST_MODEL } = layer.model.as_deref(),
            { semconv::PROVIDER } = Empty,
            { semconv::RESPONSE_MODEL } = Empty,
            { semconv::FIRST_CHUNK } = Empty,
            { semconv::INPUT_TOKENS } = Empty,
            { semconv::OUTPUT_TOKENS } = Empty,
            { semconv::CACHE_READ_TOKENS } = Empty,
            { semconv::CACHE_WRITE_TOKENS } = Empty,
            { semconv::REASONING_TOKENS } = Empty,
            { semconv::INPUT_MESSAGES } = Empty,
            { semconv::OUTPUT_MESSAGES } = Empty,
            portcullis.source = scope.source(),
            portcullis.outcome = Empty,
            portcullis.events = Empty,
            portcullis.tools = Empty,
            portcullis.first_event_ms = Empty,
            portcullis.duration_ms = Empty,
            portcullis.model_calls = Empty,
            portcullis.attempts = Empty,
            portcullis.given_up = Empty,
            portcullis.cost = Empty,
            trace_id = trace.map(TraceContext::trace_id),
            parent_id = trace.map(TraceContext::parent_id),
        );
        if let Some(hook) = &layer.on_span
            && let Some(trace) = hook(&span, trace)
        {
            scope.extensions_mut().insert(trace);
        }
        // Nobody reads what no subscriber takes.
        let content = layer.content.as_ref().filter(|_| !span.is_disabled());
        if let Some(rule) = content {
            let mut asked = Content::new(rule.clone());
            asked.push(prompt.as_text());
            if let Some(asked) = asked.message("user", None) {
                span.record(semconv::INPUT_MESSAGES, asked);
            }
        }
        Self {
            span,
            measure: Measure::begin(scope),
            answer: content.cloned().map(Content::new),
        }
    }
}

impl Turn for TraceTurn {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        self.measure.see(event);
        if let Some(answer) = &mut self.answer
            && let AgentEvent::Text(text) = event
        {
            answer.push(text.delta());
        }
        Flow::Forward
    }

    fn around<R>(&mut self, below: impl FnOnce() -> R) -> R {
        self.span.in_scope(below)
    }

    fn on_end(self, end: End<'_>) {
        let Self {
            span,
            measure,
            answer,
        } = self;
        let measured = measure.finish();
        let outcome = Outcome::from(end);
        if let Some(answer) = answer {
            let finish = match outcome {
                Outcome::Completed => "stop",
                _ => "error",
            };
            if let Some(answer) = answer.message("assistant", Some(finish)) {
                span.record(semconv::OUTPUT_MESSAGES, answer);
            }
        }
        record(&span, &measured, &outcome);
        log(&span, &measured, &outcome);
    }
}

/// What is known at the end only.
fn record(span: &Span, measured: &Measured, outcome: &Outcome) {
    if span.is_disabled() {
        return;
    }
    span.record("portcullis.outcome", outcome.as_str());
    if let Some(error) = outcome.error_type() {
        span.record(semconv::ERROR, error);
        span.record("otel.status_code", "ERROR");
    }
    span.record("portcullis.duration_ms", millis(measured.duration));
    if let Some(first) = measured.first_event {
        span.record("portcullis.first_event_ms", millis(first));
    }
    if let Some(first) = measured.first_token {
        span.record(semconv::FIRST_CHUNK, first.as_secs_f64());
    }
    let usage = &measured.usage;
    for (name, count) in [
        ("portcullis.tools", measured.tools),
        ("portcullis.model_calls", usage.calls() as u64),
        ("portcullis.attempts", u64::from(measured.attempts)),
    ] {
        if count > 0 {
            span.record(name, count);
        }
    }
    span.record("portcullis.events", measured.events);
    for (name, text) in [
        (semconv::RESPONSE_MODEL, last(usage, Usage::model)),
        (semconv::PROVIDER, last(usage, Usage::provider)),
    ] {
        if let Some(text) = text {
            span.record(name, text);
        }
    }
    for (name, tokens) in [
        (semconv::INPUT_TOKENS, usage.input()),
        (semconv::OUTPUT_TOKENS, usage.output()),
        (semconv::CACHE_READ_TOKENS, usage.sum(Usage::cache_read)),
        (semconv::CACHE_WRITE_TOKENS, usage.sum(Usage::cache_write)),
        (semconv::REASONING_TOKENS, usage.sum(Usage::reasoning)),
    ] {
        if let Some(tokens) = tokens {
            span.record(name, tokens);
        }
    }
    if !measured.given_up.is_empty() {
        let codes = measured.given_up.iter();
        let codes: Vec<_> = codes
            .map(|code| code.as_ref().map_or(semconv::OTHER, FailureCode::as_str))
            .collect();
        span.record("portcullis.given_up", codes.join(", "));
    }
    if let Some(cost) = cost(measured) {
        span.record("portcullis.cost", cost);
    }
}

/// One line a turn.
fn log(span: &Span, measured: &Measured, outcome: &Outcome) {
    let error = outcome.error_type();
    let first_event_ms = measured.first_event.map(millis);
    macro_rules! log {
        ($level:ident) => {
            tracing::$level!(
                parent: span,
                outcome = outcome.as_str(),
                error,
                events = measured.events,
                first_event_ms,
                duration_ms = millis(measured.duration),
                input_tokens = measured.usage.input(),
                output_tokens = measured.usage.output(),
                cost = cost(measured),
                "turn ended"
            )
        };
    }
    match outcome {
        Outcome::Completed | Outcome::Cancelled => log!(info),
        Outcome::Failed(_) => log!(warn),
        Outcome::Truncated | Outcome::Panicked => log!(error),
    }
}

/// With a tenth of a millisecond: more is noise to whoever reads it.
fn millis(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e4).round() / 10.0
}

/// `0.0125 USD`, and so on for each currency.
fn cost(measured: &Measured) -> Option<String> {
    let costs = measured.usage.costs();
    let texts: Vec<_> = costs
        .iter()
        .map(|cost| format!("{} {}", cost.amount(), cost.currency()))
        .collect();
    (!texts.is_empty()).then(|| texts.join(", "))
}
