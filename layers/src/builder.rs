use tower::ServiceBuilder;
use tower_layer::Stack;

#[cfg(feature = "auth")]
use crate::auth::AuthLayer;
#[cfg(feature = "boxed")]
use crate::boxed::BoxedLayer;
#[cfg(feature = "breaker")]
use crate::breaker::BreakerLayer;
#[cfg(feature = "budget")]
use crate::budget::BudgetLayer;
#[cfg(feature = "catch")]
use crate::catch::CatchLayer;
#[cfg(feature = "concurrency")]
use crate::concurrency::ConcurrencyLayer;
#[cfg(feature = "conform")]
use crate::conform::ConformLayer;
#[cfg(feature = "fallback")]
use crate::fallback::FallbackLayer;
#[cfg(feature = "guard")]
use crate::guard::GuardLayer;
#[cfg(feature = "metrics")]
use crate::metrics::MetricsLayer;
#[cfg(feature = "optional")]
use crate::optional::OptionalLayer;
#[cfg(feature = "passthrough")]
use crate::passthrough::PassthroughLayer;
#[cfg(feature = "raise")]
use crate::raise::RaiseLayer;
#[cfg(feature = "rate_limit")]
use crate::rate_limit::RateLimitLayer;
#[cfg(feature = "receipt")]
use crate::receipt::{ReceiptLayer, ReceiptSink};
#[cfg(feature = "record")]
use crate::record::{LineSink, RecordLayer};
#[cfg(feature = "retry")]
use crate::retry::RetryLayer;
#[cfg(feature = "session")]
use crate::session::{GateLayer, WindowLayer};
#[cfg(feature = "stock")]
use crate::stock::StockLayer;
#[cfg(feature = "structured")]
use crate::structured::StructuredLayer;
#[cfg(feature = "timeout")]
use crate::timeout::TimeoutLayer;
#[cfg(feature = "trace")]
use crate::trace::TraceLayer;

/// Our layers as methods of [`ServiceBuilder`]: the plain form of each. A configured one goes
/// in with [`ServiceBuilder::layer`].
///
/// Names that tower has taken for its own layers (`timeout`, `retry`) are avoided.
pub trait ServiceBuilderExt<L>: sealed::Sealed<L> + Sized {
    /// Adds a layer. What the other methods are made of.
    #[doc(hidden)]
    fn add<T>(self, layer: T) -> ServiceBuilder<Stack<T, L>>;

    /// Folds errors and panics into one failure: [`catch`](crate::catch).
    #[cfg(feature = "catch")]
    fn catch(self) -> ServiceBuilder<Stack<CatchLayer, L>> {
        self.add(CatchLayer::new())
    }

    /// Lets only those in who are known, and may: [`auth`](crate::auth).
    #[cfg(feature = "auth")]
    fn auth<V, P>(self, auth: AuthLayer<V, P>) -> ServiceBuilder<Stack<AuthLayer<V, P>, L>> {
        self.add(auth)
    }

    /// Puts every turn into a span: [`trace`](crate::trace).
    #[cfg(feature = "trace")]
    fn trace(self) -> ServiceBuilder<Stack<TraceLayer, L>> {
        self.add(TraceLayer::new())
    }

    /// Counts turns, through the `metrics` facade: [`metrics`](crate::metrics).
    #[cfg(feature = "metrics")]
    fn metrics(self) -> ServiceBuilder<Stack<MetricsLayer, L>> {
        self.add(MetricsLayer::new())
    }

    /// Hands a receipt of each turn to a sink: [`receipt`](crate::receipt).
    #[cfg(feature = "receipt")]
    fn receipts<K: ReceiptSink>(self, sink: K) -> ServiceBuilder<Stack<ReceiptLayer<K>, L>> {
        self.add(ReceiptLayer::new(sink))
    }

    /// Writes every turn down: [`record`](crate::record).
    #[cfg(feature = "record")]
    fn record(self, sink: impl LineSink) -> ServiceBuilder<Stack<RecordLayer, L>> {
        self.add(RecordLayer::new(sink))
    }

    /// Bounds how many requests there are in a while: [`rate_limit`](crate::rate_limit).
    #[cfg(feature = "rate_limit")]
    fn rate_limited<K, T>(
        self,
        limit: RateLimitLayer<K, T>,
    ) -> ServiceBuilder<Stack<RateLimitLayer<K, T>, L>> {
        self.add(limit)
    }

    /// Gives a session to one turn at a time: [`session`](crate::session).
    #[cfg(feature = "session")]
    fn session_gate<T>(self, gate: GateLayer<T>) -> ServiceBuilder<Stack<GateLayer<T>, L>> {
        self.add(gate)
    }

