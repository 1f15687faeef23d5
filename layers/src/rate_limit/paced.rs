use std::{future::poll_fn, sync::Arc, time::Duration};

use portcullis::{
    Agent, Emitter, Failure, Finish, Next, Prompt, Retrying, Scope, Script, Scripted,
};
use tokio::time::{Instant, sleep_until};
use tower_layer::Layer;

use super::{
    Decision, Everybody, Key, LimitKey, Limiter, MemoryLimiter,
    error::too_many,
    gate::{Gate, trouble},
    line::Line,
};

/// Lets turns wait for their request. See the [module docs](super).
///
/// Clones, and all services that one value makes, share the limit and the line.
#[derive(Clone, Debug)]
pub struct PacedLayer<K = Everybody, L = MemoryLimiter> {
    gate: Gate<K, L>,
    patience: Duration,
    line: Arc<Line>,
}

/// An agent whose turns wait for their request. See the [module docs](super).
pub type Paced<S, K = Everybody, L = MemoryLimiter> = Scripted<S, PacedLayer<K, L>>;

impl<K: Key, L: Limiter> PacedLayer<K, L> {
    pub(super) fn new(gate: Gate<K, L>, patience: Duration) -> Self {
        Self {
            gate,
            patience,
            line: Line::new(1024),
        }
    }

    /// So many turns may wait, over all keys; what comes on top is refused. The default is 1,024. It begins
    /// anew: set it before the layer is used.
    #[must_use]
    pub fn max_waiting(mut self, turns: usize) -> Self {
        self.line = Line::new(turns);
        self
    }

    /// How many turns wait, for a gauge.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.line.waiting()
    }

    /// How the caller of a turn stands, for the headers of an answer. It takes nothing, and
    /// knows nothing of those who wait.
    #[must_use]
    pub fn state(&self, scope: &Scope) -> L::Look {
        let key = self.gate.key.key(scope);
        self.gate.limiter(&key).look(&key)
    }

    /// Nothing if the turn may begin, or when there is a request for it.
    async fn take(&self, key: &LimitKey) -> Result<Option<Instant>, Failure> {
        let answer = self.gate.limiter(key).take(key).await;
        Ok(match trouble(answer, self.gate.admit_when_unreachable)? {
            Decision::Granted => None,
            Decision::NotYet(wait) => Some(Instant::now() + wait),
        })
    }

    async fn wait(&self, scope: &Scope, key: &LimitKey, out: &Emitter) -> Result<(), Failure> {
        let came = Instant::now();
        let refuse = |at: Instant| too_many(at.saturating_duration_since(Instant::now()));
        let in_time = |at: Instant| {
            let deadline = scope.deadline().map(Instant::from_std);
            let too_late = deadline.is_some_and(|deadline| at >= deadline);
            !too_late && at.saturating_duration_since(came) <= self.patience
        };
        let interval = self.gate.limiter(key).rate().interval();
        let at = match self.line.behind(key, interval) {
            Some(at) => at,
            None => match self.take(key).await? {
                Some(at) => at,
                None => return Ok(()),
            },
        };
        if !in_time(at) {
            return Err(refuse(at));
        }
        let place = self.line.join(key, at).ok_or_else(|| refuse(at))?;
        let delay = at.saturating_duration_since(Instant::now());
        out.emit(Retrying::new(1, 1, delay, "too many requests"))
            .await;
        let mut sleep = Box::pin(sleep_until(at));
        loop {
            poll_fn(|cx| place.poll(cx, &mut sleep)).await;
            match self.take(key).await? {
                None => return Ok(()),
                // Somebody took it who does not stand in this line.
                Some(at) if in_time(at) => place.put_off(at),
                Some(at) => return Err(refuse(at)),
            }
        }
    }
}

impl<S, K, L> Script<S> for PacedLayer<K, L>
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    K: Key + Clone + Send + Sync + 'static,
    L: Limiter<Take: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        mut next: Next<S>,
        out: Emitter,
    ) -> Result<Finish<S>, Failure> {
        let key = self.gate.key.key(&scope);
        self.wait(&scope, &key, &out).await?;
        Ok(next.invoke(scope, prompt).into())
    }
}

impl<S, K: Key + Clone, L: Limiter + Clone> Layer<S> for PacedLayer<K, L> {
    type Service = Paced<S, K, L>;

    fn layer(&self, inner: S) -> Self::Service {
        Scripted::new(inner, self.clone())
    }
}
