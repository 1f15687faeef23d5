//! One span a turn, open until the turn ends.

mod support;

use std::{
    convert::Infallible,
    future::{Ready, ready},
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll},
};

use futures_util::{FutureExt, Stream, StreamExt};
use portcullis::{AgentEvent, Failure, FailureCode, Prompt, Scope, Usage};
use portcullis_layers::{catch::CatchLayer, trace::TraceLayer};
use tower::{Layer, Service, ServiceBuilder};

use support::*;

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    assert_transparent(|actor| TraceLayer::new().layer(actor)).await;
    let (_log, _guard) = Log::start();
    assert_transparent(|actor| TraceLayer::new().content(100).layer(actor)).await;
}

/// O-B13: exactly one end for each turn, and the right one.
#[tokio::test(start_paused = true)]
async fn records_each_end_once() {
    for (end, part) in five_ends() {
        let (log, _guard) = Log::start();
        let agent = ServiceBuilder::new()
            .layer(TraceLayer::new().agent("desk"))
            .service(actor(part));
        to_its_end(&agent).await;
        let spans = log.spans();
        assert_eq!(spans.len(), 1);
        assert_eq!(log.open_spans(), 0, "{end}");
        let span = &spans[0];
        assert_eq!(span["portcullis.outcome"], end);
        assert_eq!(span["name"], "invoke_agent");
        assert_eq!(span["otel.name"], "invoke_agent desk");
        assert_eq!(span["gen_ai.operation.name"], "invoke_agent");
        assert_eq!(span["gen_ai.agent.name"], "desk");
        assert_eq!(span["gen_ai.conversation.id"], "session");
        let error = match end {
            "completed" => None,
            // It has no code.
            "failed" => Some("_OTHER"),
            end => Some(end),
        };
        assert_eq!(span.get("error.type").map(String::as_str), error);
        assert_eq!(span.contains_key("otel.status_code"), error.is_some());
        assert!(
            !span.contains_key("gen_ai.usage.input_tokens"),
            "nobody said"
        );
        assert!(!span.contains_key("gen_ai.output.messages"), "no content");
        assert_eq!(log.text().matches("turn ended").count(), 1);
        assert_eq!(log.text().lines().count(), 1, "one line a turn");
    }
}

#[tokio::test(start_paused = true)]
async fn records_what_it_saw() {
    let (log, _guard) = Log::start();
    let failed = Failure::with_code(FailureCode::UNAVAILABLE, "the model sleeps");
    let agent = TraceLayer::new().layer(actor([
        Do::Wait(secs(2)),
        say("a"),
        used("call-1", 25, 1),
        used("call-1", 30, 40),
        Do::Say(Usage::new("call-2").with_model("m").with_output(2).into()),
        Do::Wait(secs(3)),
        Do::Say(failed.into()),
    ]));
    events(&agent).await;
    let span = &log.spans()[0];
    assert_eq!(span["gen_ai.usage.input_tokens"], "30");
    assert_eq!(span["gen_ai.usage.output_tokens"], "42");
    assert_eq!(span["gen_ai.response.model"], "m");
    assert_eq!(span["portcullis.model_calls"], "2");
    assert_eq!(span["portcullis.events"], "5");
    assert_eq!(span["error.type"], "unavailable");
    let ms = |field: &str| span[field].parse::<f64>().unwrap();
    assert!((ms("portcullis.first_event_ms") - 2_000.0).abs() < 2.0);
    assert!((ms("portcullis.duration_ms") - 5_000.0).abs() < 4.0);
}

/// O-B02: usage that an engine reports while it is dropped.
#[tokio::test]
async fn counts_what_comes_while_it_is_dropped() {
    let (log, _guard) = Log::start();
    let late = Usage::new("call").with_input(7).with_output(5);
    let engine = actor([say("a"), Do::Hang]).report_when_dropped(late);
    let agent = TraceLayer::new().layer(engine);
    let mut turn = Box::pin(ask(&agent));
    let _ = turn.next().await;
    drop(turn);
    assert_eq!(log.spans()[0]["gen_ai.usage.output_tokens"], "5");
    assert_eq!(log.spans()[0]["portcullis.outcome"], "cancelled");
}

#[tokio::test]
async fn records_content_only_when_told() {
    let (log, _guard) = Log::start();
    let agent =
        TraceLayer::new()
            .content(6)
            .layer(actor([say("say \""), say("é!"), say("more"), done()]));
    events(&agent).await;
    let span = &log.spans()[0];
    assert_eq!(
        span["gen_ai.input.messages"],
        r#"[{"role":"user","parts":[{"type":"text","content":"hello"}]}]"#
    );
    // Six bytes end within the é.
    assert_eq!(
        span["gen_ai.output.messages"],
        r#"[{"role":"assistant","parts":[{"type":"text","content":"say \""}]}]"#
    );
}

/// Notes the span it is in when it is called, polled and dropped.
#[derive(Clone, Debug, Default)]
struct Spotter(Arc<Mutex<Vec<Spotted>>>);

/// What was done, and in which span.
type Spotted = (&'static str, Option<&'static str>);

impl Spotter {
    fn note(&self, what: &'static str) {
        let span = tracing::Span::current().metadata().map(|span| span.name());
        self.0.lock().unwrap().push((what, span));
    }
}

impl Service<(Scope, Prompt)> for Spotter {
    type Response = SpotterStream;
    type Error = Infallible;
    type Future = Ready<Result<SpotterStream, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: (Scope, Prompt)) -> Self::Future {
        self.note("call");
        ready(Ok(SpotterStream(self.clone())))
    }
}

#[derive(Debug)]
struct SpotterStream(Spotter);

impl Stream for SpotterStream {
    type Item = AgentEvent;

    fn poll_next(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        self.0.note("poll");
        Poll::Pending
    }
}

impl Drop for SpotterStream {
    fn drop(&mut self) {
        self.0.note("drop");
    }
}

#[tokio::test]
async fn calls_polls_and_drops_inside_the_span() {
    let (log, _guard) = Log::start();
    let spotter = Spotter::default();
    let agent = TraceLayer::new().layer(spotter.clone());
    let mut turn = Box::pin(ask(&agent));
    assert!(turn.next().now_or_never().is_none());
    assert_eq!(
        tracing::Span::current().metadata().map(|span| span.name()),
        None
    );
    drop(turn);
    let inside = Some("invoke_agent");
    assert_eq!(
        *spotter.0.lock().unwrap(),
        [("call", inside), ("poll", inside), ("drop", inside)]
    );
    assert_eq!(log.open_spans(), 0);
}

/// O-B07: two of them are two.
#[tokio::test]
async fn two_layers_are_two_spans() {
    let (log, _guard) = Log::start();
    let agent = ServiceBuilder::new()
        .layer(CatchLayer::new())
        .layer(TraceLayer::new().agent("outer"))
        .layer(TraceLayer::new().agent("inner"))
        .service(actor([done()]));
    events(&agent).await;
    let names: Vec<_> = log
        .spans()
        .iter()
        .map(|span| span["gen_ai.agent.name"].clone())
        .collect();
    assert_eq!(names, ["outer", "inner"]);
}

#[tokio::test(start_paused = true)]
async fn drops_with_the_turn() {
    let (log, _guard) = Log::start();
    let open = log.clone();
    assert_drops(
        everything(),
        |actor| TraceLayer::new().layer(actor),
        move || open.open_spans() == 0,
    )
    .await;
}
