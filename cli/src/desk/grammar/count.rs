use super::{
    Count, CountWhat, Largest, Metric, Rank, Request,
    clause::{Word, text},
    phrase::{Scope, after},
};
use crate::desk::language::Filter;

/// What a question is about when it names nothing to count.
enum Default {
    /// Then it is no question.
    None,
    /// Then we ask.
    Ask,
    Metrics(&'static [Metric]),
}

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    largest(words)
        .or_else(|| languages(words))
        .or_else(|| count(words))
}

fn count(words: &[Word]) -> Option<Request> {
    use Metric::{Bytes, Lines, Words};
    let beginnings: &[(&[&[&str]], Default)] = &[
        (
            &[
                &["how", "many"],
                &["number", "of"],
                &["the", "number", "of"],
                &["what", "is", "the", "number", "of"],
                &["what", "is", "the", "total", "number", "of"],
                &["the", "total", "number", "of"],
                &["total", "number", "of"],
                &["total"],
                &["what", "is", "the", "total"],
            ],
            Default::None,
        ),
        (
            &[&["count"], &["count", "up"], &["add", "up"]],
            Default::Ask,
        ),
        (&[&["wc"]], Default::Metrics(&[Lines, Words, Bytes])),
        (
            &[&["how", "long", "is"], &["how", "long", "are"]],
            Default::Metrics(&[Lines]),
        ),
        (&[&["how", "much", "code"]], Default::Metrics(&[Lines])),
        (
            &[
                &["how", "big", "is"],
                &["how", "big", "are"],
                &["how", "large", "is"],
                &["how", "large", "are"],
                &["size", "of"],
                &["the", "size", "of"],
                &["what", "is", "the", "size", "of"],
            ],
            Default::Metrics(&[Bytes]),
        ),
    ];
    for (beginnings, default) in beginnings {
        if let Some(rest) = after(words, beginnings) {
            let mut bag = Bag::read(rest)?;
            if words.first().is_some_and(|word| word.is("how"))
                && words.get(1).is_some_and(|w| w.is("much"))
            {
                bag.scope.set_filter(Filter::Code);
            }
            return bag.request(default, words);
        }
    }
    // "line count of src", "what is the word count of README.md", "lines of code".
    let rest = after(words, &[&["what", "is", "the"], &["the"]]).unwrap_or(words);
    if let [metric, count, rest @ ..] = rest
        && count.is_any(&["count", "counts"])
        && let Some(metric) = self::metric(metric)
    {
        let mut bag = Bag::read(rest)?;
        bag.metrics.push(metric);
        return bag.request(&Default::None, words);
    }
    // "lines of Rust in src", said without a verb.
    if rest.len() > 1 && metric(&rest[0]).is_some() && rest[1].is_any(&["of", "in", "by", "per"]) {
        return Bag::read(rest)?.request(&Default::None, words);
    }
    None
}

fn languages(words: &[Word]) -> Option<Request> {
    let rest = after(
        words,
        &[
            &["which", "languages"],
            &["what", "languages"],
            &["which", "programming", "languages"],
            &["what", "programming", "languages"],
            &["languages"],
            &["list", "the", "languages"],
            &["list", "languages"],
        ],
    )?;
    let bag = Bag::read(rest)?;
    if !bag.metrics.is_empty() || bag.table.is_some() {
        return None;
    }
    Some(Request::Count(Count {
        what: CountWhat::ByLanguage(Metric::Lines),
        subject: bag.scope.subject.unwrap_or_default(),
        filter: bag.scope.filter,
    }))
}

