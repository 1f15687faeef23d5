use super::{
    Subject,
    clause::{Word, lower},
};
use crate::desk::language::{Filter, Language};

/// What a few words say about where to look and at which files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Scope {
    pub(super) subject: Option<Subject>,
    pub(super) filter: Option<Filter>,
}

const PREPOSITIONS: &[&str] = &[
    "in", "under", "inside", "within", "of", "from", "below", "at", "across", "through", "for",
];
const ARTICLES: &[&str] = &[
    "the", "this", "that", "your", "my", "our", "whole", "entire", "current", "all", "every", "a",
];
const ROOTS: &[&str] = &[
    "directory",
    "folder",
    "project",
    "repo",
    "repository",
    "tree",
    "checkout",
    "codebase",
    "workspace",
    "dir",
    "root",
];

impl Scope {
    /// Takes a phrase such as "in the src directory", "of Rust", "*.toml" or "here" off
    /// the front, and says how many words that took.
    pub(super) fn take(&mut self, words: &[Word]) -> Option<usize> {
        let first = words.first()?;
        if first.is_any(&["here", "everywhere"]) {
            return self.set_subject(Subject::Everything).then_some(1);
        }
        let after_preposition = usize::from(first.is_any(PREPOSITIONS));
        let mut at = after_preposition;
        while words.get(at).is_some_and(|word| word.is_any(ARTICLES)) {
            at += 1;
        }
        let article = at > after_preposition;
        let word = words.get(at)?;
        let next = words.get(at + 1);
        if word.is_any(ROOTS) {
            // "the directory src" names one.
            if let Some(path) = next.filter(|next| path_like(next)) {
                return self.set_path(path).then_some(at + 2);
            }
            let named = article || after_preposition == 1;
            return (named && self.set_subject(Subject::Everything)).then_some(at + 1);
        }
        if after_preposition == 1 && word.is_any(&["here", "everything", "everywhere"]) {
            return self.set_subject(Subject::Everything).then_some(at + 1);
        }
        // "in it", "of that file", "it".
        let that = words[..at].last().is_some_and(|word| word.is("that"));
        if word.is("it") || (that && word.is("file")) {
            return self.set_subject(Subject::That).then_some(at + 1);
        }
        if word.is("file") && next.is_some_and(path_like) {
            return self.set_path(&words[at + 1]).then_some(at + 2);
        }
        if let Some(filter) = filter(word) {
            let more = next.is_some_and(|next| next.is_any(&["code", "source", "sources"]));
            return self
                .set_filter(filter)
                .then_some(at + 1 + usize::from(more));
        }
        // "src" alone is any word; after a preposition it is a path.
        let placed =
            after_preposition == 1 && !first.is_any(&["of", "for"]) && !word.is_any(NO_PATHS);
        if path_like(word) || placed {
            let more = next.is_some_and(|next| next.is_any(&["directory", "folder", "dir"]));
            return self.set_path(word).then_some(at + 1 + usize::from(more));
        }
        None
    }

    /// Reads words that say nothing but where.
    pub(super) fn all(mut words: &[Word]) -> Option<Self> {
        let mut scope = Self::default();
        while !words.is_empty() {
            let taken = scope.take(words).or_else(|| {
                words[0]
                    .is_any(&["files", "file", "please", "and", "directories"])
                    .then_some(1)
            })?;
            words = &words[taken..];
        }
        Some(scope)
    }

    fn set_path(&mut self, word: &Word) -> bool {
        let path = word.text.trim_end_matches('/');
        let subject = match path {
            "" if word.text.starts_with('/') => Subject::Path("/".to_owned()),
            "." | "" => Subject::Everything,
            path => Subject::Path(path.to_owned()),
        };
        self.set_subject(subject)
    }

    fn set_subject(&mut self, subject: Subject) -> bool {
        // Two places in one question are one too many.
        let free = self.subject.is_none();
        self.subject = Some(subject);
        free
    }

    pub(super) fn set_filter(&mut self, filter: Filter) -> bool {
        let free =
            matches!(self.filter, None | Some(Filter::Code)) || self.filter == Some(filter.clone());
        self.filter = Some(filter);
        free
    }
}

/// Words that a preposition may stand before and that name no path.
const NO_PATHS: &[&str] = &[
    "total", "all", "lines", "words", "files", "bytes", "which", "what", "how", "hex",
];

/// A language, or an extension such as `.rs` or `*.rs`.
pub(super) fn filter(word: &Word) -> Option<Filter> {
    if word.quoted {
        return None;
    }
    if word.is("code") || word.is("source") {
        return Some(Filter::Code);
    }
    let extension = word
        .lower
        .strip_prefix("*.")
        .or_else(|| word.lower.strip_prefix('.'));
    if let Some(extension) = extension
        && !extension.is_empty()
        && extension.bytes().all(|byte| byte.is_ascii_alphanumeric())
    {
        // `.git` is a name, `.rs` is an extension.
        let known = Language::of_extension(extension.as_ref()).is_some();
        return (known || word.text.starts_with('*'))
            .then(|| Filter::Extension(extension.to_owned()));
    }
    Language::named(&word.lower).map(Filter::Language)
}

/// Whether a word can only be a path: quoted, or with a slash or a dot in it.
pub(super) fn path_like(word: &Word) -> bool {
    if word.quoted {
        return true;
    }
    let text = word.text.as_str();
    if text.starts_with("*.") || text.contains(['(', ')', '*', '+', '=']) {
        return false;
    }
    let letters = text.contains(|c: char| c.is_alphabetic()) || matches!(text, "." | ".." | "/");
    letters && (text.contains('/') || text.contains('.'))
}

/// Whether the words are these.
pub(super) fn are(words: &[Word], expected: &[&str]) -> bool {
    lower(words) == expected
}

/// Takes the first of some beginnings off.
pub(super) fn after<'a>(words: &'a [Word], beginnings: &[&[&str]]) -> Option<&'a [Word]> {
    let lower = lower(words);
    beginnings
        .iter()
        .filter(|beginning| lower.starts_with(beginning))
        .max_by_key(|beginning| beginning.len())
        .map(|beginning| &words[beginning.len()..])
}

/// A small number, in digits.
pub(super) fn number(word: &Word) -> Option<u64> {
    if word.quoted {
        None
    } else {
        word.text.parse().ok()
    }
}
