use std::collections::VecDeque;

use super::{MAX_LOGGED, limits::MAX_SHOWN};

/// Takes a program's standard error: lines to the log, and the end of it for a failure.
#[derive(Debug, Default)]
pub(super) struct Errors {
    line: Vec<u8>,
    logged: usize,
    tail: VecDeque<u8>,
}

impl Errors {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.tail.extend(bytes);
        let over = self.tail.len().saturating_sub(MAX_SHOWN);
        self.tail.drain(..over);
        for byte in bytes {
            if self.logged + self.line.len() >= MAX_LOGGED {
                if !self.line.is_empty() {
                    self.log();
                    tracing::warn!("the program's standard error is longer than is logged");
                }
                return;
            }
            if *byte == b'\n' {
                self.log();
            } else {
                self.line.push(*byte);
            }
        }
    }

    /// The end of what was written.
    pub(super) fn finish(mut self) -> String {
        if !self.line.is_empty() {
            self.log();
        }
        let tail: Vec<u8> = self.tail.into();
        String::from_utf8_lossy(&tail).into_owned()
    }

    fn log(&mut self) {
        self.logged += self.line.len() + 1;
        let line = std::mem::take(&mut self.line);
        // `Debug` escapes what could forge a line of the log.
        tracing::info!(stderr = ?String::from_utf8_lossy(&line), "the program says");
    }
}
