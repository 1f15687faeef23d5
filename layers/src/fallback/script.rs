use std::time::Duration;

use portcullis::{Agent, Emitter, Failure, Finish, Json, Next, Prompt, Retrying, Scope, Script};
use tokio::time::Instant;

use super::{
    FallbackLayer,
    causes::all_failed,
    target::{Pick, Targets},
};
use crate::commit::{Attempt, Held, count_another, count_first, read, reason};

impl<S, B> Script<Targets<S, B>> for FallbackLayer<B>
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    B: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        mut scope: Scope,
        prompt: Prompt,
        mut next: Next<Targets<S, B>>,
        out: Emitter,
    ) -> Result<Finish<Targets<S, B>>, Failure> {
        count_first(&mut scope);
        let mut held = self.buffer.map(Held::new);
        let mut first: Option<Failure> = None;
        let mut tried = 0;
        loop {
            let mut run_scope = scope.clone();
            if let Some(other) = usize::checked_sub(tried, 1) {
                run_scope.extensions_mut().insert(Pick(other));
            }
            let run = next.invoke(run_scope, prompt.clone());
            let end = match read(run, &out, &self.visible, held.as_mut()).await {
                Attempt::Shown(rest) => return Ok(rest.into()),
                Attempt::Completed(completed) => return Ok(completed.into()),
                end => end,
            };
            let failure = end.failure();
            let worth_it = failure.is_none_or(|failure| self.classify.ask(failure));
            let in_time = scope
                .deadline()
                .is_none_or(|deadline| Instant::now() < Instant::from_std(deadline));
            let other = self.others.get(tried).filter(|_| worth_it && in_time);
            let Some(other) = other else {
                if let Some(held) = &mut held {
                    held.show(&out).await;
                }
                return match (end, first) {
                    (Attempt::Failed(last), Some(first)) => {
                        Err(all_failed(&first, last, !worth_it))
                    }
                    (Attempt::Failed(last), None) => Err(last),
                    (Attempt::Completed(completed), _) => Ok(completed.into()),
                    // As it came: to repair a bare end is not for this layer.
                    (Attempt::Bare(run) | Attempt::Shown(run), _) => Ok(run.into()),
                };
            };
            if let Some(held) = &mut held {
                held.clear();
            }
            count_another(&scope, failure);
            tried += 1;
            let announced = announce(tried, self.others.len(), reason(failure), &other.name);
            first = first.or_else(|| {
                let bare = || Failure::new(reason(None)).retryable(true);
                Some(failure.cloned().unwrap_or_else(bare))
            });
            // Gone before the next one begins.
            drop(end);
            out.emit(announced).await;
        }
    }
}

/// Advisory: an event of another type would be visible to layers above, and end their
/// retrying.
fn announce(tried: usize, others: usize, reason: &str, name: &str) -> Retrying {
    let number = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).saturating_add(1);
    let mut retrying = Retrying::new(number(tried), number(others), Duration::ZERO, reason);
    if let Ok(name) = Json::encode(name) {
        // Refused only for a name that the event has itself.
        let _ = retrying.extra_mut().insert("fallback", &name);
    }
    retrying
}
