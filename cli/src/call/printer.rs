use std::io::{self, Write};

use portcullis_a2a::model::{Artifact, Part, StreamResponse, Task, TaskState, TaskStatus};

/// Prints what an agent sends: text as it comes, or frames as JSON lines.
///
/// An error means that nobody reads any more: a turn that nobody follows is not worth going on.
pub(super) struct Printer<W> {
    out: W,
    json: bool,
    state: Option<TaskState>,
    status_text: Option<String>,
    /// Whether the last character was a line break, or nothing was printed.
    at_line_start: bool,
}

impl<W: Write> Printer<W> {
    pub(super) const fn new(out: W, json: bool) -> Self {
        Self {
            out,
            json,
            state: None,
            status_text: None,
            at_line_start: true,
        }
    }

    pub(super) fn show(&mut self, response: &StreamResponse) -> io::Result<()> {
        if self.json {
            let line = serde_json::to_string(response).expect("a frame is JSON");
            writeln!(self.out, "{line}")?;
        }
        match response {
            StreamResponse::Task(task) => self.task(task)?,
            StreamResponse::Message(message) => self.text(&message.text())?,
            StreamResponse::StatusUpdate(update) => self.status(&update.status)?,
            StreamResponse::ArtifactUpdate(update) => self.artifact(&update.artifact)?,
            _ => {}
        }
        self.out.flush()
    }

    fn task(&mut self, task: &Task) -> io::Result<()> {
        task.artifacts
            .iter()
            .try_for_each(|artifact| self.artifact(artifact))?;
        self.status(&task.status)
    }

    fn status(&mut self, status: &TaskStatus) -> io::Result<()> {
        self.state = Some(status.state);
        self.status_text = status.message.as_ref().map(|message| message.text());
        if let Some(text) = &self.status_text
            && !status.state.is_terminal()
        {
            let text = format!("{}{text}\n", if self.at_line_start { "" } else { "\n" });
            self.text(&text)?;
        }
        Ok(())
    }

    fn artifact(&mut self, artifact: &Artifact) -> io::Result<()> {
        artifact
            .parts
            .iter()
            .filter_map(Part::as_text)
            .try_for_each(|text| self.text(text))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        if self.json || text.is_empty() {
            return Ok(());
        }
        self.at_line_start = text.ends_with('\n');
        self.out.write_all(text.as_bytes())
    }

    /// Ends the last line.
    pub(super) fn end(&mut self) -> io::Result<()> {
        if !self.at_line_start {
            self.out.write_all(b"\n")?;
        }
        self.out.flush()
    }

    /// The last state of the task, if there was one.
    pub(super) const fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// What the last status said.
    pub(super) fn status_text(&self) -> Option<&str> {
        self.status_text.as_deref().filter(|text| !text.is_empty())
    }
}
