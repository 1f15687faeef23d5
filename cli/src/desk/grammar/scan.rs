use std::time::Duration;

use super::{
    Request, Scan,
    clause::Word,
    phrase::{Scope, after, number},
};

/// The longest rest that a prompt may ask for.
const MAX_PAUSE: Duration = Duration::from_secs(10);

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    let mut rest = after(
        words,
        &[
            &["scan"],
            &["slowly", "scan"],
            &["start", "a", "scan"],
            &["run", "a", "scan"],
            &["do", "a", "scan"],
        ],
    )?;
    let mut scope = Scope::default();
    let (mut first, mut pause) = (None, None);
    while let Some(word) = rest.first() {
        let taken = if let Some((found, taken)) = self::pause(rest) {
            pause = Some(found);
            taken
        } else if let [said, count, ..] = rest
            && said.is("first")
            && let Some(count) = number(count)
        {
            first = Some(usize::try_from(count).ok()?);
            2
        } else if let Some(taken) = scope.take(rest) {
            taken
        } else if word.is_any(&[
            "everything",
            "all",
            "every",
            "the",
            "files",
            "file",
            "slowly",
            "of",
            "each",
            "and",
            "one",
            "by",
        ]) {
            1
        } else if rest.len() == 1 {
            let placed = [Word::preposition(), word.clone()];
            (scope.take(&placed) == Some(2)).then_some(1)?
        } else {
            return None;
        };
        rest = &rest[taken..];
    }
    Some(Request::Scan(Scan {
        subject: scope.subject.unwrap_or_default(),
        filter: scope.filter,
        first,
        pause,
    }))
}

/// "pausing 200 ms", "resting 1 second before each", "with a pause of 50ms".
fn pause(words: &[Word]) -> Option<(Duration, usize)> {
    let beginnings: &[&[&str]] = &[
        &["pausing"],
        &["resting"],
        &["waiting"],
        &["with", "a", "pause", "of"],
        &["with", "pauses", "of"],
    ];
    let rest = after(words, beginnings)?;
    let (amount, unit, taken) = match rest {
        [glued, ..] if !glued.text.bytes().all(|byte| byte.is_ascii_digit()) => {
            let at = glued.lower.find(|c: char| !c.is_ascii_digit())?;
            let (amount, unit) = glued.lower.split_at(at);
            (amount, unit, 1)
        }
        [amount, unit, ..] => (amount.text.as_str(), unit.lower.as_str(), 2),
        _ => return None,
    };
    let amount: u64 = amount.parse().ok()?;
    let pause = match unit {
        "ms" | "millisecond" | "milliseconds" => Duration::from_millis(amount),
        "s" | "sec" | "second" | "seconds" => Duration::from_secs(amount),
        _ => return None,
    };
    let more = after(
        &rest[taken..],
        &[
            &["before", "each"],
            &["between", "files"],
            &["a", "file"],
            &["before", "each", "file"],
        ],
    );
    let end = more.map_or(&rest[taken..], |more| more);
    (pause <= MAX_PAUSE).then_some((pause, words.len() - end.len()))
}
