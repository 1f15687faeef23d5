use serde_json::json;

use super::{
    Outcome, Piece, ToolError,
    outcome::{Skipped, accepts, counted, path_of, place, shown_line},
};
use crate::desk::{
    files::{Place, Root, TextFile},
    grammar::{Search, SearchWhat},
    workers::Stop,
};

/// Looks for a text, literally, line by line.
pub(crate) fn search(root: &Root, request: &Search, stop: &Stop) -> Result<Outcome, ToolError> {
    let path = path_of(&request.subject);
    let mut found = Found::new(request, root);
    let mut skipped = Skipped::default();
    let mut truncated = false;
    match root.place(path)? {
        Place::File(file) => found.file(path.unwrap_or("."), file, stop)?,
        Place::Directory(mut walk) => {
            for entry in &mut walk {
                stop.check()?;
                if entry.is_dir || !accepts(request.filter.as_ref(), &entry) {
                    continue;
                }
                let searched = entry
                    .open(root.limits())
                    .map_err(ToolError::File)
                    .and_then(|file| found.file(&entry.shown(), file, stop));
                stop.check()?;
                if let Err(ToolError::File(error)) = searched {
                    skipped.add(&error);
                }
            }
            truncated = walk.is_truncated();
        }
    }
    Ok(found.outcome(path, skipped, truncated))
}

struct Found<'a> {
    request: &'a Search,
    pattern: Vec<u8>,
    max_shown: usize,
    max_line: usize,
    lines: u64,
    times: u64,
    files: u64,
    shown: Vec<(String, u64, String)>,
    names: Vec<String>,
}

impl<'a> Found<'a> {
    fn new(request: &'a Search, root: &Root) -> Self {
        let pattern = if request.any_case {
            request.pattern.to_lowercase()
        } else {
            request.pattern.clone()
        };
        Self {
            request,
            pattern: pattern.into_bytes(),
            max_shown: root.limits().shown_lines,
            max_line: root.limits().shown_line_bytes,
            lines: 0,
            times: 0,
            files: 0,
            shown: Vec::new(),
            names: Vec::new(),
        }
    }

    fn file(&mut self, path: &str, file: TextFile, stop: &Stop) -> Result<(), ToolError> {
        let before = self.lines;
        file.lines(stop, |number, line| {
            let times = if self.request.any_case {
                occurrences(
                    String::from_utf8_lossy(line).to_lowercase().as_bytes(),
                    &self.pattern,
                )
            } else {
                occurrences(line, &self.pattern)
            };
            if times > 0 {
                self.lines += 1;
                self.times += times;
                if self.shown.len() < self.max_shown {
                    self.shown
                        .push((path.to_owned(), number, shown_line(line, self.max_line)));
                }
            }
            true
        })?;
        if self.lines > before {
            self.files += 1;
            if self.names.len() < self.max_shown {
                self.names.push(path.to_owned());
            }
        }
        Ok(())
    }

    fn outcome(self, path: Option<&str>, skipped: Skipped, truncated: bool) -> Outcome {
        let Self {
            request,
            lines,
            times,
            files,
            ..
        } = self;
        let kind = request
            .filter
            .as_ref()
            .map_or_else(String::new, |filter| format!(" ({})", filter.name()));
        let place = format!("{}{kind}", place(path));
        let pattern = &request.pattern;
        let rest = skipped.sentence(truncated);
        let in_files = format!("in {}", counted(files, "file", "files"));
        let count = match request.what {
            SearchWhat::Lines | SearchWhat::CountLines => lines,
            SearchWhat::Files | SearchWhat::CountFiles => files,
            SearchWhat::CountTimes => times,
        };
        let mut pieces = Vec::new();
        match request.what {
            _ if lines == 0 => pieces.push(Piece::Prose(format!(
                "No line contains \"{pattern}\"{place}.{rest}"
            ))),
            SearchWhat::Lines => {
                let lines = counted(lines, "line contains", "lines contain");
                pieces.push(Piece::Prose(format!(
                    "{lines} \"{pattern}\"{place}, {in_files}:{rest}\n"
                )));
                for (path, number, line) in &self.shown {
                    pieces.push(Piece::Line(format!("{path}:{number}: {line}")));
                }
            }
            SearchWhat::Files => {
                let files = counted(files, "file contains", "files contain");
                pieces.push(Piece::Prose(format!(
                    "{files} \"{pattern}\"{place}:{rest}\n"
                )));
                pieces.extend(self.names.iter().cloned().map(Piece::Line));
            }
            SearchWhat::CountLines => {
                let lines = counted(lines, "line contains", "lines contain");
                pieces.push(Piece::Prose(format!(
                    "{lines} \"{pattern}\"{place}, {in_files}.{rest}"
                )));
            }
            SearchWhat::CountFiles => {
                let files = counted(files, "file contains", "files contain");
                pieces.push(Piece::Prose(format!("{files} \"{pattern}\"{place}.{rest}")));
            }
            SearchWhat::CountTimes => {
                let times = counted(times, "time", "times");
                pieces.push(Piece::Prose(format!(
                    "\"{pattern}\" occurs {times}{place}, {in_files}.{rest}"
                )));
            }
        }
        let cut = match request.what {
            SearchWhat::Lines => lines > self.shown.len() as u64,
            SearchWhat::Files => files > self.names.len() as u64,
            _ => false,
        };
        if cut {
            pieces.push(Piece::Prose(format!(
                "The first {} are shown.",
                self.max_shown
            )));
        }
        let hits: Vec<_> = match request.what {
            SearchWhat::Lines => self
                .shown
                .iter()
                .map(|(path, line, text)| json!({ "file": path, "line": line, "text": text }))
                .collect(),
            SearchWhat::Files => self
                .names
                .iter()
                .map(|name| json!({ "file": name }))
                .collect(),
            _ => Vec::new(),
        };
        let data = json!({
            "pattern": pattern,
            "path": path.unwrap_or("."),
            "lines": lines,
            "times": times,
            "files": files,
            "hits": hits,
            "skipped": skipped.data(),
            "truncated": truncated || cut,
        });
        let only = match (&self.names[..], path) {
            ([name], _) => Some(name.clone()),
            _ => None,
        };
        let mut outcome = Outcome::said("", data).with_count(count).with_path(only);
        outcome.pieces = pieces;
        outcome
    }
}

/// How often a pattern occurs, without overlaps.
fn occurrences(line: &[u8], pattern: &[u8]) -> u64 {
    let (mut at, mut times) = (0, 0);
    while at + pattern.len() <= line.len() {
        if line[at..].starts_with(pattern) {
            times += 1;
            at += pattern.len();
        } else {
            at += 1;
        }
    }
    times
}
