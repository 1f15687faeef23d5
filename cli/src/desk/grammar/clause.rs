use super::{NotUnderstood, Request, convert, count, date, list, read, scan, search, sum};

const MAX_BYTES: usize = 4_000;
const MAX_CLAUSES: usize = 8;

/// A word of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Word {
    /// As written, without quotes and without the mark that ends a clause.
    pub(super) text: String,
    pub(super) lower: String,
    pub(super) quoted: bool,
    /// The mark that came after it.
    stop: Option<char>,
}

/// Reads a whole prompt. `pending` is what an earlier question of ours left open.
pub(crate) fn parse(text: &str, pending: Option<&str>) -> Result<Vec<Request>, NotUnderstood> {
    if text.len() > MAX_BYTES {
        return Err(NotUnderstood::TooLong);
    }
    let words = words(text);
    if words.is_empty() {
        return Err(NotUnderstood::Empty);
    }
    let parsed = requests(&words);
    match (pending, parsed) {
        // An answer to our question. A prompt that makes sense alone is a new one.
        (Some(prefix), Err(error)) => {
            requests(&self::words(&format!("{prefix} {text}"))).map_err(|_| error)
        }
        (_, parsed) => parsed,
    }
}

fn requests(words: &[Word]) -> Result<Vec<Request>, NotUnderstood> {
    let clauses = clauses(words);
    if clauses.len() > MAX_CLAUSES {
        return Err(NotUnderstood::TooManyClauses);
    }
    let mut requests = Vec::with_capacity(clauses.len());
    let all = clauses.len();
    for clause in clauses {
        let clause = strip(&clause);
        // "Hello." before a question asks nothing.
        if all > 1 && (clause.is_empty() || greets(clause)) {
            continue;
        }
        requests.push(request(clause)?);
    }
    if requests.is_empty() {
        requests.push(Request::Help);
    }
    Ok(requests)
}

fn request(clause: &[Word]) -> Result<Request, NotUnderstood> {
    if greets(clause) || asks_who(clause) {
        return Ok(Request::Help);
    }
    let found = date::parse(clause)
        .or_else(|| convert::parse(clause))
        .or_else(|| search::parse(clause))
        .or_else(|| count::parse(clause))
        .or_else(|| scan::parse(clause))
        .or_else(|| read::parse(clause))
        .or_else(|| list::parse(clause));
    match found {
        Some(request) => Ok(request),
        None => sum::parse(clause),
    }
}

fn greets(clause: &[Word]) -> bool {
    matches!(
        lower(clause).as_slice(),
        ["hello" | "hi" | "hey" | "thanks"]
            | ["hello" | "hi" | "hey", "desk" | "there"]
            | ["good", "morning" | "afternoon" | "evening"]
            | ["thank", "you"]
    )
}

fn asks_who(clause: &[Word]) -> bool {
    match lower(clause).as_slice() {
        ["help"] | ["?"] | ["help", "me"] => true,
        ["who" | "what", "are", "you"] | ["what", "is", "desk"] | ["who", "is", "this"] => true,
        [
            "what",
            "can" | "do",
            "you",
            "do" | "understand" | "know" | "answer",
        ] => true,
        ["what", "can", "i", "ask"] | ["what", "can", "i", "ask", "you"] => true,
        [
            "what",
            "questions",
            "do" | "can",
            "you",
            "understand" | "answer",
        ] => true,
        ["how", "do", "you", "work"] | ["what", "model", "are", "you"] => true,
        ["which", "model", "are", "you"] | ["which" | "what", "model", "is", "this"] => true,
        ["are", "you", "a" | "an", thing] | ["are", "you", "really", "a" | "an", thing] => [
            "model", "llm", "ai", "human", "bot", "robot", "chatbot", "person",
        ]
        .contains(thing),
        ["are", "you", "a", "language", "model"] | ["are", "you", "a", "real", "model"] => true,
        _ => false,
    }
}

/// The words in lower case; a quoted word matches nothing.
pub(super) fn lower(words: &[Word]) -> Vec<&str> {
    words
        .iter()
        .map(|word| {
            if word.quoted {
                "\""
            } else {
                word.lower.as_str()
            }
        })
        .collect()
}

/// The words as written.
pub(super) fn text(words: &[Word]) -> String {
    let words: Vec<_> = words.iter().map(|word| word.text.as_str()).collect();
    words.join(" ")
}

/// Takes politeness off both ends.
fn strip(mut words: &[Word]) -> &[Word] {
    const BEFORE: &[&[&str]] = &[
        &["please"],
        &["can", "you", "tell"],
        &["can", "you"],
        &["could", "you"],
        &["would", "you"],
        &["will", "you"],
        &["do", "you", "know"],
        &["i", "want", "to", "know"],
        &["i", "would", "like", "to", "know"],
        &["i'd", "like", "to", "know"],
        &["let", "me", "know"],
        &["let", "us", "know"],
        &["tell", "me"],
        &["tell", "us"],
        &["give", "me"],
        &["go", "and"],
        &["and"],
        &["also"],
        &["then"],
        &["now"],
        &["next"],
        &["so"],
        &["ok"],
        &["okay"],
        &["hey"],
        &["well"],
        &["just"],
        &["quickly"],
        &["kindly"],
        &["desk"],
    ];
    const AFTER: &[&[&str]] = &[
        &["please"],
        &["thanks"],
        &["thank", "you"],
        &["for", "me"],
        &["right", "now"],
        &["again"],
    ];
    loop {
        let lower = lower(words);
        if let Some(prefix) = BEFORE.iter().find(|prefix| lower.starts_with(prefix))
            && prefix.len() < words.len()
        {
            words = &words[prefix.len()..];
        } else if let Some(suffix) = AFTER.iter().find(|suffix| lower.ends_with(suffix))
            && suffix.len() < words.len()
        {
            words = &words[..words.len() - suffix.len()];
        } else {
            return words;
        }
    }
}

