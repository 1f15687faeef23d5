use std::{fmt::Display, io::Write};

/// One transcript of everybody who speaks: the caller, the agent, and the layers.
///
/// A reader that has gone does not stop the drive: its exit code is the result.
pub(super) struct Transcript<W> {
    out: W,
    /// Whose line is open.
    speaking: Option<&'static str>,
    /// Line breaks that the speaker ended with: printed only if more follows.
    breaks: usize,
}

impl<W: Write> Transcript<W> {
    pub(super) const fn new(out: W) -> Self {
        Self {
            out,
            speaking: None,
            breaks: 0,
        }
    }

    /// What is there before anybody speaks.
    pub(super) fn head(&mut self, lines: &[(&str, &str)]) {
        for (name, value) in lines {
            let _ = writeln!(self.out, "{name:<12}{value}");
        }
    }

    /// Another turn begins.
    pub(super) fn turn(&mut self, what: &str) {
        self.close();
        let _ = writeln!(self.out, "\n-- {what}");
    }

    /// Somebody says a piece; more of the same speaker goes on in the same line.
    pub(super) fn say(&mut self, speaker: &'static str, piece: &str) {
        if self.speaking != Some(speaker) {
            self.close();
            let _ = write!(self.out, "{speaker:<12}");
            self.speaking = Some(speaker);
        }
        let text = piece.trim_end_matches('\n');
        let line_break = format!("\n{:<12}", "");
        if !text.is_empty() {
            let breaks = line_break.repeat(std::mem::take(&mut self.breaks));
            let _ = write!(self.out, "{breaks}{}", text.replace('\n', &line_break));
            let _ = self.out.flush();
        }
        self.breaks += piece.len() - text.len();
    }

    /// Somebody says a whole line.
    pub(super) fn line(&mut self, speaker: &'static str, text: impl Display) {
        self.close();
        self.say(speaker, &text.to_string());
        self.close();
    }

    /// Said by nobody in the conversation.
    pub(super) fn note(&mut self, text: &str) {
        self.close();
        let _ = writeln!(self.out, "\n== {text}");
    }

    fn close(&mut self) {
        self.breaks = 0;
        if self.speaking.take().is_some() {
            let _ = writeln!(self.out);
        }
    }
}
