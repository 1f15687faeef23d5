use std::time::Duration;

use portcullis::{Admitted, Policy, Prompt, Scope};
use tower_layer::Layer;

use super::{
    Admit, ByPrincipal, BySession, BySource, ByTenant, Everybody, Key, Limiter, MemoryLimiter,
    PacedLayer, Rate, gate::Gate,
};

/// Bounds how many requests there are in a while. See the [module docs](super).
///
/// One value is one limit: clones, and all services that it makes, share it.
#[derive(Clone, Debug)]
pub struct RateLimitLayer<K = Everybody, L = MemoryLimiter> {
    gate: Gate<K, L>,
}

/// An agent that is asked only so often. See the [module docs](super).
pub type RateLimit<S, K = Everybody, L = MemoryLimiter> = Admitted<S, RateLimitLayer<K, L>>;

impl RateLimitLayer {
    /// One bucket for everybody.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        Self::keyed(rate, Everybody::new())
    }
}

impl RateLimitLayer<ByPrincipal> {
    /// A bucket for each principal. Those without one are told apart by their
    /// [`Peer`](super::Peer), if the scope has it.
    #[must_use]
    pub fn per_principal(rate: Rate) -> Self {
        Self::keyed(rate, ByPrincipal::new())
    }
}

impl RateLimitLayer<BySession> {
    /// A bucket for each session. The caller names the session: who begins another one has
    /// another bucket.
    #[must_use]
    pub fn per_session(rate: Rate) -> Self {
        Self::keyed(rate, BySession::new())
    }
}

impl RateLimitLayer<BySource> {
    /// A bucket for each source. The caller may name the source.
    #[must_use]
    pub fn per_source(rate: Rate) -> Self {
        Self::keyed(rate, BySource::new())
    }
}

impl RateLimitLayer<ByTenant> {
    /// A bucket for each tenant.
    #[must_use]
    pub fn per_tenant(rate: Rate) -> Self {
        Self::keyed(rate, ByTenant::new())
    }
}

impl<K: Key> RateLimitLayer<K> {
    /// A bucket for each key.
    #[must_use]
    pub fn keyed(rate: Rate, key: K) -> Self {
        Self {
            gate: Gate {
                key,
                named: MemoryLimiter::new(rate),
                anonymous: MemoryLimiter::new(rate),
                admit_when_unreachable: false,
            },
        }
    }

    /// Another rate for callers that nobody vouches for. It begins anew: set it before the layer
    /// is used.
    #[must_use]
    pub fn anonymous(mut self, rate: Rate) -> Self {
        self.gate.anonymous = MemoryLimiter::new(rate);
        self
    }

    /// So many buckets of callers with a name, and as many of those without. Both begin anew: set it after the
    /// rates, and before the layer is used.
    #[must_use]
    pub fn max_keys(mut self, keys: usize) -> Self {
        let Gate {
            named, anonymous, ..
        } = &mut self.gate;
        for limiter in [named, anonymous] {
            *limiter = MemoryLimiter::with_max_keys(limiter.rate(), keys);
        }
        self
    }

    /// How many keys have a bucket that is not full, for a gauge.
    #[must_use]
    pub fn keys(&self) -> usize {
        self.gate.named.keys() + self.gate.anonymous.keys()
    }
}

impl<K: Key, L: Limiter> RateLimitLayer<K, L> {
    /// Counts elsewhere: callers with a name in `named`, the others in `anonymous`.
    #[must_use]
    pub const fn with_limiters(key: K, named: L, anonymous: L) -> Self {
        Self {
            gate: Gate {
                key,
                named,
                anonymous,
                admit_when_unreachable: false,
            },
        }
    }

    /// Lets everybody in while the limiter cannot be reached, instead of refusing with
    /// `unavailable`.
    #[must_use]
    pub const fn admit_when_unreachable(mut self) -> Self {
        self.gate.admit_when_unreachable = true;
        self
    }

    /// Turns wait up to so long for their request, instead of being refused.
    #[must_use]
    pub fn wait_at_most(self, wait: Duration) -> PacedLayer<K, L> {
        PacedLayer::new(self.gate, wait)
    }

    /// How the caller of a turn stands, for the headers of an answer. It takes nothing.
    #[must_use]
    pub fn state(&self, scope: &Scope) -> L::Look {
        let key = self.gate.key.key(scope);
        self.gate.limiter(&key).look(&key)
    }
}

impl<K: Key, L: Limiter> Policy for RateLimitLayer<K, L> {
    type Turn = ();
    type Admit = Admit<L::Take>;

    fn admit(&self, scope: Scope, prompt: Prompt) -> Self::Admit {
        let take = self.gate.take(&scope);
        Admit::new(take, (scope, prompt), self.gate.admit_when_unreachable)
    }
}

impl<S, K: Key + Clone, L: Limiter + Clone> Layer<S> for RateLimitLayer<K, L> {
    type Service = RateLimit<S, K, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Admitted::new(inner, self.clone())
    }
}
