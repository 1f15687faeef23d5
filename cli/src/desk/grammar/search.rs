use super::{
    Request, Search, SearchWhat,
    clause::{Word, lower, text},
    phrase::{Scope, after},
};

/// Unquoted, longer ones are more likely prose than a pattern.
const MAX_PATTERN_WORDS: usize = 4;

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    let (words, any_case) = case(words);
    if let Some(rest) = after(
        words,
        &[
            &["find"],
            &["search"],
            &["search", "for"],
            &["grep"],
            &["look", "for"],
            &["locate"],
            &["look", "up"],
            &["search", "through"],
        ],
    ) {
        return verb(words, rest, any_case);
    }
    counted(words, any_case).or_else(|| asked(words, any_case))
}

/// "find TODO in src", "search src for TODO", "grep TODO src".
fn verb(words: &[Word], rest: &[Word], any_case: bool) -> Option<Request> {
    let is_grep = words[0].is("grep");
    // "find all Rust files" is a list, "find the largest file" a ranking.
    if !is_grep && lists(rest) {
        return None;
    }
    if words[0].is("search")
        && let Some(at) = rest.iter().position(|word| word.is("for"))
        && at > 0
    {
        let place = after(rest, &[&["in"], &["through"]]).map_or(rest, |_| rest);
        let mut scope = Scope::default();
        let before = &place[..at];
        let whole = match before {
            // "search src for x": a bare word here is a path.
            [path] => scope_of_path(path, &mut scope),
            _ => Scope::all(before).map(|found| scope = found).is_some(),
        };
        if !whole {
            return None;
        }
        return finish(
            words,
            pattern(&rest[at + 1..])?,
            scope,
            SearchWhat::Lines,
            any_case,
        );
    }
    let rest = rest_without_nouns(rest);
    if is_grep
        && let [pattern, path] = rest
        && !path.is_any(&["in"])
    {
        let mut scope = Scope::default();
        scope_of_path(path, &mut scope);
        return finish(
            words,
            std::slice::from_ref(pattern),
            scope,
            SearchWhat::Lines,
            any_case,
        );
    }
    let (found, scope) = split(rest);
    finish(words, pattern(found)?, scope, SearchWhat::Lines, any_case)
}

/// "how many files contain TODO", "how many times does TODO occur in src".
fn counted(words: &[Word], any_case: bool) -> Option<Request> {
    const HOLD: &[&str] = &[
        "contain",
        "contains",
        "mention",
        "mentions",
        "with",
        "have",
        "include",
        "containing",
        "mentioning",
    ];
    const OCCUR: &[&str] = &[
        "occur",
        "occurs",
        "appear",
        "appears",
        "come",
        "used",
        "mentioned",
        "occurring",
        "appearing",
    ];
    if let Some(rest) = after(words, &[&["how", "many", "times"], &["how", "often"]]) {
        let rest = after(rest, &[&["does"], &["do"], &["is"], &["are"], &["did"]])?;
        let (rest, scope) = split(rest_without_nouns(rest));
        let rest = match rest {
            [pattern @ .., come, up] if come.is("come") && up.is("up") => pattern,
            [pattern @ .., occur] if occur.is_any(OCCUR) => pattern,
            _ => return None,
        };
        return finish(
            words,
            pattern(rest)?,
            scope,
            SearchWhat::CountTimes,
            any_case,
        );
    }
    let rest = after(
        words,
        &[
            &["how", "many"],
            &["count", "the"],
            &["count"],
            &["number", "of"],
            &["what", "is", "the", "number", "of"],
        ],
    )?;
    let mut scope = Scope::default();
    let mut what = None;
    let mut at = 0;
    while let Some(word) = rest.get(at) {
        if word.is_any(&["lines", "line"]) {
            what = Some(SearchWhat::CountLines);
            at += 1;
        } else if word.is_any(&["files", "file"]) {
            what = Some(SearchWhat::CountFiles);
            at += 1;
        } else if word.is_any(&["occurrences", "mentions", "matches", "uses", "instances"]) {
            what = Some(SearchWhat::CountTimes);
            at += 1 + usize::from(
                rest.get(at + 1)
                    .is_some_and(|word| word.is_any(&["of", "for"])),
            );
            break;
        } else if word.is_any(HOLD) && what.is_some() {
            at += 1;
            break;
        } else if word.is("that") && rest.get(at + 1).is_some_and(|word| word.is_any(HOLD)) {
            at += 1;
        } else {
            at += scope.take(&rest[at..])?;
        }
    }
    let what = what?;
    let rest = &rest[at..];
    if rest.is_empty() {
        return None;
    }
    let rest = match rest {
        // "occurrences of TODO are there in src"
        [rest @ .., are, there] if are.is("are") && there.is("there") => rest,
        _ => rest,
    };
    let (found, place) = split(rest_without_nouns(rest));
    let found = match found {
        [found @ .., are, there] if are.is("are") && there.is("there") => found,
        _ => found,
    };
    // "how many lines have 3 files" is nothing that we know.
    if what == SearchWhat::CountLines
        && found
            .iter()
            .all(|word| word.is_any(&["files", "lines", "words"]))
    {
        return None;
    }
    let scope = Scope {
        subject: place.subject.or(scope.subject),
        filter: place.filter.or(scope.filter),
    };
    finish(words, pattern(found)?, scope, what, any_case)
}

