use std::time::Duration;

use portcullis::{AgentEvent, Prompt, Scope};

use super::{RecordedEnd, error::Fault, members::Members};

/// What a line says.
pub(super) enum What {
    Begin {
        scope: Option<Scope>,
        prompt: Option<Prompt>,
    },
    Event(AgentEvent),
    End {
        end: RecordedEnd,
        incomplete: bool,
    },
    /// Something of a later version.
    Other,
}

pub(super) struct Line {
    pub(super) turn: String,
    pub(super) at: Duration,
    pub(super) what: What,
}

impl Line {
    pub(super) fn read(text: &str) -> Result<Self, Fault> {
        let members: Members = serde_json::from_str(text)?;
        let turn = members
            .decode("turn")?
            .ok_or(Fault::Line("names no turn"))?;
        let at = members.decode("at")?.ok_or(Fault::Line("has no time"))?;
        let what = if let Some(event) = members.text("event") {
            What::Event(AgentEvent::from_json(event)?)
        } else if let Some(end) = members.decode::<String>("end")? {
            What::End {
                end: RecordedEnd::from_word(&end).ok_or(Fault::Line("has an unknown end"))?,
                incomplete: members.decode("incomplete")?.unwrap_or(false),
            }
        } else if let Some(begin) = members.decode::<Members>("begin")? {
            if begin.decode::<u64>("version")? != Some(1) {
                return Err(Fault::Line("is of another version"));
            }
            What::Begin {
                scope: begin.text("scope").map(Scope::from_json).transpose()?,
                prompt: begin.text("prompt").map(Prompt::from_json).transpose()?,
            }
        } else {
            What::Other
        };
        Ok(Self {
            turn,
            at: Duration::from_micros(at),
            what,
        })
    }
}
