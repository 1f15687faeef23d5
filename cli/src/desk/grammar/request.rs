use std::{error::Error, fmt, time::Duration};

use crate::desk::{
    calc::{CalcError, Expr},
    calendar::Question,
    language::Filter,
    units::Unit,
};

/// One thing that a prompt asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Request {
    /// Who are you, what can you do.
    Help,
    Count(Count),
    Largest(Largest),
    Search(Search),
    Read(Read),
    /// What is in a directory; or a file, where the prompt does not say.
    List {
        path: Option<String>,
        filter: Option<Filter>,
    },
    Scan(Scan),
    Sum {
        expr: Expr,
        base: u32,
    },
    Convert {
        value: Expr,
        from: Option<&'static Unit>,
        to: &'static Unit,
    },
    Date(Question),
    /// Something is missing. The next prompt of the session is put behind `prefix`.
    Missing {
        question: String,
        prefix: String,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) what: CountWhat,
    pub(crate) subject: Subject,
    pub(crate) filter: Option<Filter>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CountWhat {
    Metrics(Vec<Metric>),
    /// A table by language.
    ByLanguage(Metric),
    /// A table by extension.
    ByExtension(Metric),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Metric {
    Files,
    Directories,
    Lines,
    Words,
    Bytes,
}

/// Where to look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Subject {
    /// The whole directory.
    #[default]
    Everything,
    Path(String),
    /// "it": the file of the last answer.
    That,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Largest {
    pub(crate) rank: Rank,
    pub(crate) metric: Metric,
    pub(crate) subject: Subject,
    pub(crate) filter: Option<Filter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rank {
    Most,
    Least,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) pattern: String,
    pub(crate) what: SearchWhat,
    pub(crate) any_case: bool,
    pub(crate) subject: Subject,
    pub(crate) filter: Option<Filter>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SearchWhat {
    /// Show the lines.
    Lines,
    /// Name the files.
    Files,
    CountLines,
    CountFiles,
    /// How often, several times a line too.
    CountTimes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Read {
    pub(crate) subject: Subject,
    pub(crate) span: Span,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Span {
    #[default]
    All,
    /// From the first to the second line, both included.
    Lines(u64, u64),
    First(u64),
    Last(u64),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scan {
    pub(crate) subject: Subject,
    pub(crate) filter: Option<Filter>,
    pub(crate) first: Option<usize>,
    /// How long to rest before each file, where the prompt says.
    pub(crate) pause: Option<Duration>,
}

/// Why a prompt is refused.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum NotUnderstood {
    Empty,
    TooLong,
    TooManyClauses,
    Clause(String),
    Sum(String, CalcError),
}

impl fmt::Display for NotUnderstood {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("the prompt is empty"),
            Self::TooLong => f.write_str("the prompt is too long"),
            Self::TooManyClauses => f.write_str("the prompt asks too many things at once"),
            Self::Clause(clause) => write!(f, "I do not understand \"{clause}\""),
            Self::Sum(clause, error) => write!(f, "I cannot read the sum \"{clause}\": {error}"),
        }
    }
}

impl Error for NotUnderstood {}
