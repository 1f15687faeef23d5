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
use portcullis::{
    AgentEvent, AgentExt, Cost, Failure, FailureCode, Json, Prompt, Scope, TraceContext, Usage,
    agent_fn,
};
use portcullis_layers::{
    ServiceBuilderExt, catch::CatchLayer, concurrency::ConcurrencyLayer, trace::TraceLayer,
};
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

/// What calls say beside input and output, what they cost, and what an inner layer wrote.
#[tokio::test(start_paused = true)]
async fn records_cost_caches_and_attempts() {
    let (log, _guard) = Log::start();
    let usd = |amount| Cost::new(amount, "USD").unwrap();
    let first = Usage::new("1").with_cache_read(3).with_cost(usd("0.1"));
    let second = Usage::new("2")
        .with_provider("anthropic")
        .with_cache_read(4)
        .with_cache_write(5)
        .with_reasoning(6)
        .with_cost(usd("0.25"));
    let second = [
        second.into(),
        Usage::new("3")
            .with_cost(Cost::new("7", "EUR").unwrap())
            .into(),
    ];
    let [second, third] = second.map(Do::Say);
    let agent = ServiceBuilder::new()
        .layer(TraceLayer::new().request_model("large"))
        .retries(1)
        .service(actor([Do::Say(first.into()), fail("busy", true)]).then([
            tool("t"),
            Do::Wait(secs(2)),
            say("a"),
            second,
            third,
            done(),
        ]));
    events(&agent).await;
    let span = &log.spans()[0];
    assert_eq!(span["gen_ai.request.model"], "large");
    assert_eq!(span["gen_ai.provider.name"], "anthropic");
    assert_eq!(span["gen_ai.usage.cache_read.input_tokens"], "7");
    assert_eq!(span["gen_ai.usage.cache_creation.input_tokens"], "5");
    assert_eq!(span["gen_ai.usage.reasoning.output_tokens"], "6");
    assert_eq!(span["portcullis.cost"], "0.35 USD, 7 EUR");
    assert_eq!(span["portcullis.attempts"], "2");
    assert_eq!(span["portcullis.given_up"], "_OTHER", "it has no code");
    assert_eq!(span["portcullis.tools"], "1");
    let first: f64 = span["gen_ai.response.time_to_first_chunk"].parse().unwrap();
    let event: f64 = span["portcullis.first_event_ms"].parse().unwrap();
    assert!(first >= 2.0 && event < 1_000.0, "{first} s, {event} ms");
    assert!(!span.contains_key("gen_ai.response.model"), "nobody said");
}

fn trace_context() -> TraceContext {
    "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        .parse()
        .unwrap()
}

async fn run_in(trace: Option<TraceContext>, layer: TraceLayer) -> Option<TraceContext> {
    let actor = actor([done()]);
    let mut scope = Scope::new("s");
    if let Some(trace) = trace {
        scope.extensions_mut().insert(trace);
    }
    let turn = layer.layer(actor.clone()).invoke(scope, Prompt::text("p"));
    let _: Vec<_> = turn.collect().await;
    actor.seen.last_scope().extensions().get().cloned()
}

/// A2A-SEC-20: what an edge has read is in the span, and goes on.
#[tokio::test]
async fn records_the_trace_that_it_is_in() {
    let (log, _guard) = Log::start();
    let below = run_in(Some(trace_context()), TraceLayer::new()).await;
    assert_eq!(below, Some(trace_context()));
    assert_eq!(run_in(None, TraceLayer::new()).await, None);
    let [inside, outside] = &log.spans()[..] else {
        panic!("two turns");
    };
    assert_eq!(inside["trace_id"], "4bf92f3577b34da6a3ce929d0e0e4736");
    assert_eq!(inside["parent_id"], "00f067aa0ba902b7");
    assert!(!outside.contains_key("trace_id"));
}

/// What a bridge needs: the span before anything runs in it, and a place to say where it is.
#[tokio::test]
async fn a_hook_sets_the_trace_of_what_is_below() {
    let (log, _guard) = Log::start();
    let seen = Arc::<Mutex<Vec<_>>>::default();
    let sees = Arc::clone(&seen);
    let layer = TraceLayer::new().on_span(move |span, trace| {
        span.record("portcullis.cost", "the hook was here");
        sees.lock().unwrap().push(trace.cloned());
        TraceContext::new(trace?.trace_id_bytes(), [9; 8], true)
    });
    let below = run_in(Some(trace_context()), layer.clone()).await.unwrap();
    assert_eq!(below.trace_id(), trace_context().trace_id());
    assert_eq!(below.parent_id(), "09".repeat(8));
    assert_eq!(run_in(None, layer).await, None, "it had nothing to say");
    assert_eq!(*seen.lock().unwrap(), [Some(trace_context()), None]);
    assert_eq!(log.spans()[0]["portcullis.cost"], "the hook was here");
}