/// "which files mention TODO", "where is foo used", "does README.md mention tower".
fn asked(words: &[Word], any_case: bool) -> Option<Request> {
    if let Some(rest) = after(
        words,
        &[
            &["which"],
            &["what"],
            &["list"],
            &["list", "the"],
            &["show"],
            &["show", "me"],
            &["show", "the"],
            &["show", "all"],
            &["list", "all"],
        ],
    ) {
        let at = rest
            .iter()
            .position(|word| word.is_any(&["files", "file", "lines", "line"]))?;
        let mut scope = match at {
            0 => Scope::default(),
            _ => Scope::all(&rest[..at])?,
        };
        let what = if rest[at].lower.starts_with("file") {
            SearchWhat::Files
        } else {
            SearchWhat::Lines
        };
        let mut rest = &rest[at + 1..];
        while let Some(taken) = scope.take(rest) {
            rest = &rest[taken..];
        }
        let rest = after(
            rest,
            &[
                &["contain"],
                &["contains"],
                &["mention"],
                &["mentions"],
                &["containing"],
                &["mentioning"],
                &["with"],
                &["that", "contain"],
                &["that", "mention"],
                &["that", "contains"],
                &["include"],
                &["that", "mentions"],
                &["use"],
                &["that", "use"],
                &["matching"],
                &["match"],
            ],
        )?;
        let (found, place) = split(rest_without_nouns(rest));
        let scope = Scope {
            subject: place.subject.or(scope.subject),
            filter: place.filter.or(scope.filter),
        };
        return finish(words, pattern(found)?, scope, what, any_case);
    }
    if let Some(rest) = after(
        words,
        &[
            &["where", "is"],
            &["where", "are"],
            &["where", "does"],
            &["where", "do"],
        ],
    ) {
        let (rest, scope) = split(rest_without_nouns(rest));
        let (last, found) = rest.split_last()?;
        let verbs = [
            "used",
            "defined",
            "mentioned",
            "declared",
            "called",
            "written",
            "occur",
            "appear",
            "implemented",
            "set",
        ];
        return last
            .is_any(&verbs)
            .then(|| finish(words, pattern(found)?, scope, SearchWhat::Lines, any_case))?;
    }
    if let Some(rest) = after(words, &[&["does"], &["do"]]) {
        let at = rest
            .iter()
            .position(|word| word.is_any(&["contain", "mention", "include"]))?;
        let mut scope = Scope::default();
        let whole = match &rest[..at] {
            [any] if any.is_any(&["anything", "something", "it"]) => {
                any.is_any(&["anything", "something"]) || scope.take(&rest[..1]).is_some()
            }
            [any, file] if any.is("any") && file.is("file") => true,
            [path] => scope_of_path(path, &mut scope),
            other => Scope::all(other).map(|found| scope = found).is_some(),
        };
        return whole.then(|| {
            finish(
                words,
                pattern(rest_without_nouns(&rest[at + 1..]))?,
                scope,
                SearchWhat::Lines,
                any_case,
            )
        })?;
    }
    let rest = after(
        words,
        &[
            &["is", "there", "a"],
            &["is", "there", "an"],
            &["is", "there", "any"],
            &["are", "there", "any"],
        ],
    )?;
    let (found, scope) = split(rest);
    finish(words, pattern(found)?, scope, SearchWhat::Lines, any_case)
}

