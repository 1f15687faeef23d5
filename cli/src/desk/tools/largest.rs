use serde_json::json;

use super::{
    Outcome, ToolError,
    outcome::{Skipped, accepts, path_of, place},
};
use crate::desk::{
    files::{Place, Root},
    grammar::{Largest, Metric, Rank},
    workers::Stop,
};

/// Finds the file with the most or the fewest lines, words or bytes. Of equal ones the
/// first in the order of names.
pub(crate) fn largest(root: &Root, request: &Largest, stop: &Stop) -> Result<Outcome, ToolError> {
    let path = path_of(&request.subject);
    let Place::Directory(mut walk) = root.place(path)? else {
        return Err(ToolError::NotADirectory(path.unwrap_or(".").to_owned()));
    };
    let mut skipped = Skipped::default();
    let mut best: Option<(u64, String)> = None;
    for entry in &mut walk {
        stop.check()?;
        if entry.is_dir || !accepts(request.filter.as_ref(), &entry) {
            continue;
        }
        let size = if request.metric.reads() {
            let counted = entry.open(root.limits()).and_then(|file| file.counts(stop));
            stop.check()?;
            match counted {
                Ok(counts) if request.metric == Metric::Lines => counts.lines,
                Ok(counts) => counts.words,
                Err(error) => {
                    skipped.add(&error);
                    continue;
                }
            }
        } else {
            match entry.bytes() {
                Some(bytes) => bytes,
                None => continue,
            }
        };
        let better = best.as_ref().is_none_or(|(best, _)| match request.rank {
            Rank::Most => size > *best,
            Rank::Least => size < *best,
        });
        if better {
            best = Some((size, entry.shown()));
        }
    }
    let (size, file) = best.ok_or(ToolError::NoFile)?;
    let truncated = walk.is_truncated();
    let rank = match request.rank {
        Rank::Most => "most",
        Rank::Least => "fewest",
    };
    let kind = request
        .filter
        .as_ref()
        .map_or_else(String::new, |filter| format!("{} ", filter.name()));
    let sentence = format!(
        "The {kind}file with the {rank} {}{} is {file}: {}.{}",
        request.metric.name(),
        place(path),
        request.metric.counted(size),
        skipped.sentence(truncated),
    );
    let data = json!({
        "file": file,
        request.metric.name(): size,
        "skipped": skipped.data(),
        "truncated": truncated,
    });
    Ok(Outcome::said(sentence, data)
        .with_count(size)
        .with_path(Some(file)))
}
