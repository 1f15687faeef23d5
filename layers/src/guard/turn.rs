use std::{fmt, pin::Pin, sync::Arc, task::Context};

use portcullis::{
    AgentEvent, Extension, Extra, ExtraMut, Failure, FailureCode, Flow, Json, Outbox, ToolStarted,
    Turn,
};
use tokio::time::{Instant, Sleep, sleep_until};

use super::{
    Channel, Denied, Unknown,
    held::{Held, Pushed},
    json,
    rules::Ready,
    scan::{Stopped, Walks},
};

/// The guard of one turn.
pub struct GuardTurn {
    ready: Arc<Ready>,
    text: Held,
    thinking: Held,
    walks: Walks,
    /// When what is held back now leaves.
    until: Option<Instant>,
    /// One box a turn, made when somebody waits with text held back.
    sleep: Option<Pin<Box<Sleep>>>,
}

impl GuardTurn {
    pub(super) fn new(ready: Arc<Ready>) -> Self {
        Self {
            text: Held::new(&ready.compiled),
            thinking: Held::new(&ready.compiled),
            walks: Walks::new(&ready.compiled),
            until: None,
            sleep: None,
            ready,
        }
    }

    fn looks_at(&self, channel: Channel) -> bool {
        !self.ready.compiled.is_empty() && self.ready.channels.has(channel)
    }

    /// A piece of text or of thinking.
    fn piece(
        &mut self,
        event: &mut AgentEvent,
        thinking: bool,
        out: &mut Outbox,
    ) -> Result<Flow, Stopped> {
        let rules = &self.ready.compiled;
        let held = if thinking {
            &mut self.thinking
        } else {
            &mut self.text
        };
        let (delta, has_more) = match event {
            AgentEvent::Text(piece) => {
                let has_more = !piece.extra().is_empty();
                (piece.delta_mut(), has_more)
            }
            AgentEvent::Thinking(piece) => {
                let has_more = !piece.extra().is_empty();
                (piece.delta_mut(), has_more)
            }
            _ => return Ok(Flow::Forward),
        };
        match held.push(rules, delta) {
            Ok(Pushed::Same) => Ok(Flow::Forward),
            Ok(Pushed::Text(text)) => {
                let is_empty = text.is_empty();
                text.clone_into(delta);
                Ok(if is_empty && !has_more {
                    Flow::Skip
                } else {
                    Flow::Forward
                })
            }
            Err(Stopped) => {
                let safe = held.safe();
                if !safe.is_empty() {
                    out.before(piece_of(safe, thinking));
                }
                Err(Stopped)
            }
        }
    }

    /// Lets go what is held back.
    fn flush(&mut self, out: &mut Outbox) -> Result<(), Stopped> {
        self.until = None;
        for (held, thinking) in [(&mut self.text, false), (&mut self.thinking, true)] {
            if !held.is_holding() {
                continue;
            }
            let flushed = held.flush(&self.ready.compiled);
            let text = held.safe();
            if !text.is_empty() {
                out.before(piece_of(text, thinking));
            }
            flushed?;
        }
        Ok(())
    }

