use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{
    Outcome, Piece, ToolError,
    outcome::{Skipped, accepts, counted, of, path_of, place},
};
use crate::desk::{
    files::{Counts, Entry, Place, Root},
    grammar::{Count, CountWhat, Metric},
    language::Language,
    workers::Stop,
};

/// Counts files, directories, lines, words, bytes.
pub(crate) fn count(root: &Root, request: &Count, stop: &Stop) -> Result<Outcome, ToolError> {
    let path = path_of(&request.subject);
    match (&request.what, root.place(path)?) {
        (CountWhat::Metrics(metrics), Place::File(file)) => {
            let bytes = file.bytes();
            let mut totals = Totals {
                files: 1,
                ..Totals::default()
            };
            totals.counts = file.counts(stop)?;
            totals.counts.bytes = bytes;
            Ok(plain(request, metrics, &totals, false))
        }
        (CountWhat::Metrics(metrics), Place::Directory(walk)) => {
            let reads = metrics.iter().any(|metric| metric.reads());
            let mut totals = Totals::default();
            let mut walk = walk;
            for entry in &mut walk {
                stop.check()?;
                if entry.is_dir {
                    totals.directories += 1;
                } else if accepts(request.filter.as_ref(), &entry) {
                    totals.add(root, &entry, reads, stop)?;
                }
            }
            Ok(plain(request, metrics, &totals, walk.is_truncated()))
        }
        (_, Place::File(_)) => Err(ToolError::NotADirectory(path.unwrap_or(".").to_owned())),
        (
            CountWhat::ByLanguage(metric) | CountWhat::ByExtension(metric),
            Place::Directory(walk),
        ) => {
            let by_language = matches!(request.what, CountWhat::ByLanguage(_));
            let mut rows: BTreeMap<String, Totals> = BTreeMap::new();
            let mut walk = walk;
            for entry in &mut walk {
                stop.check()?;
                if !entry.is_dir && accepts(request.filter.as_ref(), &entry) {
                    let row = rows.entry(row(&entry, by_language)).or_default();
                    row.add(root, &entry, metric.reads(), stop)?;
                }
            }
            Ok(table(request, *metric, rows, walk.is_truncated()))
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Totals {
    counts: Counts,
    files: u64,
    directories: u64,
    skipped: Skipped,
}

impl Totals {
    fn add(
        &mut self,
        root: &Root,
        entry: &Entry,
        reads: bool,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let Some(bytes) = entry.bytes() else {
            self.skipped.unreadable += 1;
            return Ok(());
        };
        self.files += 1;
        self.counts.bytes += bytes;
        if !reads {
            return Ok(());
        }
        let counted = entry.open(root.limits()).and_then(|file| file.counts(stop));
        stop.check()?;
        match counted {
            Ok(counts) => {
                self.counts.lines += counts.lines;
                self.counts.words += counts.words;
            }
            Err(error) => self.skipped.add(&error),
        }
        Ok(())
    }

    const fn of(&self, metric: Metric) -> u64 {
        match metric {
            Metric::Files => self.files,
            Metric::Directories => self.directories,
            Metric::Lines => self.counts.lines,
            Metric::Words => self.counts.words,
            Metric::Bytes => self.counts.bytes,
        }
    }
}

impl Metric {
    /// Whether the files have to be opened.
    pub(super) const fn reads(self) -> bool {
        matches!(self, Self::Lines | Self::Words)
    }

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Files => "files",
            Self::Directories => "directories",
            Self::Lines => "lines",
            Self::Words => "words",
            Self::Bytes => "bytes",
        }
    }

    pub(super) fn counted(self, count: u64) -> String {
        let (one, many) = match self {
            Self::Files => ("file", "files"),
            Self::Directories => ("directory", "directories"),
            Self::Lines => ("line", "lines"),
            Self::Words => ("word", "words"),
            Self::Bytes => ("byte", "bytes"),
        };
        counted(count, one, many)
    }
}

fn plain(request: &Count, metrics: &[Metric], totals: &Totals, truncated: bool) -> Outcome {
    let path = path_of(&request.subject);
    let parts: Vec<String> = metrics
        .iter()
        .map(|metric| metric.counted(totals.of(*metric)))
        .collect();
    let files = if metrics.contains(&Metric::Files) || metrics == [Metric::Directories] {
        String::new()
    } else {
        format!(" ({})", counted(totals.files, "file", "files"))
    };
    let sentence = format!(
        "I count {}{}{}{files}.{}",
        parts.join(", "),
        of(request.filter.as_ref()),
        place(path),
        totals.skipped.sentence(truncated),
    );
    let mut data = json!({
        "path": path.unwrap_or("."),
        "files": totals.files,
        "skipped": totals.skipped.data(),
        "truncated": truncated,
    });
    for metric in metrics {
        data[metric.name()] = totals.of(*metric).into();
    }
    if let Some(filter) = &request.filter {
        data["filter"] = filter.name().into();
    }
    let number = totals.of(*metrics.first().unwrap_or(&Metric::Files));
    Outcome::said(sentence, data)
        .with_count(number)
        .with_path(path.map(str::to_owned))
}

fn row(entry: &Entry, by_language: bool) -> String {
    let Some(extension) = entry.extension() else {
        return "other".to_owned();
    };
    if by_language {
        return Language::of_extension(extension)
            .map_or("other", |language| language.name)
            .to_owned();
    }
    crate::desk::files::shown(std::path::Path::new(extension))
}

fn table(
    request: &Count,
    metric: Metric,
    rows: BTreeMap<String, Totals>,
    truncated: bool,
) -> Outcome {
    let mut rows: Vec<(String, Totals)> = rows.into_iter().collect();
    rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.of(metric)));
    let path = path_of(&request.subject);
    let total: u64 = rows.iter().map(|(_, totals)| totals.of(metric)).sum();
    let files: u64 = rows.iter().map(|(_, totals)| totals.files).sum();
    let head = format!(
        "I count {}{} in {}:\n",
        metric.counted(total),
        place(path),
        counted(files, "file", "files")
    );
    let mut pieces = vec![Piece::Prose(head)];
    let mut data = Vec::new();
    for (name, totals) in &rows {
        pieces.push(Piece::Line(format!(
            "{name}: {}",
            metric.counted(totals.of(metric))
        )));
        data.push(json!({ "name": name, metric.name(): totals.of(metric), "files": totals.files }));
    }
    if truncated {
        pieces.push(Piece::Prose(
            "I stopped at a bound; there is more.".to_owned(),
        ));
    }
    let data = json!({
        "path": path.unwrap_or("."),
        "rows": Value::Array(data),
        metric.name(): total,
        "truncated": truncated,
    });
    let mut outcome = Outcome::said("", data)
        .with_count(total)
        .with_path(path.map(str::to_owned));
    outcome.pieces = pieces;
    outcome
}
