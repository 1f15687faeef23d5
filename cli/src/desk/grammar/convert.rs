use super::{
    Request,
    clause::{Word, text},
    phrase::after,
};
use crate::desk::{
    calc::{self, Expr},
    units::Unit,
};

pub(super) fn parse(words: &[Word]) -> Option<Request> {
    if words.iter().any(|word| word.quoted) {
        return None;
    }
    how_many(words).or_else(|| plain(words))
}

/// "convert 5 kg to pounds", "what is 72 F in C", "that in miles".
fn plain(words: &[Word]) -> Option<Request> {
    let convert = words.first()?.is("convert");
    let rest = after(
        words,
        &[
            &["convert"],
            &["what", "is"],
            &["what", "are"],
            &["how", "much", "is"],
            &["how", "much", "are"],
            &["how", "long", "is"],
            &["how", "far", "is"],
            &["what", "about"],
        ],
    )
    .unwrap_or(words);
    for at in (0..rest.len()).rev() {
        if !rest[at].is_any(&["in", "to", "into", "as"]) {
            continue;
        }
        let Some(to) = unit(&rest[at + 1..]) else {
            continue;
        };
        let before = &rest[..at];
        if before.is_empty() {
            return Some(Request::Convert {
                value: Expr::That,
                from: None,
                to,
            });
        }
        if let Some((value, from)) = quantity(before) {
            return Some(Request::Convert {
                value,
                from: Some(from),
                to,
            });
        }
        // "that in miles", "twice that in miles": the unit is remembered.
        if let Ok(value) = calc::parse(&text(before))
            && value.refers()
        {
            return Some(Request::Convert {
                value,
                from: None,
                to,
            });
        }
        if let Ok(value) = calc::parse(&text(before))
            && (convert || !value.refers())
        {
            return Some(Request::Missing {
                question: format!("In which unit is {}?", text(before)),
                prefix: String::new(),
            });
        }
        // "convert kg to pounds"
        if convert && unit(before).is_some() {
            return Some(Request::Missing {
                question: format!(
                    "How many {} shall I convert to {}?",
                    unit(before)?.name,
                    to.name
                ),
                prefix: String::new(),
            });
        }
    }
    if convert && rest.is_empty() {
        return Some(Request::Missing {
            question: "What shall I convert, and to which unit?".to_owned(),
            prefix: "convert".to_owned(),
        });
    }
    if convert && quantity(rest).is_some() {
        return Some(Request::Missing {
            question: format!("To which unit shall I convert {}?", text(rest)),
            prefix: format!("{} to", text(words)),
        });
    }
    None
}

/// "how many feet are in a mile", "how many seconds are there in 3 days".
fn how_many(words: &[Word]) -> Option<Request> {
    let rest = after(words, &[&["how", "many"]])?;
    let at = rest
        .iter()
        .position(|word| word.is_any(&["in", "is", "are", "make", "equal"]))?;
    let to = unit(&rest[..at])?;
    let mut rest = &rest[at..];
    while let Some(more) = after(
        rest,
        &[
            &["in"],
            &["is"],
            &["are"],
            &["there"],
            &["make"],
            &["equal"],
            &["up"],
        ],
    ) {
        rest = more;
    }
    let (value, from) = quantity(rest)?;
    Some(Request::Convert {
        value,
        from: Some(from),
        to,
    })
}

/// "5 km", "5km", "a mile", "3*4 feet".
fn quantity(words: &[Word]) -> Option<(Expr, &'static Unit)> {
    for length in (1..=words.len().min(3)).rev() {
        let (before, name) = words.split_at(words.len() - length);
        let Some(from) = unit(name) else { continue };
        let value = match before {
            [] => continue,
            [one] if one.is_any(&["a", "an"]) => calc::parse("1"),
            before => calc::parse(&text(before)),
        };
        if let Ok(value) = value {
            return Some((value, from));
        }
    }
    // "5km": digits, then a unit.
    let all = text(words);
    let at = all.find(|c: char| c.is_alphabetic() || c == '\u{b0}')?;
    let (digits, name) = all.split_at(at);
    let from = Unit::named(name.trim())?;
    (!digits.trim().is_empty()).then_some(())?;
    calc::parse(digits).ok().map(|value| (value, from))
}

fn unit(words: &[Word]) -> Option<&'static Unit> {
    match words {
        [] => None,
        [the, rest @ ..] if the.is("the") => unit(rest),
        _ => Unit::named(&text(words)),
    }
}