fn finish(
    words: &[Word],
    pattern: &[Word],
    scope: Scope,
    what: SearchWhat,
    any_case: bool,
) -> Option<Request> {
    if pattern.is_empty() {
        return Some(Request::Missing {
            question: "What text shall I look for?".to_owned(),
            prefix: text(&words[..1]),
        });
    }
    Some(Request::Search(Search {
        pattern: text(pattern),
        what,
        any_case,
        subject: scope.subject.unwrap_or_default(),
        filter: scope.filter,
    }))
}

fn pattern(words: &[Word]) -> Option<&[Word]> {
    let quoted = words.iter().filter(|word| word.quoted).count();
    match (quoted, words.len()) {
        (0, 0..=MAX_PATTERN_WORDS) => Some(words),
        (1, 1) => Some(words),
        _ => None,
    }
}

/// "the word", "all occurrences of", "lines with".
fn rest_without_nouns(mut words: &[Word]) -> &[Word] {
    const NOUNS: &[&[&str]] = &[
        &["all"],
        &["every"],
        &["the"],
        &["any"],
        &["for"],
        &["occurrences", "of"],
        &["occurrence", "of"],
        &["mentions", "of"],
        &["uses", "of"],
        &["instances", "of"],
        &["the", "word"],
        &["the", "text"],
        &["word"],
        &["text"],
        &["string"],
        &["the", "string"],
        &["the", "phrase"],
        &["lines", "containing"],
        &["lines", "with"],
        &["lines", "that", "contain"],
        &["files", "containing"],
        &["me"],
        &["a", "line", "with"],
    ];
    while let Some(rest) = after(words, NOUNS) {
        // "find the" looks for "the".
        if rest.is_empty() {
            break;
        }
        words = rest;
    }
    words
}

/// Parts a pattern from where to look: the longest ending that says nothing but that.
fn split(words: &[Word]) -> (&[Word], Scope) {
    for at in 0..words.len() {
        let begins = words[at].is_any(&[
            "in", "under", "inside", "within", "across", "anywhere", "here", "through", "of",
        ]);
        if begins && let Some(scope) = Scope::all(&words[at..]) {
            return (&words[..at], scope);
        }
    }
    (words, Scope::default())
}

fn scope_of_path(word: &Word, scope: &mut Scope) -> bool {
    let here = word.is_any(&["everything", "everywhere", "here"]);
    if here {
        return true;
    }
    let placed = [Word::preposition(), word.clone()];
    scope.take(&placed) == Some(2)
}

fn lists(words: &[Word]) -> bool {
    let lower = lower(words);
    let last_is_files =
        |words: &[&str]| matches!(words.last(), Some(&("files" | "file" | "directories")));
    // "all rust files in src": files, and nothing said about what is in them.
    let (found, _) = split(words);
    let holds = lower.iter().any(|word| {
        matches!(
            *word,
            "containing" | "with" | "contain" | "mentioning" | "mention" | "matching"
        )
    });
    !holds && !found.iter().any(|word| word.quoted) && last_is_files(&self::lower(found))
}

fn case(words: &[Word]) -> (&[Word], bool) {
    for ending in [
        &["ignoring", "case"][..],
        &["ignore", "case"],
        &["case", "insensitive"],
        &["case", "insensitively"],
        &["case-insensitive"],
        &["case-insensitively"],
        &["in", "any", "case"],
        &["regardless", "of", "case"],
    ] {
        if lower(words).ends_with(ending) {
            return (&words[..words.len() - ending.len()], true);
        }
    }
    (words, false)
}
