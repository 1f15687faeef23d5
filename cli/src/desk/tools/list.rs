use serde_json::json;

use super::{
    Outcome, Piece, ToolError,
    outcome::{accepts, counted, place},
};
use crate::desk::{
    files::{Place, Root},
    language::Filter,
    workers::Stop,
};

/// Lists a directory; with a filter, all such files below it.
pub(crate) fn list(
    root: &Root,
    path: Option<&str>,
    filter: Option<&Filter>,
    stop: &Stop,
) -> Result<Outcome, ToolError> {
    let Place::Directory(mut walk) = root.place(path)? else {
        return Err(ToolError::NotADirectory(path.unwrap_or(".").to_owned()));
    };
    let mut names = Vec::new();
    let (mut files, mut directories) = (0, 0);
    let mut truncated = false;
    if filter.is_some() {
        for entry in &mut walk {
            stop.check()?;
            if !entry.is_dir && accepts(filter, &entry) {
                files += 1;
                names.push(entry.shown());
            }
        }
        truncated = walk.is_truncated();
    } else {
        for entry in walk.into_entries() {
            if entry.is_dir {
                directories += 1;
                names.push(format!("{}/", entry.shown()));
            } else {
                files += 1;
                names.push(entry.shown());
            }
        }
    }
    let shown = names.len().min(root.limits().shown_lines);
    let kind = filter.map_or_else(String::new, |filter| format!(" of {}", filter.name()));
    let mut head = counted(files, "file", "files");
    if filter.is_none() {
        head = format!(
            "{head} and {}",
            counted(directories, "directory", "directories")
        );
    }
    let mut pieces = vec![Piece::Prose(format!(
        "I see {head}{kind}{}:\n",
        place(path)
    ))];
    pieces.extend(names[..shown].iter().cloned().map(Piece::Line));
    if shown < names.len() || truncated {
        pieces.push(Piece::Prose(format!("The first {shown} are shown.")));
    }
    let data = json!({
        "path": path.unwrap_or("."),
        "files": files,
        "directories": directories,
        "entries": names[..shown],
        "truncated": truncated || shown < names.len(),
    });
    let mut outcome = Outcome::said("", data).with_count(files + directories);
    outcome.pieces = pieces;
    Ok(outcome)
}