    /// An event that is whole.
    fn whole(&mut self, event: &mut AgentEvent) -> Result<(), Stopped> {
        match event {
            AgentEvent::ToolStarted(tool) if self.looks_at(Channel::ToolArgs) => {
                if let Some(args) = self.json(tool.args())? {
                    tool.set_args(args);
                }
            }
            AgentEvent::ToolEnded(tool) if self.looks_at(Channel::ToolResults) => {
                if let Some(content) = self.json(tool.content())? {
                    tool.set_content(content);
                }
            }
            AgentEvent::Retrying(retrying) if self.looks_at(Channel::Reason) => {
                if let Some(reason) = self.string(retrying.reason())? {
                    retrying.set_reason(reason);
                }
            }
            AgentEvent::Failed(failure) if self.looks_at(Channel::Details) => {
                if let Some(details) = self.string(failure.details())? {
                    failure.set_details(details);
                }
            }
            AgentEvent::Completed(completed) if self.looks_at(Channel::Data) => {
                if let Some(data) = completed.data()
                    && let Some(data) = self.json(data)?
                {
                    completed.set_data(Some(data));
                }
            }
            AgentEvent::Extension(extension) if self.ready.unknown == Unknown::Scan => {
                if let Some(masked) = self.extension(extension)? {
                    *event = masked;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn string(&mut self, text: &str) -> Result<Option<String>, Stopped> {
        self.ready.compiled.whole(text, &mut self.walks)
    }

    fn json(&mut self, value: &Json) -> Result<Option<Json>, Stopped> {
        let masked = json::mask(&self.ready.compiled, &mut self.walks, value.as_str(), false)?;
        // What cannot be masked must not leave.
        masked
            .map(|masked| Json::from_text(masked).map_err(|_| Stopped))
            .transpose()
    }

    fn extension(&mut self, extension: &Extension) -> Result<Option<AgentEvent>, Stopped> {
        let text = extension.json().as_str();
        let masked = json::mask(&self.ready.compiled, &mut self.walks, text, true)?;
        masked
            .map(|masked| AgentEvent::from_json(&masked).map_err(|_| Stopped))
            .transpose()
    }

    /// The unknown members of a known event.
    fn members(&mut self, event: &mut AgentEvent) -> Result<(), Stopped> {
        if self.ready.unknown == Unknown::Forward {
            return Ok(());
        }
        let Some((extra, mut edit)) = members_of(event) else {
            return Ok(());
        };
        if self.ready.unknown == Unknown::Block {
            edit.clear();
            return Ok(());
        }
        let rules = &self.ready.compiled;
        for (name, value) in extra.iter() {
            let new_name = rules.whole(&name, &mut self.walks)?;
            let new_value = json::mask(rules, &mut self.walks, value, false)?;
            if new_name.is_none() && new_value.is_none() {
                continue;
            }
            // Whatever cannot be masked must not leave: a name that is taken, for one.
            let new_value = new_value.as_deref().unwrap_or(value);
            let new_value = Json::from_text(new_value).map_err(|_| Stopped)?;
            edit.remove(&name).ok_or(Stopped)?;
            let taken = edit.insert(new_name.as_deref().unwrap_or(&name), &new_value);
            if !matches!(taken, Ok(None)) {
                return Err(Stopped);
            }
        }
        Ok(())
    }

    fn judge(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Result<Flow, Stopped> {
        let piece = match event {
            AgentEvent::Text(_) => self.looks_at(Channel::Text).then_some(false),
            AgentEvent::Thinking(_) => self.looks_at(Channel::Thinking).then_some(true),
            AgentEvent::Extension(_) if self.ready.unknown == Unknown::Block => {
                return Ok(Flow::Skip);
            }
            _ => None,
        };
        if let Some(thinking) = piece {
            let other = if thinking { &self.text } else { &self.thinking };
            if other.is_holding() {
                self.flush(out)?;
            }
            self.members(event)?;
            return self.piece(event, thinking, out);
        }
        self.flush(out)?;
        if let AgentEvent::ToolStarted(tool) = event {
            self.tool(tool)?;
        }
        self.whole(event)?;
        self.members(event)?;
        Ok(Flow::Forward)
    }

    fn tool(&self, tool: &mut ToolStarted) -> Result<(), Stopped> {
        if self.ready.tools.allows(tool.name()) {
            return Ok(());
        }
        match self.ready.tools.then {
            Denied::Fail => Err(Stopped),
            Denied::Mark => {
                let yes = Json::encode(&true).map_err(|_| Stopped)?;
                tool.extra_mut()
                    .insert("denied", &yes)
                    .map_err(|_| Stopped)?;
                Ok(())
            }
        }
    }

    fn stop(&mut self, out: &mut Outbox) {
        // What is held back came before the match. If that is the match, nothing comes of it.
        let _ = self.flush(out);
        out.fail(Failure::with_code(
            FailureCode::PERMISSION_DENIED,
            "the guard stopped the turn",
        ));
    }
}

impl Turn for GuardTurn {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        self.until = None;
        self.judge(event, out).unwrap_or_else(|Stopped| {
            self.stop(out);
            Flow::Skip
        })
    }

    fn poll_quiet(&mut self, cx: &mut Context<'_>, out: &mut Outbox) {
        let Some(time) = self.ready.max_hold else {
            return;
        };
        if !self.text.is_holding() && !self.thinking.is_holding() {
            return;
        }
        // A time out of reach is none.
        let until = self.until.or_else(|| Instant::now().checked_add(time));
        let Some(until) = until else {
            return;
        };
        self.until = Some(until);
        let sleep = self
            .sleep
            .get_or_insert_with(|| Box::pin(sleep_until(until)));
        if sleep.deadline() != until {
            sleep.as_mut().reset(until);
        }
        if sleep.as_mut().poll(cx).is_ready() && self.flush(out).is_err() {
            self.stop(out);
        }
    }
}

fn piece_of(text: &str, thinking: bool) -> AgentEvent {
    if thinking {
        AgentEvent::thinking(text)
    } else {
        AgentEvent::text(text)
    }
}

/// The unknown members of a known event, if it has any: what they are, and how to edit them.
fn members_of(event: &mut AgentEvent) -> Option<(Extra, ExtraMut<'_>)> {
    macro_rules! members {
        ($event:expr) => {
            (!$event.extra().is_empty()).then(|| ($event.extra().clone(), $event.extra_mut()))
        };
    }
    match event {
        AgentEvent::Text(event) => members!(event),
        AgentEvent::Thinking(event) => members!(event),
        AgentEvent::ToolStarted(event) => members!(event),
        AgentEvent::ToolEnded(event) => members!(event),
        AgentEvent::Retrying(event) => members!(event),
        AgentEvent::Usage(event) => members!(event),
        AgentEvent::Completed(event) => members!(event),
        AgentEvent::Failed(event) => members!(event),
        AgentEvent::Extension(_) => None,
    }
}

impl fmt::Debug for GuardTurn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GuardTurn")
            .field(
                "holding",
                &(self.text.is_holding() || self.thinking.is_holding()),
            )
            .finish_non_exhaustive()
    }
}
