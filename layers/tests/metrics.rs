//! Numbers over all turns, in whatever recorder the program has.

mod support;

use std::collections::BTreeMap;

use futures_util::{FutureExt, StreamExt};
use metrics_util::debugging::{DebugValue, DebuggingRecorder};
use portcullis::{Cost, Failure, FailureCode, Usage};
use portcullis_layers::metrics::{MetricsLayer, describe};
use tower::Layer;

use support::*;

/// Everything that was recorded: `name{label=value,…}`, and the values.
#[derive(Default, Debug)]
struct Numbers(BTreeMap<String, Vec<f64>>);

impl Numbers {
    fn of(recorder: &DebuggingRecorder) -> Self {
        let snapshot = recorder.snapshotter().snapshot().into_vec();
        let numbers = snapshot.into_iter().map(|(key, _, _, value)| {
            let (_, key) = key.into_parts();
            let mut labels: Vec<_> = key
                .labels()
                .filter(|label| !label.value().is_empty())
                .map(|label| format!("{}={}", label.key(), label.value()))
                .collect();
            labels.sort();
            let values = match value {
                DebugValue::Counter(count) => vec![count as f64],
                DebugValue::Gauge(level) => vec![level.into_inner()],
                DebugValue::Histogram(values) => values.into_iter().map(Into::into).collect(),
            };
            (format!("{}{{{}}}", key.name(), labels.join(",")), values)
        });
        Self(numbers.collect())
    }

    fn get(&self, key: &str) -> &[f64] {
        let values = self.0.get(key);
        values.unwrap_or_else(|| panic!("no {key} in {:#?}", self.0.keys()))
    }

    fn named(&self, name: &str) -> Vec<&str> {
        let begin = format!("{name}{{");
        let keys = self.0.keys().filter(|key| key.starts_with(&begin));
        keys.map(String::as_str).collect()
    }
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| MetricsLayer::new().layer(actor)).await;
}

/// O-B13: each turn counts once, and the gauge never leaks, whatever ends the turn.
#[tokio::test(start_paused = true)]
async fn counts_each_end_once() {
    for (end, part) in five_ends() {
        let recorder = DebuggingRecorder::new();
        let _recording = metrics::set_default_local_recorder(&recorder);
        let agent = MetricsLayer::new().agent("desk").layer(actor(part));
        to_its_end(&agent).await;
        let numbers = Numbers::of(&recorder);
        let error = match end {
            "completed" => String::new(),
            "failed" => "error.type=_OTHER,".to_owned(),
            end => format!("error.type={end},"),
        };
        let turns = format!("portcullis.turns{{{error}gen_ai.agent.name=desk,outcome={end}}}");
        assert_eq!(numbers.get(&turns), [1.0]);
        assert_eq!(numbers.named("portcullis.turns").len(), 1);
        let duration = format!("gen_ai.invoke_agent.duration{{{error}gen_ai.agent.name=desk}}");
        assert_eq!(numbers.get(&duration).len(), 1);
        assert_eq!(
            numbers.get("portcullis.turns.active{gen_ai.agent.name=desk}"),
            [0.0]
        );
    }
}

#[tokio::test(start_paused = true)]
async fn records_what_it_saw() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let cost = |amount| Cost::new(amount, "USD").unwrap();
    let call = |id: &str| Usage::new(id).with_provider("anthropic");
    let large = call("1").with_model("large").with_input(100).with_output(9);
    let small = call("2").with_model("small").with_output(3);
    let agent = MetricsLayer::new().layer(actor([
        Do::Wait(secs(1)),
        tool("t"),
        Do::Wait(secs(1)),
        say("a"),
        tool_ended("t"),
        Do::Say(large.with_cost(cost("0.25")).into()),
        Do::Say(small.with_cost(cost("0.5")).into()),
        Do::Wait(secs(3)),
        done(),
    ]));
    events(&agent).await;
    let numbers = Numbers::of(&recorder);
    let about = |key: &str, value: f64| {
        let values = numbers.get(key);
        assert_eq!(values.len(), 1, "{key}");
        assert!((values[0] - value).abs() < 0.01, "{key}: {values:?}");
    };
    about("gen_ai.invoke_agent.duration{}", 5.0);
    about("portcullis.turn.time_to_first_event{}", 1.0);
    about("portcullis.turn.time_to_first_token{}", 2.0);
    about("gen_ai.invoke_agent.inference_calls{}", 2.0);
    about("gen_ai.invoke_agent.tool_calls{}", 1.0);
    about("portcullis.turn.cost{currency=USD}", 0.75);
    let tokens = |model: &str, kind: &str| {
        format!(
            "gen_ai.client.token.usage{{gen_ai.operation.name=invoke_agent,\
             gen_ai.provider.name=anthropic,gen_ai.response.model={model},gen_ai.token.type={kind}}}"
        )
    };
    about(&tokens("large", "input"), 100.0);
    about(&tokens("large", "output"), 9.0);
    about(&tokens("small", "output"), 3.0);
    // Nobody said what went into the small one, which is not zero.
    assert_eq!(numbers.named("gen_ai.client.token.usage").len(), 3);
}