    /// Lets a desk reach the turns: [`session`](crate::session).
    #[cfg(feature = "session")]
    fn session_window(self, window: WindowLayer) -> ServiceBuilder<Stack<WindowLayer, L>> {
        self.add(window)
    }

    /// Runs so many turns at once: [`concurrency`](crate::concurrency).
    #[cfg(feature = "concurrency")]
    fn concurrency(self, most: usize) -> ServiceBuilder<Stack<ConcurrencyLayer, L>> {
        self.add(ConcurrencyLayer::new(most))
    }

    /// Limits what turns consume: [`budget`](crate::budget).
    #[cfg(feature = "budget")]
    fn budget<T>(self, budget: BudgetLayer<T>) -> ServiceBuilder<Stack<BudgetLayer<T>, L>> {
        self.add(budget)
    }

    /// Ends turns that take too long: [`timeout`](crate::timeout).
    #[cfg(feature = "timeout")]
    fn clocks(self, clocks: TimeoutLayer) -> ServiceBuilder<Stack<TimeoutLayer, L>> {
        self.add(clocks)
    }

    /// Checks data against the schema that was asked for: [`structured`](crate::structured).
    #[cfg(feature = "structured")]
    fn structured(self) -> ServiceBuilder<Stack<StructuredLayer, L>> {
        self.add(StructuredLayer::new())
    }

    /// Tries so many times again: [`retry`](crate::retry).
    #[cfg(feature = "retry")]
    fn retries(self, retries: u32) -> ServiceBuilder<Stack<RetryLayer, L>> {
        self.add(RetryLayer::new(retries))
    }

    /// Asks another agent if this one fails: [`fallback`](crate::fallback).
    #[cfg(feature = "fallback")]
    fn fallback<B>(self, fallback: FallbackLayer<B>) -> ServiceBuilder<Stack<FallbackLayer<B>, L>> {
        self.add(fallback)
    }

    /// Leaves an agent alone that fails: [`breaker`](crate::breaker).
    #[cfg(feature = "breaker")]
    fn breaker<K>(self, breaker: BreakerLayer<K>) -> ServiceBuilder<Stack<BreakerLayer<K>, L>> {
        self.add(breaker)
    }

    /// Masks or stops what an agent must not say: [`guard`](crate::guard).
    #[cfg(feature = "guard")]
    fn guard(self, guard: GuardLayer) -> ServiceBuilder<Stack<GuardLayer, L>> {
        self.add(guard)
    }

    /// Makes the agent keep to the contract: [`conform`](crate::conform).
    #[cfg(feature = "conform")]
    fn conform(self) -> ServiceBuilder<Stack<ConformLayer, L>> {
        self.add(ConformLayer::new())
    }

    /// Raises early failures as errors: [`raise`](crate::raise).
    #[cfg(feature = "raise")]
    fn raise(self) -> ServiceBuilder<Stack<RaiseLayer, L>> {
        self.add(RaiseLayer::new())
    }

    /// Puts tower's layers around the agent: [`stock`](crate::stock).
    #[cfg(feature = "stock")]
    fn stock<T>(self, layers: T) -> ServiceBuilder<Stack<StockLayer<T>, L>> {
        self.add(StockLayer::new(layers))
    }

    /// Carries unknown events around a layer: [`passthrough`](crate::passthrough).
    #[cfg(feature = "passthrough")]
    fn passthrough<T>(self, layer: T) -> ServiceBuilder<Stack<PassthroughLayer<T>, L>> {
        self.add(PassthroughLayer::new(layer))
    }

    /// Gives everything below one type: [`boxed`](crate::boxed).
    #[cfg(feature = "boxed")]
    fn boxed_agent(self) -> ServiceBuilder<Stack<BoxedLayer, L>> {
        self.add(BoxedLayer::new())
    }

    /// Adds a layer if there is one: [`optional`](crate::optional).
    #[cfg(feature = "optional")]
    fn optional<T>(self, layer: Option<T>) -> ServiceBuilder<Stack<OptionalLayer<T>, L>> {
        self.add(OptionalLayer::new(layer))
    }
}

impl<L> ServiceBuilderExt<L> for ServiceBuilder<L> {
    fn add<T>(self, layer: T) -> ServiceBuilder<Stack<T, L>> {
        self.layer(layer)
    }
}

mod sealed {
    pub trait Sealed<L> {}

    impl<L> Sealed<L> for tower::ServiceBuilder<L> {}
}
