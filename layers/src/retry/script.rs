use std::time::Duration;

use portcullis::{Agent, Emitter, Failure, Finish, Next, Prompt, Retrying, Scope, Script};
use tokio::time::{Instant, sleep_until};

use super::{RetryLayer, allowance::Shared};
use crate::commit::{Attempt, Held, count_another, count_first, read, reason};

impl<S> Script<S> for RetryLayer
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        mut scope: Scope,
        prompt: Prompt,
        mut next: Next<S>,
        out: Emitter,
    ) -> Result<Finish<S>, Failure> {
        let begun = Instant::now();
        let shared = match scope.extensions().get::<Shared>() {
            Some(shared) => shared.clone(),
            None => {
                let shared = Shared::new(self.retries);
                scope.extensions_mut().insert(shared.clone());
                shared
            }
        };
        count_first(&mut scope);
        self.allowance.pay_in();
        let mut held = self.buffer.map(Held::new);
        for attempt in 1.. {
            let run = next.invoke(scope.clone(), prompt.clone());
            let end = match read(run, &out, &self.visible, held.as_mut()).await {
                Attempt::Shown(rest) => return Ok(rest.into()),
                Attempt::Completed(completed) => return Ok(completed.into()),
                end => end,
            };
            let failure = end.failure();
            let worth_it = failure.is_none_or(|failure| self.classify.ask(failure));
            let wait = worth_it
                .then(|| self.wait(attempt, failure, begun, &scope))
                .flatten()
                .filter(|_| self.take(&shared));
            let Some((delay, until)) = wait else {
                if let Some(held) = &mut held {
                    held.show(&out).await;
                }
                return match end {
                    Attempt::Failed(failure) => Err(failure),
                    Attempt::Completed(completed) => Ok(completed.into()),
                    // As it came: to repair a bare end is not for this layer.
                    Attempt::Bare(run) | Attempt::Shown(run) => Ok(run.into()),
                };
            };
            if let Some(held) = &mut held {
                held.clear();
            }
            count_another(&scope, failure);
            let most = self.retries.saturating_add(1);
            let coming = attempt.saturating_add(1);
            let announced = Retrying::new(coming, most, delay, reason(failure));
            // Gone before the wait, and what came of it.
            drop(end);
            out.emit(announced).await;
            sleep_until(until).await;
        }
        unreachable!("there are fewer attempts than numbers")
    }
}

impl RetryLayer {
    /// Takes a retry of the turn and one of the layer, or none.
    fn take(&self, shared: &Shared) -> bool {
        if !shared.take() {
            return false;
        }
        let allowed = self.allowance.take();
        if !allowed {
            shared.give_back();
        }
        allowed
    }

    /// How long to wait after this attempt, and until when; `None` if there is no use in
    /// another.
    fn wait(
        &self,
        attempt: u32,
        failure: Option<&Failure>,
        begun: Instant,
        scope: &Scope,
    ) -> Option<(Duration, Instant)> {
        if attempt > self.retries {
            return None;
        }
        let hint = failure.and_then(Failure::after).unwrap_or_default();
        if hint > self.longest_hint {
            return None;
        }
        let random = self
            .backoff
            .delay(attempt.saturating_add(1), fastrand::f64());
        // Both: who was given the same hint would come back together.
        let delay = hint.saturating_add(random);
        let until = Instant::now().checked_add(delay)?;
        let too_late = scope
            .deadline()
            .is_some_and(|deadline| until >= Instant::from_std(deadline));
        let too_long = self
            .max_elapsed
            .is_some_and(|most| until.duration_since(begun) > most);
        (!too_late && !too_long).then_some((delay, until))
    }
}
