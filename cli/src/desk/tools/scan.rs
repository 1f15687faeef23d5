use serde_json::json;

use super::{
    Outcome, ToolError,
    outcome::{Skipped, accepts, counted, path_of},
};
use crate::desk::{
    files::{Entry, Place, Root, Walk},
    grammar::Scan,
    workers::Stop,
};

/// A scan that is made one file at a time, so that whoever watches sees each.
#[derive(Debug)]
pub(crate) struct ScanJob {
    root: Root,
    request: Scan,
    /// What is left; nothing before the first step.
    rest: Option<Walk>,
    files: u64,
    lines: u64,
    skipped: Skipped,
}

/// What a step of a scan made.
#[derive(Debug)]
pub(crate) enum Progress {
    /// One file, as a line.
    File(String),
    Done(Outcome),
}

impl ScanJob {
    pub(crate) fn new(root: Root, request: Scan) -> Self {
        Self {
            root,
            request,
            rest: None,
            files: 0,
            lines: 0,
            skipped: Skipped::default(),
        }
    }

    /// Reads the next file.
    pub(crate) fn step(&mut self, stop: &Stop) -> Result<Progress, ToolError> {
        if self.rest.is_none() {
            match self.root.place(path_of(&self.request.subject))? {
                Place::Directory(walk) => self.rest = Some(walk),
                Place::File(file) => {
                    let path = path_of(&self.request.subject).unwrap_or(".").to_owned();
                    if self.files > 0 {
                        return Ok(Progress::Done(self.outcome(false)));
                    }
                    self.files = 1;
                    let counts = file.counts(stop)?;
                    self.lines = counts.lines;
                    return Ok(Progress::File(line(&path, counts.lines, counts.words)));
                }
            }
        }
        let wanted = self
            .request
            .first
            .is_none_or(|first| self.files < first as u64);
        if wanted && let Some(entry) = self.next_file(stop)? {
            self.files += 1;
            let counted = entry
                .open(self.root.limits())
                .and_then(|file| file.counts(stop));
            stop.check()?;
            return Ok(Progress::File(match counted {
                Ok(counts) => {
                    self.lines += counts.lines;
                    line(&entry.shown(), counts.lines, counts.words)
                }
                Err(error) => {
                    self.skipped.add(&error);
                    format!("{error}")
                }
            }));
        }
        let truncated = self.rest.as_ref().is_some_and(Walk::is_truncated);
        Ok(Progress::Done(self.outcome(truncated)))
    }

    fn next_file(&mut self, stop: &Stop) -> Result<Option<Entry>, ToolError> {
        let filter = self.request.filter.as_ref();
        for entry in self.rest.iter_mut().flatten() {
            stop.check()?;
            if !entry.is_dir && accepts(filter, &entry) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    fn outcome(&self, truncated: bool) -> Outcome {
        let sentence = format!(
            "Scanned {}: {}.{}",
            counted(self.files, "file", "files"),
            counted(self.lines, "line", "lines"),
            self.skipped.sentence(truncated),
        );
        let data = json!({
            "path": path_of(&self.request.subject).unwrap_or("."),
            "files": self.files,
            "lines": self.lines,
            "skipped": self.skipped.data(),
            "truncated": truncated,
        });
        Outcome::said(sentence, data).with_count(self.files)
    }
}

fn line(path: &str, lines: u64, words: u64) -> String {
    format!(
        "{path}: {}, {}",
        counted(lines, "line", "lines"),
        counted(words, "word", "words")
    )
}
