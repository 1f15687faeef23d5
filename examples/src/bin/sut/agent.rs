use futures_util::StreamExt;
use portcullis::{AgentEvent, BoxAgent, Emitter, Failure, agent_fn};
use portcullis_a2a::{
    model::{
        Artifact, Message, Part, PartContent, TaskState, TaskStatusUpdateEvent, decode_response,
    },
    server::{AgentExecutor, Coalescing, Emission, RequestContext},
};
use tower::ServiceExt;

use crate::behaviour::{self, Step};

/// Does what the message asks for.
pub(crate) async fn behave(context: RequestContext, out: Emitter<Emission>) -> Result<(), Failure> {
    let message = context.message();
    for step in behaviour::of(&message.message_id, first_text(message)) {
        match *step {
            Step::Work => {
                out.emit(context.status(TaskState::Working)).await;
            }
            Step::Artifact(json) => {
                out.emit(context.artifact(artifact(json)?)).await;
            }
            Step::LastChunk(json) => {
                let mut chunk = context.artifact(artifact(json)?);
                chunk.append = true;
                chunk.last_chunk = true;
                out.emit(chunk).await;
            }
            Step::Answer(text) => {
                out.emit(context.answer([Part::text(text)])).await;
            }
            Step::Ask(text) => say(&context, &out, TaskState::InputRequired, text).await,
            Step::AskForCredentials(text) => {
                say(&context, &out, TaskState::AuthRequired, text).await;
            }
            Step::Complete(text) => say(&context, &out, TaskState::Completed, text).await,
            Step::Reject(text) => say(&context, &out, TaskState::Rejected, text).await,
            Step::Fail(why) => return Err(Failure::internal(why)),
            Step::Sleep(duration) => tokio::time::sleep(duration).await,
            Step::Hang => std::future::pending().await,
            Step::Agent => {
                let Ok(mut emissions) = talker().oneshot(context.clone()).await;
                while let Some(emission) = emissions.next().await {
                    out.emit(emission).await;
                }
            }
            Step::AskOnce if context.task().is_some() => {
                say(&context, &out, TaskState::Completed, "Thank you.").await;
            }
            Step::AskOnce => say(&context, &out, TaskState::InputRequired, "What else?").await,
        }
    }
    Ok(())
}

async fn say(context: &RequestContext, out: &Emitter<Emission>, state: TaskState, text: &str) {
    let mut event: TaskStatusUpdateEvent = context.status(state);
    if !text.is_empty() {
        event.status.message = Some(Message::agent([Part::text(text)]));
    }
    out.emit(event).await;
}

fn first_text(message: &Message) -> &str {
    message
        .parts
        .iter()
        .find_map(|part| match &part.content {
            PartContent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .unwrap_or_default()
}

fn artifact(json: &str) -> Result<Artifact, Failure> {
    decode_response(json).map_err(Failure::internal)
}

/// An agent that streams word by word; its text is coalesced as by default.
fn talker() -> AgentExecutor {
    let agent = agent_fn(async |_scope, _prompt, out| {
        for number in 0..2_000 {
            out.emit(AgentEvent::text(format!("{number} "))).await;
            tokio::task::yield_now().await;
        }
        Ok(())
    });
    AgentExecutor::new(BoxAgent::new(agent), Coalescing::default())
}
