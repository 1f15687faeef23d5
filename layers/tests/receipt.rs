//! One receipt a turn, whatever ends it.

mod support;

use std::sync::{Arc, Mutex};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, Cost, Failure, FailureCode, Principal, Prompt, Scope, TraceContext, Usage,
};
use portcullis_layers::{
    ServiceBuilderExt,
    concurrency::ConcurrencyLayer,
    receipt::{Outcome, Receipt, ReceiptLayer},
};
use tower::{Layer, ServiceBuilder};

use support::*;

/// Where receipts go.
#[derive(Clone, Default)]
struct Books(Arc<Mutex<Vec<Receipt>>>);

impl Books {
    fn layer(&self) -> ReceiptLayer<impl Fn(Receipt) + use<>> {
        let books = Arc::clone(&self.0);
        ReceiptLayer::new(move |receipt| books.lock().unwrap().push(receipt))
    }

    fn entries(&self) -> Vec<Receipt> {
        self.0.lock().unwrap().clone()
    }

    fn only(&self) -> Receipt {
        let [receipt] = &self.entries()[..] else {
            panic!("not one: {:?}", self.entries());
        };
        receipt.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let books = Books::default();
    assert_transparent(|actor| books.layer().layer(actor)).await;
}

/// O-B13: exactly one for each turn, and the right one.
#[tokio::test(start_paused = true)]
async fn each_end_gives_one_receipt() {
    for (end, part) in five_ends() {
        let books = Books::default();
        let agent = books.layer().layer(actor(part));
        to_its_end(&agent).await;
        assert_eq!(books.only().outcome.as_str(), end);
        assert_eq!(books.only().session, "session");
    }
}

#[tokio::test(start_paused = true)]
async fn says_what_became_of_a_turn() {
    let books = Books::default();
    let usd = |amount| Cost::new(amount, "USD").unwrap();
    let first = Usage::new("1").with_model("small").with_input(25);
    let second = Usage::new("2").with_model("large").with_output(4);
    let agent = books.layer().layer(actor([
        Do::Wait(secs(1)),
        tool("t"),
        Do::Wait(secs(1)),
        say("a"),
        tool_ended("t"),
        Do::Say(first.with_cost(usd("0.1")).into()),
        Do::Say(second.with_cost(usd("0.02")).into()),
        Do::Wait(secs(3)),
        Do::Say(Failure::with_code(FailureCode::TIMEOUT, "secret").into()),
    ]));
    let trace = TraceContext::new([1; 16], [2; 8], true).unwrap();
    let principal = Principal::new("user", "issuer", "ada");
    let mut scope = Scope::new("s")
        .with_source("a2a")
        .with_tenant("acme")
        .with_principal(principal.clone());
    scope.extensions_mut().insert(trace.clone());
    let before = std::time::SystemTime::now();
    let _: Vec<_> = agent.invoke(scope, Prompt::text("secret")).collect().await;
    let receipt = books.only();
    assert!((before..=std::time::SystemTime::now()).contains(&receipt.started));
    assert_eq!(receipt.principal, Some(principal));
    assert_eq!(receipt.tenant.as_deref(), Some("acme"));
    assert_eq!(receipt.source.as_deref(), Some("a2a"));
    assert_eq!(receipt.trace, Some(trace));
    assert_eq!(receipt.duration.as_secs(), 5);
    assert_eq!(receipt.first_event.map(|at| at.as_secs()), Some(1));
    assert_eq!(receipt.first_token.map(|at| at.as_secs()), Some(2));
    assert_eq!((receipt.events, receipt.tools), (6, 1));
    assert_eq!(
        (receipt.usage.input(), receipt.usage.output()),
        (Some(25), Some(4))
    );
    assert_eq!(receipt.model(), Some("large"));
    assert_eq!(receipt.costs(), [usd("0.12")]);
    assert_eq!(receipt.attempts, 0);
    assert_eq!(receipt.outcome, Outcome::Failed(Some(FailureCode::TIMEOUT)));
    assert_eq!(receipt.outcome.to_string(), "failed (timeout)");
    assert!(!format!("{receipt:?}").contains("secret"), "no content");
}

/// B16: what only an inner layer knows.
#[tokio::test(start_paused = true)]
async fn counts_attempts() {
    let books = Books::default();
    let busy = Failure::with_code(FailureCode::OVERLOADED, "busy").retryable(true);
    let busy = [Do::Say(busy.into())];
    let agent = ServiceBuilder::new()
        .layer(books.layer())
        .retries(2)
        .service(actor(busy).then([say("a"), done()]));
    events(&agent).await;
    assert_eq!(books.only().attempts, 2);
    assert_eq!(books.only().given_up, [Some(FailureCode::OVERLOADED)]);
    assert_eq!(books.only().outcome, Outcome::Completed);
}

/// A turn that waits for a place and is dropped: nothing below has been called.
#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_while_it_waits_has_a_receipt() {
    let books = Books::default();
    let places = ConcurrencyLayer::new(1);
    let agent = ServiceBuilder::new()
        .layer(books.layer())
        .layer(places.clone())
        .service(actor([say("a"), Do::Hang]));
    let mut running = Box::pin(ask(&agent));
    assert_eq!(running.next().await, Some(AgentEvent::text("a")));
    let mut waiting = Box::pin(ask(&agent));
    assert!(waiting.next().now_or_never().is_none());
    assert_eq!(places.waiting(), 1);
    assert_eq!(books.entries(), []);
    drop(waiting);
    let receipt = books.only();
    assert_eq!(receipt.outcome, Outcome::Cancelled);
    assert_eq!((receipt.events, receipt.first_event), (0, None));
    drop(running);
    assert_eq!(books.entries().len(), 2);
}

/// O-B02: usage that an engine reports while it is dropped.
#[tokio::test]
async fn has_what_comes_while_the_engine_is_dropped() {
    let books = Books::default();
    let late = Usage::new("call").with_input(7).with_output(5);
    let agent = books
        .layer()
        .layer(actor([say("a"), Do::Hang]).report_when_dropped(late));
    let mut turn = Box::pin(ask(&agent));
    let _ = turn.next().await;
    drop(turn);
    assert_eq!(books.only().usage.output(), Some(5));
}

/// O-B14: a sink that panics does no harm, not even inside `drop`, and is not hushed up.
#[tokio::test(start_paused = true)]
async fn a_sink_that_panics_is_logged() {
    for (end, part) in five_ends() {
        let (log, _guard) = Log::start();
        let layer = ReceiptLayer::new(|_: Receipt| panic!("no paper"));
        let agent = layer.layer(actor(part));
        let seen = to_its_end(&agent).await;
        assert_eq!(seen.first(), Some(&AgentEvent::text("a")));
        assert!(
            log.text().contains("sink of the receipts panicked"),
            "{end}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn drops_with_the_turn() {
    let books = Books::default();
    let (given, layer) = (books.clone(), books.layer());
    let mut turns = std::cell::Cell::new(0);
    assert_drops(
        everything(),
        |actor| layer.layer(actor),
        || {
            turns.set(turns.get() + 1);
            // All but the one that was never polled: it has not begun.
            given.entries().len() == turns.get() - 1
        },
    )
    .await;
    assert!(*turns.get_mut() > 10);
}