#[tokio::test(start_paused = true)]
async fn the_gauge_shows_turns_that_run() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let agent = MetricsLayer::new().layer(actor([say("a"), Do::Hang]));
    // A snapshot of this recorder begins anew, so it shows what has changed.
    let changed = || {
        Numbers::of(&recorder)
            .get("portcullis.turns.active{}")
            .to_vec()
    };
    let mut one = Box::pin(ask(&agent));
    let mut two = Box::pin(ask(&agent));
    for turn in [&mut one, &mut two] {
        assert!(turn.next().now_or_never().is_some());
    }
    assert_eq!(changed(), [2.0]);
    drop(one);
    assert_eq!(changed(), [-1.0]);
    drop(two);
    assert_eq!(changed(), [-1.0]);
}

/// Dropped at every point.
#[tokio::test(start_paused = true)]
async fn drops_with_the_turn() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    assert_drops(
        everything(),
        |actor| MetricsLayer::new().layer(actor),
        || {
            // None is there yet after a turn that was never polled.
            let numbers = Numbers::of(&recorder);
            numbers.0.is_empty() || numbers.get("portcullis.turns.active{}") == [0.0]
        },
    )
    .await;
}

/// Whoever chooses words, the engine or who speaks through it, makes no series without end.
#[tokio::test(start_paused = true)]
async fn labels_are_bounded() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let layer = MetricsLayer::new().max_names(6);
    for n in 0..50 {
        let code = FailureCode::new(format!("code-{n}"));
        let usage = Usage::new("1")
            .with_model(format!("model-{n}"))
            .with_provider(format!("provider-{n}"))
            .with_input(1)
            .with_cost(Cost::new("1", format!("C{n}")).unwrap());
        let failed = Failure::with_code(code, "no").into();
        let agent = layer.layer(actor([Do::Say(usage.into()), Do::Say(failed)]));
        let scope = portcullis::Scope::new(format!("session-{n}"));
        let prompt = portcullis::Prompt::text(format!("prompt-{n}"));
        let turn = portcullis::AgentExt::invoke(&agent, scope, prompt);
        let _: Vec<_> = turn.collect().await;
    }
    let numbers = Numbers::of(&recorder);
    assert_eq!(
        numbers.get("portcullis.turns{error.type=_OTHER,outcome=failed}"),
        [50.0]
    );
    let others = "gen_ai.client.token.usage{gen_ai.operation.name=invoke_agent,\
                  gen_ai.provider.name=_OTHER,gen_ai.response.model=_OTHER,gen_ai.token.type=input}";
    assert_eq!(numbers.get(others).len(), 48);
    assert!(numbers.0.len() < 15, "{:#?}", numbers.0.keys());
    for key in numbers.0.keys() {
        assert!(
            !key.contains("session-") && !key.contains("prompt-"),
            "{key}"
        );
    }
    // One name that is as long as it likes is none either.
    let long = Usage::new("1").with_model("m".repeat(9_999)).with_input(1);
    let agent = MetricsLayer::new().layer(actor([Do::Say(long.into()), done()]));
    events(&agent).await;
    assert!(Numbers::of(&recorder).0.keys().all(|key| key.len() < 500));
}

/// A price of a thousand digits is no number that a histogram can hold.
#[tokio::test(start_paused = true)]
async fn a_price_that_is_no_number_is_left_out() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    let usage = Usage::new("1").with_cost(Cost::new("9".repeat(1_000), "USD").unwrap());
    let agent = MetricsLayer::new().layer(actor([Do::Say(usage.into()), done()]));
    events(&agent).await;
    assert_eq!(
        Numbers::of(&recorder).named("portcullis.turn.cost"),
        [""; 0]
    );
}

/// Every number is described, and nothing that is none.
#[tokio::test(start_paused = true)]
async fn all_numbers_are_described() {
    let recorder = DebuggingRecorder::new();
    let _recording = metrics::set_default_local_recorder(&recorder);
    describe();
    let usage = Usage::new("1")
        .with_input(1)
        .with_cost(Cost::new("1", "USD").unwrap());
    let agent = MetricsLayer::new().layer(actor([Do::Say(usage.into()), say("a"), done()]));
    events(&agent).await;
    let snapshot = recorder.snapshotter().snapshot().into_vec();
    assert_eq!(snapshot.len(), 9);
    for (key, _, described, _) in snapshot {
        assert!(described.is_some(), "{key:?}");
    }
}
