//! What sits in a server's state is `Clone + Send + Sync`, and a turn is `Send`.

use std::{fmt::Debug, time::Duration};

use portcullis::{Agent, BoxAgent, Scope, agent_fn};
use portcullis_layers::{
    auth::{ApiKeys, AuthLayer, Family, HttpAuthLayer, Jwks, Jwt, NewApiKey, Verifier},
    breaker::{BreakerLayer, Settings},
    budget::{BudgetLayer, Limits, MemoryLedger, Meter},
    catch::CatchLayer,
    concurrency::ConcurrencyLayer,
    conform::ConformLayer,
    fallback::FallbackLayer,
    guard::{Action, GuardLayer, Rules},
    metrics::MetricsLayer,
    optional::OptionalLayer,
    passthrough::PassthroughLayer,
    raise::{Raise, RaiseLayer},
    rate_limit::{Rate, RateLimitLayer},
    receipt::{Receipt, ReceiptLayer},
    record::{MemorySink, RecordLayer},
    replay::Replay,
    retry::RetryLayer,
    session::SessionDesk,
    stock::StockLayer,
    structured::StructuredLayer,
    timeout::TimeoutLayer,
    trace::TraceLayer,
};
use tower::{Layer, layer::util::Identity};

fn layer<L>(layer: L)
where
    L: Layer<BoxAgent> + Clone + Debug + Send + Sync + 'static,
    L::Service: Agent<Response: Debug + Send + 'static, Future: Send + 'static>
        + Clone
        + Debug
        + Send
        + Sync
        + 'static,
{
    drop(layer);
}

#[test]
fn layers_services_and_streams() {
    layer(AuthLayer::demand());
    layer(AuthLayer::new(verifier()).require_scopes(["a"]));
    layer(CatchLayer::new());
    layer(ConformLayer::new());
    layer(TraceLayer::new());
    layer(MetricsLayer::new());
    layer(ReceiptLayer::new(|_: Receipt| {}));
    layer(TimeoutLayer::idle(Duration::from_secs(1)));
    layer(ConcurrencyLayer::new(1));
    layer(ConcurrencyLayer::keyed(
        1,
        by_session as fn(&Scope) -> String,
    ));
    layer(BudgetLayer::per_session(
        MemoryLedger::new(),
        Limits::of(Meter::Tokens, 1),
    ));
    let rate = Rate::per_second(1).unwrap();
    layer(RateLimitLayer::per_principal(rate));
    layer(RateLimitLayer::keyed(
        rate,
        by_session as fn(&Scope) -> String,
    ));
    layer(RateLimitLayer::new(rate).wait_at_most(Duration::from_secs(1)));
    layer(RecordLayer::new(MemorySink::new(1)));
    drop(BoxAgent::new(Replay::conversation([])));
    layer(GuardLayer::new(Rules::new().regex("a", Action::stop())).expect("a guard"));
    layer(SessionDesk::new().gate());
    layer(SessionDesk::new().window());
    layer(RetryLayer::new(1));
    layer(BreakerLayer::default());
    layer(BreakerLayer::keyed(Settings::new(), by_session).unwrap());
    let other = agent_fn(async |_, _: portcullis::Prompt, _| Ok(()));
    layer(FallbackLayer::new("other", BoxAgent::new(other)));
    layer(StructuredLayer::new());
    layer(PassthroughLayer::new(Identity::new()));
    layer(StockLayer::new(Identity::new()));
    layer(OptionalLayer::new(Some(CatchLayer::new())));
}

#[test]
fn raise_is_no_agent_and_as_good() {
    fn good<T: Clone + Debug + Send + Sync + 'static>(_: T) {}
    fn future<S: tower::Service<R, Future: Send, Response: Send>, R>(_: &S) {}
    good(RaiseLayer::new());
    let raise = |agent: BoxAgent| {
        let raise: Raise<BoxAgent> = RaiseLayer::new().layer(agent);
        future(&raise);
        good(raise);
    };
    let _ = raise;
}

fn verifier() -> impl Verifier<Verify: Send> + Clone + Debug + Send + Sync {
    let key = NewApiKey::generate("alice", ["a"]).expect("words");
    let keys = ApiKeys::from_text(key.line()).expect("a line");
    let set = r#"{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;
    keys.or(Jwt::new("issuer", "audience", Family::Ed, Jwks::fixed(set)).expect("a key"))
}

#[test]
fn auth_in_front_of_http() {
    fn good<S>(service: S)
    where
        S: tower::Service<http::Request<String>, Future: Send> + Clone + Debug + Send + Sync,
    {
        drop(service);
    }
    let behind = tower::service_fn(|_: http::Request<String>| {
        std::future::ready(Ok::<_, std::convert::Infallible>(http::Response::new(())))
    });
    good(HttpAuthLayer::new(verifier()).layer(behind));
}

fn by_session(scope: &Scope) -> String {
    scope.session().to_owned()
}
