use std::sync::Arc;

use ::metrics::{SharedString, counter, histogram};
use portcullis::{AgentEvent, End, Flow, Outbox, Scope, Turn, Usage};

use super::{
    active::Active,
    describe::{COST, FIRST_EVENT, FIRST_TOKEN, TURNS},
    names::{Names, error_type},
};
use crate::{
    receipt::{Measure, Outcome},
    semconv,
};

/// One turn that is counted.
#[derive(Debug)]
pub struct MetricsTurn {
    agent: SharedString,
    names: Arc<Names>,
    measure: Measure,
    _active: Active,
}

impl MetricsTurn {
    pub(super) fn new(agent: SharedString, names: Arc<Names>, scope: &mut Scope) -> Self {
        Self {
            _active: Active::new(agent.clone()),
            agent,
            names,
            measure: Measure::begin(scope),
        }
    }
}

impl Turn for MetricsTurn {
    fn on_event(&mut self, event: &mut AgentEvent, _out: &mut Outbox) -> Flow {
        self.measure.see(event);
        Flow::Forward
    }

    #[expect(
        clippy::cast_precision_loss,
        reason = "a histogram takes floats, and no turn has 2^53 of anything"
    )]
    fn on_end(self, end: End<'_>) {
        let Self {
            agent,
            names,
            measure,
            _active,
        } = self;
        let measured = measure.finish();
        let outcome = Outcome::from(end);
        let agent = || agent.clone();
        let error = error_type(&outcome);
        counter!(
            TURNS,
            semconv::AGENT => agent(),
            "outcome" => outcome.as_str(),
            semconv::ERROR => error.clone(),
        )
        .increment(1);
        histogram!(semconv::TURN_DURATION, semconv::AGENT => agent(), semconv::ERROR => error)
            .record(measured.duration);
        for (name, time) in [
            (FIRST_EVENT, measured.first_event),
            (FIRST_TOKEN, measured.first_token),
        ] {
            if let Some(time) = time {
                histogram!(name, semconv::AGENT => agent()).record(time);
            }
        }
        for (name, count) in [
            (semconv::TURN_CALLS, measured.usage.calls() as u64),
            (semconv::TURN_TOOLS, measured.tools),
        ] {
            histogram!(name, semconv::AGENT => agent()).record(count as f64);
        }
        for call in measured.usage.records() {
            for (kind, tokens) in [("input", call.input()), ("output", call.output())] {
                if let Some(tokens) = tokens {
                    tokens_of(call, kind, &names, agent()).record(tokens as f64);
                }
            }
        }
        for cost in measured.usage.costs() {
            // What no float can hold is no cost that anybody has.
            if let Some(amount) = cost
                .amount()
                .parse()
                .ok()
                .filter(|amount: &f64| amount.is_finite())
            {
                let currency = names.label(cost.currency());
                histogram!(COST, semconv::AGENT => agent(), "currency" => currency).record(amount);
            }
        }
    }
}

fn tokens_of(
    call: &Usage,
    kind: &'static str,
    names: &Names,
    agent: SharedString,
) -> ::metrics::Histogram {
    let label = |name: Option<&str>| names.label(name.unwrap_or_default());
    histogram!(
        semconv::CALL_TOKENS,
        semconv::AGENT => agent,
        semconv::OPERATION => semconv::INVOKE_AGENT,
        semconv::PROVIDER => label(call.provider()),
        semconv::RESPONSE_MODEL => label(call.model()),
        semconv::TOKEN_TYPE => kind,
    )
}