fn largest(words: &[Word]) -> Option<Request> {
    let rest = after(
        words,
        &[
            &["what", "is"],
            &["which", "is"],
            &["what"],
            &["which"],
            &["show"],
            &["find"],
        ],
    )
    .unwrap_or(words);
    let mut scope = Scope::default();
    let (mut rank, mut metric, mut file) = (None, None, false);
    let mut rest = rest;
    while let Some(word) = rest.first() {
        let taken = match word.lower.as_str() {
            _ if word.quoted => scope.take(rest)?,
            "file" => {
                file = true;
                1
            }
            "the" | "is" | "has" | "contains" | "by" | "me"
                if !rest.get(1).is_some_and(|next| {
                    next.is_any(&["directory", "folder", "project", "repo", "repository"])
                }) =>
            {
                1
            }
            "largest" | "biggest" => {
                rank = Some(Rank::Most);
                metric = metric.or(Some(Metric::Bytes));
                1
            }
            "smallest" => {
                rank = Some(Rank::Least);
                metric = metric.or(Some(Metric::Bytes));
                1
            }
            "longest" => {
                rank = Some(Rank::Most);
                metric = metric.or(Some(Metric::Lines));
                1
            }
            "shortest" => {
                rank = Some(Rank::Least);
                metric = metric.or(Some(Metric::Lines));
                1
            }
            "most" => {
                rank = Some(Rank::Most);
                1
            }
            "fewest" | "least" => {
                rank = Some(Rank::Least);
                1
            }
            "lines" | "words" | "bytes" if rank.is_some() => {
                metric = self::metric(word);
                1
            }
            _ => scope.take(rest)?,
        };
        rest = &rest[taken..];
    }
    Some(Request::Largest(Largest {
        rank: rank.filter(|_| file)?,
        metric: metric?,
        subject: scope.subject.unwrap_or_default(),
        filter: scope.filter,
    }))
}

/// What a question about numbers says, in any order.
#[derive(Default)]
struct Bag {
    scope: Scope,
    metrics: Vec<Metric>,
    table: Option<fn(Metric) -> CountWhat>,
}

/// Words that say nothing.
const FILLERS: &[&str] = &[
    "of",
    "the",
    "a",
    "are",
    "is",
    "there",
    "do",
    "does",
    "have",
    "has",
    "contain",
    "contains",
    "you",
    "we",
    "i",
    "see",
    "total",
    "altogether",
    "overall",
    "together",
    "written",
    "exist",
    "and",
    "all",
    "text",
    "up",
    "got",
    "used",
    "hold",
    "holds",
    "in",
];

impl Bag {
    fn read(mut words: &[Word]) -> Option<Self> {
        let mut bag = Self::default();
        let mut after_filter = false;
        while let Some(word) = words.first() {
            let filtered = bag.scope.filter.clone();
            let taken = if let Some(table) = table(words) {
                bag.table = Some(table);
                2
            } else if let Some(metric) = metric(word) {
                // "lines in Rust files" asks for lines.
                let noun = metric == Metric::Files && after_filter && !bag.metrics.is_empty();
                if !noun && !bag.metrics.contains(&metric) {
                    bag.metrics.push(metric);
                }
                1
            } else if let Some(taken) = bag.scope.take(words) {
                taken
            } else if word.is_any(FILLERS) {
                1
            } else {
                return None;
            };
            after_filter = bag.scope.filter != filtered;
            words = &words[taken..];
        }
        Some(bag)
    }

    fn request(mut self, default: &Default, words: &[Word]) -> Option<Request> {
        if self.metrics.is_empty() {
            match default {
                Default::None if self.table.is_none() => return None,
                Default::Ask if self.table.is_none() => {
                    return Some(Request::Missing {
                        question: "What shall I count: lines, words, bytes, files or directories?"
                            .to_owned(),
                        prefix: text(words),
                    });
                }
                Default::Metrics(metrics) => self.metrics.extend_from_slice(metrics),
                Default::None | Default::Ask => self.metrics.push(Metric::Lines),
            }
        }
        self.metrics.sort_unstable();
        let what = match self.table {
            Some(table) if self.metrics.len() == 1 => table(self.metrics[0]),
            Some(_) => return None,
            None => CountWhat::Metrics(self.metrics),
        };
        Some(Request::Count(Count {
            what,
            subject: self.scope.subject.unwrap_or_default(),
            filter: self.scope.filter,
        }))
    }
}

fn table(words: &[Word]) -> Option<fn(Metric) -> CountWhat> {
    let [by, what, ..] = words else { return None };
    if !by.is_any(&["by", "per", "each"]) {
        return None;
    }
    if what.is_any(&["language", "languages"]) {
        Some(CountWhat::ByLanguage)
    } else if what.is_any(&["extension", "extensions", "type", "kind"]) {
        Some(CountWhat::ByExtension)
    } else {
        None
    }
}

fn metric(word: &Word) -> Option<Metric> {
    let metric = match word.lower.as_str() {
        _ if word.quoted => return None,
        "line" | "lines" | "loc" => Metric::Lines,
        "word" | "words" => Metric::Words,
        "byte" | "bytes" => Metric::Bytes,
        "file" | "files" => Metric::Files,
        "directories" | "folders" | "dirs" | "subdirectories" | "subfolders" => Metric::Directories,
        _ => return None,
    };
    Some(metric)
}
