use std::time::Duration;

use portcullis::{BoxAgent, Principal};
use portcullis_layers::{
    ServiceBuilderExt,
    auth::{AuthError, AuthLayer, Credentials, Identity, verify_fn},
    breaker::{BreakerLayer, Settings},
    budget::{BudgetLayer, Limits, MemoryLedger, Meter, Window},
    concurrency::ConcurrencyLayer,
    fallback::FallbackLayer,
    guard::{Action, GuardLayer, Rules},
    rate_limit::{Rate, RateLimitLayer},
    record::{MemorySink, RecordLayer},
    retry::{Backoff, RetryLayer},
    session::SessionDesk,
    structured::StructuredLayer,
    timeout::{Clocks, TimeoutLayer},
    trace::TraceLayer,
};
use tower::ServiceBuilder;

use crate::witness::Witness;

/// What the drive looks at from outside, besides the events.
pub(crate) struct Gated {
    pub(crate) agent: BoxAgent,
    pub(crate) sessions: SessionDesk,
    pub(crate) recordings: MemorySink,
}

/// The whole preset, outermost first, in front of any engine.
pub(crate) fn gate(
    name: &'static str,
    engine: BoxAgent,
    other: BoxAgent,
    witness: &Witness,
) -> Result<Gated, Box<dyn std::error::Error>> {
    let sessions = SessionDesk::new();
    let recordings = MemorySink::new(1 << 20);
    let keys = verify_fn(async |presented: Credentials| match presented.secret() {
        "ann's key" => Ok(Identity::new(Principal::new("user", "example", "ann"))),
        "mallory's key" => Ok(Identity::new(Principal::new("user", "example", "mallory"))),
        "broken key" => panic!("a bug in the application"),
        _ => Err(AuthError::invalid("the key is not known")),
    });
    let may = |identity: &Identity, _: &portcullis::Scope, _: &portcullis::Prompt| {
        identity.principal().subject() != "mallory"
    };
    let receipts = witness.clone();
    let opened = witness.clone();
    let rules = Rules::new()
        .regex(r"\b\d{3}-\d{2}-\d{4}\b", Action::text("[masked]"))
        .deny_tools(["date"]);
    let breaker = Settings::new()
        .window(4, Duration::from_secs(60))
        .at_least(2)
        .open_for(Duration::from_secs(30));
    let clocks = Clocks::new()
        .first_event(Duration::from_secs(2))
        .idle(Duration::from_secs(2));
    let quick = Backoff::new(Duration::from_millis(10), Duration::from_millis(50))?;

    let agent = ServiceBuilder::new()
        .boxed_agent()
        .catch()
        .auth(AuthLayer::new(keys).authorize_if(may))
        .layer(TraceLayer::new().agent(name))
        .metrics()
        .receipts(move |receipt| receipts.receipt(&receipt))
        .layer(RecordLayer::new(recordings.clone()))
        .layer(sessions.gate())
        .rate_limited(RateLimitLayer::per_principal(Rate::per_minute(40)?))
        .layer(ConcurrencyLayer::new(2).shed())
        .budget(
            BudgetLayer::per_principal(
                MemoryLedger::new(),
                Limits::of(Meter::ToolCalls, 200).per(Window::HOUR),
            )
            .and_per_turn(Limits::of(Meter::ToolCalls, 3)),
        )
        .clocks(TimeoutLayer::total(Duration::from_secs(4)))
        .layer(sessions.window())
        .layer(StructuredLayer::new().text_as_data().repairs(1))
        .guard(GuardLayer::new(rules)?)
        .fallback(FallbackLayer::new("other", other))
        .layer(RetryLayer::new(1).backoff(quick))
        .breaker(
            BreakerLayer::new(breaker)?
                .on_change(move |(), change| opened.say(&format!("breaker: {change:?}"))),
        )
        .clocks(TimeoutLayer::new(clocks)?)
        .conform()
        .service(engine);
    Ok(Gated {
        agent,
        sessions,
        recordings,
    })
}
