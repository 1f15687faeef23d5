use super::{
    Read, Request, Span, Subject,
    clause::Word,
    phrase::{Scope, after, number},
};

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    let verb = after(
        words,
        &[
            &["read"],
            &["show"],
            &["show", "me"],
            &["print"],
            &["cat"],
            &["open"],
            &["display"],
            &["what", "does"],
            &["what", "is", "on"],
            &["what", "is"],
            &["what", "are"],
            &["head"],
            &["tail"],
        ],
    );
    let rest = verb.unwrap_or(words);
    let said = verb.is_some() && words[0].is_any(&["read", "cat", "open", "print", "display"]);
    let mut rest = match rest {
        [start @ .., say] if words[0].is("what") && say.is("say") => start,
        rest => rest,
    };
    let (mut span, mut scope) = (None, Scope::default());
    match words[0].lower.as_str() {
        "head" => span = Some(Span::First(10)),
        "tail" => span = Some(Span::Last(10)),
        _ => {}
    }
    while let Some(word) = rest.first() {
        let taken = if let Some((found, taken)) = self::span(rest) {
            span = Some(found);
            taken
        } else if let Some(taken) = scope.take(rest) {
            taken
        } else if word.is_any(&[
            "the", "of", "from", "in", "contents", "content", "file", "text", "me", "whole",
        ]) {
            1
        } else if said && rest.len() == 1 && !word.is_any(&["files", "lines", "directories"]) {
            // "read LICENSE"
            scope.subject = Some(path(word));
            1
        } else {
            return None;
        };
        rest = &rest[taken..];
    }
    match scope.subject {
        Some(Subject::Everything) | None if said && scope.filter.is_none() => {
            Some(Request::Missing {
                question: "Which file shall I read?".to_owned(),
                prefix: "read".to_owned(),
            })
        }
        // "what is in src" without a span may be a directory.
        Some(Subject::Path(path)) if span.is_none() && scope.filter.is_none() && !said => {
            Some(Request::List {
                path: Some(path),
                filter: None,
            })
        }
        // "what is it" is no question about a file.
        Some(Subject::That) if span.is_none() && !said && !words[0].is("show") => None,
        Some(subject @ (Subject::Path(_) | Subject::That)) if scope.filter.is_none() => {
            Some(Request::Read(Read {
                subject,
                span: span.unwrap_or_default(),
            }))
        }
        _ => None,
    }
}

fn path(word: &Word) -> Subject {
    Subject::Path(word.text.clone())
}

/// "lines 3 to 10", "line 7", "3-10", "the first 5 lines".
fn span(words: &[Word]) -> Option<(Span, usize)> {
    let [first, second, rest @ ..] = words else {
        return None;
    };
    let third = rest.first();
    if first.is("line") {
        let line = number(second)?;
        return Some((Span::Lines(line, line), 2));
    }
    if first.is("lines") {
        if let Some(from) = number(second) {
            let joined =
                third.is_some_and(|word| word.is_any(&["to", "through", "until", "-", "and"]));
            let to = rest.get(1).and_then(number).filter(|_| joined)?;
            return Some((Span::Lines(from, to), 4));
        }
        let (from, to) = second
            .text
            .split_once("..=")
            .or_else(|| second.text.split_once(".."))
            .or_else(|| second.text.split_once('-'))
            .or_else(|| second.text.split_once('\u{2013}'))?;
        return Some((Span::Lines(from.parse().ok()?, to.parse().ok()?), 2));
    }
    if first.is_any(&["first", "top", "last", "bottom"]) {
        let count = if second.is_any(&["line"]) {
            return Some((one(first), 2));
        } else {
            number(second)?
        };
        if !third?.is_any(&["line", "lines"]) {
            return None;
        }
        let span = if first.is_any(&["first", "top"]) {
            Span::First(count)
        } else {
            Span::Last(count)
        };
        return Some((span, 3));
    }
    None
}

fn one(word: &Word) -> Span {
    if word.is("first") {
        Span::First(1)
    } else {
        Span::Last(1)
    }
}
