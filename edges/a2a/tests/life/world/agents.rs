//! Agents that do what a script says: one that emits updates itself, and one that is an agent.

use std::{future::pending, sync::Arc, time::Duration};

use portcullis::{
    AgentEvent, Completed, Emitter, Failure, FailureCode, Prompt, Scope,
    views::{AuthRequired, InputRequired},
};
use portcullis_a2a::{
    model::{Artifact, Part, TaskState},
    server::{Emission, RequestContext},
};
use tokio::time::{sleep, timeout};

use super::{
    journal::Journal,
    script::{Script, Word},
};

/// What both know.
#[derive(Clone)]
pub(crate) struct Cast {
    pub(crate) journal: Arc<Journal>,
    pub(crate) unit: Duration,
}

impl Cast {
    pub(crate) async fn execute(
        self,
        cx: RequestContext,
        out: Emitter<Emission>,
    ) -> Result<(), Failure> {
        let mut entry = self.journal.begin(cx.task_id());
        let artifact = format!("a-{}", entry.number());
        let mut begun = false;
        for word in words(&cx.message().text()) {
            entry.does(word);
            let pieces = match word {
                Word::Say => 1,
                Word::Flood(pieces) => pieces,
                _ => 0,
            };
            for _ in 0..pieces {
                let mut chunk = cx.artifact(Artifact::text(&*artifact, entry.piece()));
                chunk.append = std::mem::replace(&mut begun, true);
                out.emit(chunk).await;
            }
            match word {
                Word::Say | Word::Flood(_) | Word::Stubborn => {}
                Word::Work => out.emit(cx.status(TaskState::Working)).await,
                Word::Wait(units) => sleep(self.unit * units).await,
                Word::Listen(units) => {
                    // Nobody has to say anything.
                    let _heard = timeout(self.unit * units, cx.next_message()).await;
                }
                Word::Ask => {
                    let asks = cx.status(TaskState::InputRequired).with_text("Which one?");
                    out.emit(asks).await;
                }
                Word::Sign => {
                    let asks = cx.status(TaskState::AuthRequired).with_text("Sign in");
                    out.emit(asks).await;
                }
                Word::Complete => out.emit(cx.status(TaskState::Completed)).await,
                Word::Reject => out.emit(cx.status(TaskState::Rejected)).await,
                Word::Cancel => out.emit(cx.status(TaskState::Canceled)).await,
                Word::Answer => out.emit(cx.answer([Part::text("pong")])).await,
                word => return stops(word).await,
            }
        }
        Ok(())
    }

    pub(crate) async fn answer(
        self,
        scope: Scope,
        prompt: Prompt,
        out: Emitter,
    ) -> Result<Completed, Failure> {
        let request = scope.extensions().get::<RequestContext>();
        let mut entry = self.journal.begin(request.expect("an edge").task_id());
        for word in words(prompt.as_text()) {
            entry.does(word);
            match word {
                Word::Stubborn => {}
                Word::Say => out.emit(AgentEvent::text(entry.piece())).await,
                Word::Flood(pieces) => {
                    for _ in 0..pieces {
                        out.emit(AgentEvent::text(entry.piece())).await;
                    }
                }
                Word::Work => out.emit(AgentEvent::thinking("hm")).await,
                Word::Wait(units) | Word::Listen(units) => sleep(self.unit * units).await,
                Word::Ask => out.emit(InputRequired::new("Which one?")).await,
                Word::Sign => out.emit(AuthRequired::new("Sign in")).await,
                Word::Reject => {
                    let code = FailureCode::INVALID_PROMPT;
                    return Err(Failure::with_code(code, "not that"));
                }
                Word::Cancel => return Err(Failure::with_code(FailureCode::ABORTED, "stopped")),
                // An agent ends well by ending.
                Word::Complete | Word::Answer | Word::End => break,
                word => stops(word).await?,
            }
        }
        Ok(Completed::new())
    }
}

fn words(text: &str) -> Vec<Word> {
    let script = text.parse::<Script>();
    script.unwrap_or_else(|word| panic!("no word: {word}")).0
}

/// Ends that both have.
async fn stops(word: Word) -> Result<(), Failure> {
    match word {
        Word::Fail => Err(Failure::new("out of luck")),
        Word::Panic => panic!("as the script says"),
        Word::Refuse => Err(Failure::with_code(FailureCode::OVERLOADED, "not now")),
        Word::Hang => pending().await,
        Word::End => Ok(()),
        word => unreachable!("{word} is no end"),
    }
}
