use super::{
    NotUnderstood, Request,
    clause::{Word, lower, text},
    phrase::{after, number},
};
use crate::desk::calc::{self, CalcError, Expr};

/// Reads arithmetic; it is what is tried last, so here a clause is refused.
pub(super) fn parse(words: &[Word]) -> Result<Request, NotUnderstood> {
    let not_understood = || NotUnderstood::Clause(text(words));
    if words.iter().any(|word| word.quoted) {
        return Err(not_understood());
    }
    let asked = after(
        words,
        &[
            &["calculate"],
            &["compute"],
            &["evaluate"],
            &["work", "out"],
            &["what", "is"],
            &["what", "are"],
            &["how", "much", "is"],
            &["how", "much", "are"],
            &["what", "does"],
            &["calc"],
            &["what", "about"],
            &["how", "about"],
            &["what", "would"],
            &["convert"],
            &["show"],
            &["write"],
            &["what"],
        ],
    );
    let calculates = words
        .first()
        .is_some_and(|word| word.is_any(&["calculate", "compute", "evaluate", "calc"]));
    if asked.is_some_and(<[Word]>::is_empty) && calculates {
        return Ok(Request::Missing {
            question: "What shall I calculate?".to_owned(),
            prefix: "calculate".to_owned(),
        });
    }
    let rest = asked.unwrap_or(words);
    let rest = match rest {
        [rest @ .., make] if make.is_any(&["make", "be", "equal"]) => rest,
        [rest @ .., sign] if sign.is("=") => rest,
        rest => rest,
    };
    if let Some(expr) = share(rest) {
        return Ok(Request::Sum { expr, base: 10 });
    }
    let (rest, base) = base(rest);
    let sum = spoken(rest).unwrap_or_else(|| text(rest));
    let expr = match (rest.is_empty(), base) {
        // "and in hex?"
        (true, Some(_)) => Ok(Expr::That),
        (true, None) => return Err(not_understood()),
        (false, _) => calc::parse(sum.trim_end_matches('=')),
    };
    match expr {
        // A number alone asks nothing, unless it was asked about.
        Ok(expr) if expr.is_number() && base.is_none() && asked.is_none() => Err(not_understood()),
        Ok(Expr::That) if base.is_none() => Err(not_understood()),
        Ok(expr) => Ok(Request::Sum {
            expr,
            base: base.unwrap_or(10),
        }),
        Err(CalcError::Word(_)) if !calculates => Err(not_understood()),
        Err(error) => Err(NotUnderstood::Sum(sum, error)),
    }
}

/// "in hex", "as binary", "in base 7".
fn base(words: &[Word]) -> (&[Word], Option<u32>) {
    if let [rest @ .., preposition, base, radix] = words
        && preposition.is_any(&["in", "as", "to", "into"])
        && base.is("base")
        && let Some(radix @ 2..=36) = number(radix)
    {
        return (rest, u32::try_from(radix).ok());
    }
    if let [rest @ .., preposition, name] = words
        && preposition.is_any(&["in", "as", "to", "into"])
    {
        let base = match name.lower.as_str() {
            "hex" | "hexadecimal" => 16,
            "binary" => 2,
            "octal" => 8,
            "decimal" => 10,
            _ => return (words, None),
        };
        return (rest, Some(base));
    }
    (words, None)
}

/// "what percentage of 80 is 20".
fn share(words: &[Word]) -> Option<Expr> {
    let rest = after(
        words,
        &[
            &["percent", "of"],
            &["percentage", "of"],
            &["percent", "is"],
            &["percentage", "is"],
        ],
    )?;
    let whole_first = lower(words).get(1) == Some(&"of");
    let at = rest
        .iter()
        .position(|word| word.is(if whole_first { "is" } else { "of" }))?;
    let (first, second) = (
        calc::parse(&text(&rest[..at])).ok()?,
        calc::parse(&text(&rest[at + 1..])).ok()?,
    );
    let (part, whole) = if whole_first {
        (second, first)
    } else {
        (first, second)
    };
    Some(calc::share(part, whole))
}

/// "add 5 to that", "multiply 3 by 4", "the sum of 3 and 4", "double it", "square 12".
fn spoken(words: &[Word]) -> Option<String> {
    let both = |rest: &[Word], joint: &str| {
        let at = rest.iter().position(|word| word.is(joint))?;
        let (left, right) = (text(&rest[..at]), text(&rest[at + 1..]));
        (!left.is_empty() && !right.is_empty()).then(|| (format!("({left})"), format!("({right})")))
    };
    let (first, rest) = words.split_first()?;
    let sum = match first.lower.as_str() {
        "add" => {
            let (left, right) = both(rest, "to").or_else(|| both(rest, "and"))?;
            format!("{right} + {left}")
        }
        "subtract" | "take" => {
            let (left, right) = both(rest, "from")?;
            format!("{right} - {left}")
        }
        "multiply" => {
            let (left, right) = both(rest, "by").or_else(|| both(rest, "with"))?;
            format!("{left} * {right}")
        }
        "divide" => {
            let (left, right) = both(rest, "by")?;
            format!("{left} / {right}")
        }
        "halve" => format!("({}) / 2", text(rest)),
        "square" if !rest.first().is_some_and(|word| word.is("root")) => {
            format!("({})^2", text(rest))
        }
        "cube" => format!("({})^3", text(rest)),
        "the" => return spoken(rest),
        "sum" => {
            let (left, right) = both(after(rest, &[&["of"]])?, "and")?;
            format!("{left} + {right}")
        }
        "product" => {
            let (left, right) = both(after(rest, &[&["of"]])?, "and")?;
            format!("{left} * {right}")
        }
        "factorial" => format!("({})!", text(after(rest, &[&["of"]])?)),
        _ => return None,
    };
    Some(sum)
}