/// A field that is recorded in `Drop` lands in the span of the turn.
#[tokio::test]
async fn what_is_said_while_it_is_dropped_is_in_the_span() {
    struct LastWords;
    impl Drop for LastWords {
        fn drop(&mut self) {
            tracing::Span::current().record("portcullis.source", "last words");
        }
    }
    let (log, _guard) = Log::start();
    let agent = TraceLayer::new().layer(agent_fn(async |_scope, _prompt: Prompt, out| {
        let _words = LastWords;
        out.emit(AgentEvent::text("a")).await;
        std::future::pending::<()>().await;
        Ok(())
    }));
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::text("a")));
    assert!(!log.spans()[0].contains_key("portcullis.source"));
    drop(turn);
    assert_eq!(log.spans()[0]["portcullis.source"], "last words");
}

/// A turn that is dropped while a layer below still waits to admit it.
#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_while_it_waits_has_a_span() {
    let (log, _guard) = Log::start();
    let places = ConcurrencyLayer::new(1);
    let agent = ServiceBuilder::new()
        .layer(TraceLayer::new())
        .layer(places.clone())
        .service(actor([say("a"), Do::Hang]));
    let mut running = Box::pin(ask(&agent));
    let _ = running.next().await;
    let mut waiting = Box::pin(ask(&agent));
    assert!(waiting.next().now_or_never().is_none());
    assert_eq!((places.waiting(), log.open_spans()), (1, 2));
    drop(waiting);
    assert_eq!(log.open_spans(), 1);
    assert_eq!(log.spans()[1]["portcullis.outcome"], "cancelled");
    assert_eq!(log.text().matches("turn ended").count(), 1);
    drop(running);
    assert_eq!(log.text().matches("turn ended").count(), 2);
}

/// Split as it likes, the secret is in no span; nor is half of it, where the record ends.
#[tokio::test]
async fn redacts_content() {
    const SECRET: &str = "sk-0123456789";
    let redact = |text: &str| text.replace(SECRET, "***");
    for (before, bytes) in (0..40)
        .map(|n| (n, 20))
        .chain((1000..1060).map(|n| (n, 20)))
    {
        let (log, _guard) = Log::start();
        let answer = format!("{}{SECRET}{}", "x".repeat(before), "y".repeat(30));
        let words = answer.as_bytes().chunks(7);
        let mut part: Vec<_> = words
            .map(|word| say(str::from_utf8(word).unwrap()))
            .collect();
        part.push(done());
        let layer = TraceLayer::new().redacted_content(bytes, move |text| redact(text).into());
        let turn = layer
            .layer(actor(part))
            .invoke(Scope::new("s"), Prompt::text(answer.clone()));
        let _: Vec<_> = turn.collect().await;
        for field in ["gen_ai.input.messages", "gen_ai.output.messages"] {
            let recorded = &log.spans()[0][field];
            assert!(!recorded.contains("sk"), "{before}: {recorded}");
            let content = Json::from_text(recorded).unwrap();
            // What redaction has made shorter is missing at the end, no more.
            let least = "x".repeat(before.min(bytes - SECRET.len() + 3));
            assert!(content.as_str().contains(&least), "{before}: {recorded}");
        }
    }
}

/// Many secrets become short, and the end of what was read moves into what is recorded.
#[tokio::test]
async fn half_a_secret_at_the_end_is_not_recorded() {
    const SECRET: &str = "sk-0123456789";
    let (log, _guard) = Log::start();
    let layer = TraceLayer::new().redacted_content(20, |text| text.replace(SECRET, "").into());
    // 1044 bytes are read: 80 secrets, and the first four bytes of another one.
    let turn = layer
        .layer(actor([say(&SECRET.repeat(100)), done()]))
        .invoke(Scope::new("s"), Prompt::text(SECRET.repeat(100)));
    let _: Vec<_> = turn.collect().await;
    for field in ["gen_ai.input.messages", "gen_ai.output.messages"] {
        let recorded = &log.spans()[0][field];
        assert!(!recorded.contains("sk"), "{recorded}");
    }
}

/// Of a hook that panics nobody knows what it has let through.
#[tokio::test]
async fn a_redaction_that_panics_records_nothing() {
    let (log, _guard) = Log::start();
    let layer = TraceLayer::new().redacted_content(20, |_| panic!("no"));
    assert_eq!(
        types(&events(&layer.layer(actor([say("a"), done()]))).await),
        "text completed"
    );
    let span = &log.spans()[0];
    assert!(!span.contains_key("gen_ai.input.messages"));
    assert!(!span.contains_key("gen_ai.output.messages"));
    assert_eq!(span["portcullis.outcome"], "completed");
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
        r#"[{"role":"assistant","parts":[{"type":"text","content":"say \""}],"finish_reason":"stop"}]"#
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
