use portcullis::{AgentEvent, Failure};

use super::{MAX_LINE, MAX_OUTPUT, failure, utf8::Decoder};

/// What a program prints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Output {
    /// Events when the first line is one, else text.
    #[default]
    Auto,
    /// Text, whatever it looks like.
    Text,
    /// Events, one JSON object a line.
    Events,
}

/// Turns what a program prints into events.
#[derive(Debug)]
pub(super) struct Reader {
    mode: Mode,
    total: u64,
    line: u64,
}

#[derive(Debug)]
enum Mode {
    /// The first line is not whole, and looks as if it could be an event.
    Undecided(Vec<u8>),
    Text(Decoder),
    /// The line that is not whole yet.
    Events(Vec<u8>),
}

impl Reader {
    pub(super) fn new(output: Output) -> Self {
        let mode = match output {
            Output::Auto => Mode::Undecided(Vec::new()),
            Output::Text => Mode::Text(Decoder::default()),
            Output::Events => Mode::Events(Vec::new()),
        };
        Self {
            mode,
            total: 0,
            line: 0,
        }
    }

    /// Adds the events in some bytes, those before a fault too.
    pub(super) fn push(
        &mut self,
        bytes: &[u8],
        events: &mut Vec<AgentEvent>,
    ) -> Result<(), Failure> {
        self.total += bytes.len() as u64;
        if self.total > MAX_OUTPUT {
            return Err(failure::too_much());
        }
        self.read(bytes, events)
    }

    fn read(&mut self, bytes: &[u8], events: &mut Vec<AgentEvent>) -> Result<(), Failure> {
        match &mut self.mode {
            Mode::Undecided(held) => {
                held.extend_from_slice(bytes);
                match decide(held) {
                    None => Ok(()),
                    Some(mode) => {
                        let held = std::mem::take(held);
                        self.mode = mode;
                        self.read(&held, events)
                    }
                }
            }
            Mode::Text(decoder) => {
                let text = decoder.push(bytes);
                if !text.is_empty() {
                    events.push(AgentEvent::text(text));
                }
                Ok(())
            }
            Mode::Events(held) => {
                held.extend_from_slice(bytes);
                while let Some(end) = held.iter().position(|byte| *byte == b'\n') {
                    let rest = held.split_off(end + 1);
                    let line = std::mem::replace(held, rest);
                    self.line += 1;
                    if line.len() > MAX_LINE {
                        return Err(failure::too_long(self.line));
                    }
                    events.extend(event(&line, self.line)?);
                }
                if held.len() > MAX_LINE {
                    return Err(failure::too_long(self.line + 1));
                }
                Ok(())
            }
        }
    }

    /// The events in what is left when nothing more comes.
    pub(super) fn finish(self) -> Result<Vec<AgentEvent>, Failure> {
        match self.mode {
            Mode::Undecided(held) if held.is_empty() => Ok(Vec::new()),
            // One line without an end.
            Mode::Undecided(held) => match event(&held, 1) {
                Ok(event) => Ok(event.into_iter().collect()),
                Err(_) => Ok(vec![AgentEvent::text(String::from_utf8_lossy(&held))]),
            },
            Mode::Text(decoder) => Ok(decoder.finish().map(AgentEvent::text).into_iter().collect()),
            Mode::Events(held) => Ok(event(&held, self.line + 1)?.into_iter().collect()),
        }
    }
}

/// Text is told by its first character, events by their first line.
fn decide(held: &[u8]) -> Option<Mode> {
    let first = held.iter().find(|byte| !byte.is_ascii_whitespace());
    if first.is_some_and(|byte| *byte != b'{') || held.len() > MAX_LINE {
        return Some(Mode::Text(Decoder::default()));
    }
    let start = held.iter().position(|byte| *byte == b'{')?;
    let end = held[start..].iter().position(|byte| *byte == b'\n')? + start;
    match event(&held[start..end], 1) {
        Ok(_) => Some(Mode::Events(Vec::new())),
        Err(_) => Some(Mode::Text(Decoder::default())),
    }
}

/// The event of a line; an empty line has none.
fn event(line: &[u8], number: u64) -> Result<Option<AgentEvent>, Failure> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return Ok(None);
    }
    let text = std::str::from_utf8(line).map_err(|error| failure::no_event(number, error))?;
    serde_json::from_str(text.trim())
        .map(Some)
        .map_err(|error| failure::no_event(number, error))
}
