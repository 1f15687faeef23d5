use std::collections::VecDeque;

use serde_json::json;

use super::{
    Outcome, Piece, ToolError,
    outcome::{counted, shown_line},
};
use crate::desk::{files::Root, grammar::Span, workers::Stop};

/// Reads lines of a file.
pub(crate) fn read(root: &Root, path: &str, span: Span, stop: &Stop) -> Result<Outcome, ToolError> {
    let limits = root.limits();
    let (from, to) = match span {
        Span::All => (1, u64::MAX),
        Span::Lines(from, to) if from == 0 || to < from => return Err(ToolError::Span),
        Span::Lines(from, to) => (from, to),
        Span::First(0) | Span::Last(0) => return Err(ToolError::Span),
        Span::First(count) => (1, count),
        Span::Last(_) => (1, u64::MAX),
    };
    let keep = match span {
        Span::Last(count) => usize::try_from(count)
            .unwrap_or(usize::MAX)
            .min(limits.shown_lines),
        _ => limits.shown_lines,
    };
    let mut lines: VecDeque<(u64, String)> = VecDeque::new();
    let mut truncated = matches!(span, Span::Last(count) if count > keep as u64);
    let mut seen = 0;
    root.file(path)?.lines(stop, |number, line| {
        if number > to {
            return false;
        }
        seen = number;
        if number < from {
            return true;
        }
        if lines.len() == keep {
            if !matches!(span, Span::Last(_)) {
                truncated = true;
                return false;
            }
            lines.pop_front();
        }
        lines.push_back((number, shown_line(line, limits.shown_line_bytes)));
        true
    })?;
    let mut pieces = Vec::new();
    match (lines.front(), lines.back()) {
        (Some((first, _)), Some((last, _))) if first == last => {
            pieces.push(Piece::Prose(format!("{path}, line {first}:\n")));
        }
        (Some((first, _)), Some((last, _))) => {
            pieces.push(Piece::Prose(format!("{path}, lines {first} to {last}:\n")));
        }
        _ if seen == 0 => pieces.push(Piece::Prose(format!("{path} is empty."))),
        _ => {
            let seen = counted(seen, "line", "lines");
            pieces.push(Piece::Prose(format!(
                "{path} has no such line: it has {seen}."
            )));
        }
    }
    pieces.extend(lines.iter().map(|(_, line)| Piece::Line(line.clone())));
    if truncated {
        pieces.push(Piece::Prose(format!(
            "I show {keep} lines at once; there is more."
        )));
    }
    let data = json!({
        "path": path,
        "from": lines.front().map(|(number, _)| number),
        "to": lines.back().map(|(number, _)| number),
        "lines": lines.iter().map(|(_, line)| line).collect::<Vec<_>>(),
        "truncated": truncated,
    });
    let count = lines.len() as u64;
    let mut outcome = Outcome::said("", data)
        .with_count(count)
        .with_path(Some(path.to_owned()));
    outcome.pieces = pieces;
    Ok(outcome)
}