fn clauses(words: &[Word]) -> Vec<Vec<Word>> {
    let mut clauses = vec![Vec::new()];
    for at in 0..words.len() {
        let next = &words[at + 1..];
        let word = words[at].clone();
        let ends = match word.stop {
            Some(',') => next.first().is_some_and(joins) || next.first().is_some_and(starts),
            Some(_) => true,
            None => match next {
                [and, then, ..] if and.is("and") => {
                    then.is("then") || then.is("also") || starts(then)
                }
                [then, ..] => then.is("then"),
                [] => false,
            },
        };
        clauses.last_mut().expect("never empty").push(word);
        if ends && !next.is_empty() {
            clauses.push(Vec::new());
        }
    }
    clauses
}

fn joins(word: &Word) -> bool {
    word.is("and") || word.is("then")
}

/// Whether a word begins a clause after "and".
fn starts(word: &Word) -> bool {
    const STARTERS: &[&str] = &[
        "what",
        "what's",
        "which",
        "where",
        "when",
        "how",
        "who",
        "is",
        "does",
        "find",
        "search",
        "grep",
        "look",
        "list",
        "ls",
        "count",
        "read",
        "show",
        "print",
        "cat",
        "open",
        "scan",
        "convert",
        "calculate",
        "compute",
        "evaluate",
        "tell",
        "give",
        "please",
        "that",
        "in",
        "as",
        "times",
        "plus",
        "minus",
        "divided",
        "multiplied",
        "multiply",
        "divide",
        "add",
        "subtract",
        "double",
        "halve",
        "half",
        "twice",
        "square",
    ];
    !word.quoted && STARTERS.contains(&word.lower.as_str())
}

impl Word {
    pub(super) fn is(&self, text: &str) -> bool {
        !self.quoted && self.lower == text
    }

    pub(super) fn is_any(&self, texts: &[&str]) -> bool {
        !self.quoted && texts.contains(&self.lower.as_str())
    }
}

/// Cuts a prompt into words. What stands in quotes is one word, marks and all.
fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if let Some(close) = closing(first)
            && let Some(end) = rest[first.len_utf8()..].find(close)
            && end > 0
        {
            let start = first.len_utf8();
            words.push(Word::new(&rest[start..start + end], true));
            rest = &rest[start + end + close.len_utf8()..];
            // A mark right after the quote ends a clause too.
            let marks = rest.find(|c: char| !is_mark(c)).unwrap_or(rest.len());
            if let Some(mark) = rest[..marks].chars().next() {
                words.last_mut().expect("pushed above").stop = Some(mark);
            }
            rest = rest[marks..].trim_start();
            continue;
        }
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let newline = rest[end..]
            .chars()
            .take_while(|c| c.is_whitespace())
            .any(|c| c == '\n');
        let mut word = &rest[..end];
        let mut stop = newline.then_some(';');
        // A lone dot or question mark is a word of its own.
        while word.chars().nth(1).is_some() && !matches!(word, ".." | "./" | "../") {
            let last = word.chars().next_back().expect("not empty");
            let before = word[..word.len() - last.len_utf8()].chars().next_back();
            let factorial = last == '!' && before.is_some_and(|c| c.is_ascii_digit() || c == ')');
            if !is_mark(last) || factorial {
                break;
            }
            stop = Some(if newline { ';' } else { last });
            word = &word[..word.len() - last.len_utf8()];
        }
        let mark_alone = word.chars().all(is_mark) && !matches!(word, "." | ".." | "!");
        match words.last_mut() {
            // "in src ?" with a space before the mark.
            Some(last) if mark_alone => last.stop = word.chars().next(),
            _ => {
                let (word, expanded) = expand(word);
                words.push(Word::new(word, false));
                words.extend(expanded.map(|word| Word::new(word, false)));
                words.last_mut().expect("pushed above").stop = stop;
            }
        }
        rest = rest[end..].trim_start();
    }
    words
}

impl Word {
    fn new(text: &str, quoted: bool) -> Self {
        Self {
            text: text.to_owned(),
            lower: text.to_lowercase(),
            quoted,
            stop: None,
        }
    }
}

/// Takes "what's" apart.
fn expand(word: &str) -> (&str, Option<&'static str>) {
    let end = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix("\u{2019}s"));
    match end {
        Some(start)
            if ["what", "where", "who", "how", "that", "there", "it"]
                .iter()
                .any(|known| start.eq_ignore_ascii_case(known)) =>
        {
            (start, Some("is"))
        }
        _ if word.eq_ignore_ascii_case("whats") => (&word[..4], Some("is")),
        _ => (word, None),
    }
}

fn is_mark(c: char) -> bool {
    matches!(c, '?' | '.' | ',' | ';' | '!' | ':')
}

fn closing(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\'' => Some('\''),
        '`' => Some('`'),
        '\u{201c}' => Some('\u{201d}'),
        '\u{2018}' => Some('\u{2019}'),
        _ => None,
    }
}

impl Word {
    /// The word "in", to be put before a path that stands alone.
    pub(super) fn preposition() -> Self {
        Self::new("in", false)
    }
}
