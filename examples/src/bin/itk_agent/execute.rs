use std::{pin::Pin, time::Duration};

use portcullis::{Emitter, Failure};
use portcullis_a2a::{
    model::{Message, TaskState},
    server::{Emission, RequestContext},
};

use crate::{
    BoxError,
    call::call,
    instruction::{Instruction, Step},
};

/// By this a watcher of a held task knows that it has seen everything.
pub(crate) const FINISHED: &str = "task-finished";

/// Follows the instruction in the message, and says what came of it.
pub(crate) async fn execute(
    context: RequestContext,
    out: Emitter<Emission>,
) -> Result<(), Failure> {
    out.emit(context.status(TaskState::Working)).await;
    let Some(instruction) = Instruction::of(context.message()) else {
        let text = "No valid instruction found in request";
        let failed = context.status(TaskState::Failed);
        out.emit(failed.with_message(Message::agent_text(text)))
            .await;
        return Ok(());
    };
    let mut answer = follow(&instruction)
        .await
        .map_err(Failure::internal)?
        .join("\n");
    if instruction.holds() {
        answer.push('\n');
        answer.push_str(FINISHED);
        let working = context.status(TaskState::Working);
        out.emit(working.with_message(Message::agent_text(&answer)))
            .await;
        for _ in 0..5 {
            out.emit(context.status(TaskState::Working)).await;
            tokio::time::sleep(Duration::from_secs(2)).await;
        }
    }
    let completed = context.status(TaskState::Completed);
    out.emit(completed.with_message(Message::agent_text(answer)))
        .await;
    Ok(())
}

type Followed<'a> = Pin<Box<dyn Future<Output = Result<Vec<String>, BoxError>> + Send + 'a>>;

fn follow(instruction: &Instruction) -> Followed<'_> {
    Box::pin(async move {
        match &instruction.step {
            Some(Step::ReturnResponse(response)) => Ok(vec![response.response.clone()]),
            Some(Step::CallAgent(step)) => call(step).await,
            Some(Step::Steps(series)) => {
                let mut answers = Vec::new();
                for step in &series.instructions {
                    answers.extend(follow(step).await?);
                }
                Ok(answers)
            }
            None => Err("an instruction without a step".into()),
        }
    })
}
