use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use portcullis::{
    AgentEvent, End, FailureCode, Flow, Outbox, Prompt, Scope, Turn, TurnRecord, Usage, UsageSink,
    UsageTally,
};
use tokio::time::Instant;
use tracing::{Span, field::Empty};

use super::content::Content;

/// The span of one turn.
#[derive(Debug)]
pub struct TraceTurn {
    span: Span,
    started: Instant,
    first_event: Option<Duration>,
    events: u64,
    record: TurnRecord,
    usage: Arc<Mutex<UsageTally>>,
    answer: Option<Content>,
}

impl TraceTurn {
    pub(super) fn new(
        agent: Option<&str>,
        content: Option<usize>,
        scope: &mut Scope,
        prompt: &Prompt,
    ) -> Self {
        let span = tracing::info_span!(
            "invoke_agent",
            otel.name = agent.map(|agent| format!("invoke_agent {agent}")),
            otel.kind = "internal",
            otel.status_code = Empty,
            "error.type" = Empty,
            gen_ai.operation.name = "invoke_agent",
            gen_ai.agent.name = agent,
            gen_ai.conversation.id = scope.session(),
            gen_ai.input.messages = Empty,
            gen_ai.output.messages = Empty,
            gen_ai.response.model = Empty,
            gen_ai.usage.input_tokens = Empty,
            gen_ai.usage.output_tokens = Empty,
            portcullis.source = scope.source(),
            portcullis.outcome = Empty,
            portcullis.events = Empty,
            portcullis.first_event_ms = Empty,
            portcullis.duration_ms = Empty,
            portcullis.model_calls = Empty,
            portcullis.attempts = Empty,
        );
        if let Some(bytes) = content {
            let asked = Content::of(prompt.as_text(), bytes);
            span.record("gen_ai.input.messages", asked.message("user"));
        }
        let usage = Arc::<Mutex<UsageTally>>::default();
        let late = Arc::clone(&usage);
        scope.add_usage_sink(UsageSink::new(move |usage| add(&late, usage)));
        Self {
            span,
            started: Instant::now(),
            first_event: None,
            events: 0,
            record: scope.record().clone(),
            usage,
            answer: content.map(Content::new),
        }
    }
}

fn lock(usage: &Mutex<UsageTally>) -> MutexGuard<'_, UsageTally> {
    usage.lock().unwrap_or_else(PoisonError::into_inner)
}

fn add(tally: &Mutex<UsageTally>, usage: &Usage) {
    lock(tally).record(usage);
}

impl Turn for TraceTurn {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        self.events += 1;
        if self.events == 1 {
            self.first_event = Some(self.started.elapsed());
        }
        match event {
            AgentEvent::Usage(usage) => add(&self.usage, usage),
            AgentEvent::Text(text) => {
                if let Some(answer) = &mut self.answer {
                    answer.push(text.delta());
                }
            }
            _ => {}
        }
        Flow::Forward
    }

    fn around<R>(&mut self, below: impl FnOnce() -> R) -> R {
        self.span.in_scope(below)
    }

    fn on_end(self, end: End<'_>) {
        let Self { span, .. } = &self;
        let millis = |duration: Duration| duration.as_secs_f64() * 1e3;
        let duration_ms = millis(self.started.elapsed());
        let (outcome, error) = outcome(&end);
        span.record("portcullis.outcome", outcome);
        span.record("portcullis.events", self.events);
        span.record("portcullis.duration_ms", duration_ms);
        let first_event_ms = self.first_event.map(millis);
        if let Some(first_event_ms) = first_event_ms {
            span.record("portcullis.first_event_ms", first_event_ms);
        }
        if let Some(error) = error {
            span.record("error.type", error);
            span.record("otel.status_code", "ERROR");
        }
        let attempts = self.record.with(|turn| turn.attempts);
        if attempts > 0 {
            span.record("portcullis.attempts", attempts);
        }
        if let Some(answer) = &self.answer {
            span.record("gen_ai.output.messages", answer.message("assistant"));
        }
        // Whatever an engine reports while it is dropped has come: below is gone.
        let usage = lock(&self.usage);
        let (input_tokens, output_tokens) = (usage.input(), usage.output());
        if usage.calls() > 0 {
            span.record("portcullis.model_calls", usage.calls());
        }
        if let Some(model) = usage.records().iter().rev().find_map(Usage::model) {
            span.record("gen_ai.response.model", model);
        }
        if let Some(tokens) = input_tokens {
            span.record("gen_ai.usage.input_tokens", tokens);
        }
        if let Some(tokens) = output_tokens {
            span.record("gen_ai.usage.output_tokens", tokens);
        }
        let events = self.events;
        macro_rules! log {
            ($level:ident) => {
                tracing::$level!(
                    parent: span,
                    outcome,
                    error,
                    events,
                    first_event_ms,
                    duration_ms,
                    input_tokens,
                    output_tokens,
                    "turn ended"
                )
            };
        }
        match end {
            End::Completed | End::Cancelled => log!(info),
            End::Failed(_) => log!(warn),
            End::Truncated | End::Panicked => log!(error),
        }
    }
}

/// The word for an end, and the class of its error.
fn outcome<'a>(end: &End<'a>) -> (&'static str, Option<&'a str>) {
    match end {
        End::Completed => ("completed", None),
        // The name that the semantic conventions have for an error without one.
        End::Failed(failure) => (
            "failed",
            Some(failure.code().map_or("_OTHER", FailureCode::as_str)),
        ),
        End::Cancelled => ("cancelled", Some("cancelled")),
        End::Truncated => ("truncated", Some("truncated")),
        End::Panicked => ("panicked", Some("panicked")),
    }
}
