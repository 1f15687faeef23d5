use super::{
    Request,
    clause::{Word, lower},
};
use crate::desk::calendar::{Day, Question, Step, day};

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    if words.iter().any(|word| word.quoted) {
        return None;
    }
    question(&lower(words)).map(Request::Date)
}

fn question(words: &[&str]) -> Option<Question> {
    match words {
        ["date" | "today"]
        | ["what", "is", "the", "date" | "day"]
        | [
            "what",
            "is",
            "the" | "today's" | "todays",
            "date" | "day",
            "today",
        ]
        | ["what", "is", "today's" | "todays", "date"]
        | ["what", "is", "the", "current", "date"]
        | ["what", "day" | "date", "is", "it" | "today"]
        | ["what", "day" | "date", "is", "it", "today"]
        | [
            "what" | "which",
            "day",
            "of",
            "the",
            "week",
            "is",
            "it" | "today",
        ]
        | ["today's" | "todays", "date"]
        | ["which", "day", "is", "it" | "today"]
        | ["the", "date"] => Some(Question::Today),
        ["time"]
        | ["what", "time", "is", "it"]
        | ["what", "is", "the", "time"]
        | ["what", "is", "the", "current", "time"]
        | ["the", "time"]
        | ["what", "time", "is", "it", "now"] => Some(Question::Time),
        ["is", year, "a", "leap", "year"] => year.parse().ok().map(Question::LeapYear),
        ["how", "many", "days", rest @ ..] => between(skip(rest)),
        ["how", "long", "is", "it", rest @ ..] | ["how", "long", rest @ ..] => between(rest),
        ["days", rest @ ..] => between(rest),
        ["number", "of", "days", rest @ ..] | ["the", "number", "of", "days", rest @ ..] => {
            between(rest)
        }
        ["what", "is", "the", "date", rest @ ..]
        | ["what", "date" | "day", "is", rest @ ..]
        | ["what", "date" | "day", "will", "it", "be", rest @ ..]
        | ["what", "is", rest @ ..]
        | ["which", "date" | "day", "is", rest @ ..] => weekday(words).or_else(|| shift(rest)),
        _ => weekday(words).or_else(|| shift(words)),
    }
}

fn skip<'a, 'b>(words: &'a [&'b str]) -> &'a [&'b str] {
    let mut words = words;
    while let [
        "are" | "is" | "there" | "it" | "left" | "lie" | "do" | "we" | "have",
        rest @ ..,
    ] = words
    {
        words = rest;
    }
    words
}

fn weekday(words: &[&str]) -> Option<Question> {
    let rest = match words {
        [
            "what" | "which",
            "weekday",
            "is" | "was" | "will",
            rest @ ..,
        ]
        | [
            "what" | "which",
            "day",
            "of",
            "the",
            "week",
            "is" | "was" | "will",
            rest @ ..,
        ]
        | ["what" | "which", "day", "is" | "was" | "will", rest @ ..]
        | ["weekday", "of", rest @ ..]
        | [
            "on",
            "which" | "what",
            "day" | "weekday",
            "was" | "is" | "does" | "did" | "will",
            rest @ ..,
        ] => rest,
        _ => return None,
    };
    let rest = match rest {
        [rest @ .., "be" | "fall" | "falls"] => rest,
        rest => rest,
    };
    day(rest).map(Question::Weekday)
}

fn between(words: &[&str]) -> Option<Question> {
    match words {
        ["between", rest @ ..] => pair(rest, "and"),
        ["from", rest @ ..] => pair(rest, "to").or_else(|| pair(rest, "until")),
        ["until" | "till" | "to", rest @ ..] => Some(Question::Between(Day::Today, day(rest)?)),
        ["since", rest @ ..] => Some(Question::Between(day(rest)?, Day::Today)),
        _ => None,
    }
}

fn pair(words: &[&str], joint: &str) -> Option<Question> {
    let at = words.iter().position(|word| *word == joint)?;
    Some(Question::Between(
        day(&words[..at])?,
        day(&words[at + 1..])?,
    ))
}

/// "100 days from now", "3 weeks before 2026-12-24", "in 2 months", "2 years ago".
fn shift(words: &[&str]) -> Option<Question> {
    let words = match words {
        ["in", rest @ ..] if rest.len() == 2 => {
            let (count, step) = amount(rest)?;
            return Some(Question::Shift {
                from: Day::Today,
                count,
                step,
            });
        }
        words => words,
    };
    let (count, step) = amount(words.get(..2)?)?;
    let (from, sign) = match &words[2..] {
        ["ago"] => (Day::Today, -1),
        ["from" | "after", rest @ ..] => (day(rest)?, 1),
        ["before", rest @ ..] => (day(rest)?, -1),
        _ => return None,
    };
    Some(Question::Shift {
        from,
        count: count * sign,
        step,
    })
}

fn amount(words: &[&str]) -> Option<(i64, Step)> {
    let [count, step] = words else { return None };
    let count: i64 = match *count {
        "a" | "one" => 1,
        digits => digits
            .parse()
            .ok()
            .filter(|count: &i64| (0..1_000_000).contains(count))?,
    };
    let step = match *step {
        "day" | "days" => Step::Days,
        "week" | "weeks" => Step::Weeks,
        "month" | "months" => Step::Months,
        "year" | "years" => Step::Years,
        _ => return None,
    };
    Some((count, step))
}
