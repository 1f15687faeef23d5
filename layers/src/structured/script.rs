use std::{future::poll_fn, pin::Pin, time::Duration};

use futures_core::Stream;
use portcullis::{
    Agent, AgentEvent, Completed, Emitter, Failure, FailureCode, Finish, Json, Next, Prompt,
    Retrying, Run, Scope, Script,
};
use tokio::time::Instant;

use super::{Repair, StructuredLayer, Validator, Violation, held::Held};

impl<S, V> Script<S> for StructuredLayer<V>
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
    V: Validator<Schema: Send + Sync> + Send + Sync + 'static,
{
    async fn run(
        self,
        scope: Scope,
        prompt: Prompt,
        mut next: Next<S>,
        out: Emitter,
    ) -> Result<Finish<S>, Failure> {
        let Some(schema) = scope.output_schema().cloned() else {
            return Ok(next.invoke(scope, prompt).into());
        };
        let compiled = self.schemas.compile(&*self.validator, &schema);
        let compiled = compiled.map_err(|invalid| {
            let details = format!("the output schema is not valid: {invalid}");
            Failure::with_code(FailureCode::INVALID_PROMPT, details)
        })?;
        let mut asked = prompt.clone();
        for attempt in 1.. {
            let mut held = Held::default();
            let run = next.invoke(scope.clone(), asked);
            let mut completed = match self.read(run, &mut held, &out).await? {
                Ended::Completed(completed) => completed,
                Ended::Failed(failure) => {
                    held.show(&out).await;
                    return Err(failure);
                }
                Ended::Bare(run) => {
                    held.show(&out).await;
                    return Ok(run.into());
                }
            };
            let text = held.text();
            let violations = match self.data(&mut completed, &text) {
                Ok(data) => self.validator.violations(&compiled, data),
                Err(violation) => vec![violation],
            };
            if violations.is_empty() {
                held.show(&out).await;
                return Ok(completed.into());
            }
            if attempt > self.repairs || is_over(&scope) {
                return Err(invalid_output(&violations));
            }
            asked = (self.make_prompt)(&Repair {
                prompt: &prompt,
                schema: &schema,
                data: completed.data(),
                text: &text,
                violations: &violations,
            });
            let most = self.repairs.saturating_add(1);
            let next = attempt.saturating_add(1);
            let reason = "the data does not fit the schema that was asked for";
            out.emit(Retrying::new(next, most, Duration::ZERO, reason))
                .await;
        }
        unreachable!("there are fewer attempts than numbers")
    }
}

/// How a run ended.
enum Ended<S: Agent> {
    Completed(Completed),
    Failed(Failure),
    /// It just ended.
    Bare(Run<S>),
}

impl<V: Validator> StructuredLayer<V> {
    /// Forwards everything but text and the end.
    async fn read<S: Agent>(
        &self,
        mut run: Run<S>,
        held: &mut Held,
        out: &Emitter,
    ) -> Result<Ended<S>, Failure> {
        loop {
            match poll_fn(|cx| Pin::new(&mut run).poll_next(cx)).await {
                None => return Ok(Ended::Bare(run)),
                Some(AgentEvent::Completed(completed)) => return Ok(Ended::Completed(completed)),
                Some(AgentEvent::Failed(failure)) => return Ok(Ended::Failed(failure)),
                Some(AgentEvent::Text(text)) => {
                    held.push(text);
                    if held.bytes() > self.most_held {
                        let details = format!("more than {} bytes of text", self.most_held);
                        return Err(invalid_output(&[Violation::new("", details)]));
                    }
                }
                Some(event) => out.emit(event).await,
            }
        }
    }

    /// The data of a run; made of its text where it has none.
    fn data<'a>(&self, completed: &'a mut Completed, text: &str) -> Result<&'a Json, Violation> {
        if completed.data().is_none() && self.text_as_data {
            let data = Json::from_text(text.trim_ascii());
            let data =
                data.map_err(|error| Violation::new("", format!("the text is no JSON: {error}")))?;
            completed.set_data(Some(data));
        }
        completed
            .data()
            .ok_or_else(|| Violation::new("", "there is no data"))
    }
}

fn is_over(scope: &Scope) -> bool {
    scope
        .deadline()
        .is_some_and(|deadline| Instant::now() >= Instant::from_std(deadline))
}

fn invalid_output(violations: &[Violation]) -> Failure {
    let violations: Vec<_> = violations.iter().map(ToString::to_string).collect();
    let details = format!(
        "the output is not what was asked for: {}",
        violations.join("; ")
    );
    Failure::with_code(FailureCode::INVALID_OUTPUT, details)
}
