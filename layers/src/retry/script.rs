use std::{future::poll_fn, pin::Pin, time::Duration};

use futures_core::Stream;
use portcullis::{
    Agent, AgentEvent, Emitter, Failure, Finish, Next, Prompt, Retrying, Run, Scope, Script,
};
use tokio::time::{Instant, sleep};

use super::{RetryLayer, allowance::Shared};

/// What a run came to before anybody saw anything of it.
enum Attempt<S: Agent> {
    /// The turn goes on or is over; there is nothing to try again.
    Over(Finish<S>),
    Failed(Failure),
    /// The stream just ended.
    Bare(Run<S>),
}

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
        let shared = match scope.extensions().get::<Shared>() {
            Some(shared) => shared.clone(),
            None => {
                let shared = Shared::new(self.retries);
                scope.extensions_mut().insert(shared.clone());
                scope.record().with(|turn| turn.attempts += 1);
                shared
            }
        };
        self.allowance.pay_in();
        for attempt in 1.. {
            let run = next.invoke(scope.clone(), prompt.clone());
            let (failure, bare) = match up_to_commit(run, &out).await {
                Attempt::Over(finish) => return Ok(finish),
                Attempt::Failed(failure) => (Some(failure), None),
                Attempt::Bare(run) => (None, Some(run)),
            };
            let worth_it = failure.as_ref().is_none_or(self.classify);
            let delay = worth_it
                .then(|| self.delay(attempt, failure.as_ref(), &scope))
                .flatten();
            let delay = delay.filter(|_| shared.take() && self.allowance.take());
            match (delay, failure, bare) {
                (Some(delay), failure, _) => {
                    scope.record().with(|turn| turn.attempts += 1);
                    let reason = failure
                        .as_ref()
                        .map_or("the agent ended without saying how", Failure::details);
                    let most = self.retries.saturating_add(1);
                    let retrying = Retrying::new(attempt.saturating_add(1), most, delay, reason);
                    out.emit(retrying).await;
                    sleep(delay).await;
                }
                (None, Some(failure), _) => return Err(failure),
                // As it came: to repair it is not for this layer.
                (None, None, Some(run)) => return Ok(run.into()),
                (None, None, None) => unreachable!("a run fails or ends bare"),
            }
        }
        unreachable!("there are fewer attempts than numbers")
    }
}

impl RetryLayer {
    /// How long to wait after this attempt; `None` if there is no use in another.
    fn delay(&self, attempt: u32, failure: Option<&Failure>, scope: &Scope) -> Option<Duration> {
        if attempt > self.retries {
            return None;
        }
        let delay = self
            .backoff
            .delay(attempt.saturating_add(1), fastrand::f64());
        let hint = failure.and_then(Failure::after).unwrap_or_default();
        if hint > self.longest_hint {
            return None;
        }
        let delay = delay.max(hint);
        let begins = Instant::now().checked_add(delay)?;
        let too_late = scope
            .deadline()
            .is_some_and(|deadline| begins >= Instant::from_std(deadline));
        (!too_late).then_some(delay)
    }
}

/// Forwards what is not visible; stops at the commit point, behind which nothing may be
/// tried again.
async fn up_to_commit<S: Agent>(mut run: Run<S>, out: &Emitter) -> Attempt<S> {
    loop {
        match poll_fn(|cx| Pin::new(&mut run).poll_next(cx)).await {
            None => return Attempt::Bare(run),
            Some(AgentEvent::Completed(completed)) => {
                return Attempt::Over(Finish::Completed(completed));
            }
            Some(AgentEvent::Failed(failure)) => return Attempt::Failed(failure),
            Some(event) => {
                let committed = event.is_visible();
                out.emit(event).await;
                if committed {
                    return Attempt::Over(Finish::HandOver(run));
                }
            }
        }
    }
}
