use num_bigint::BigInt;
use num_rational::BigRational;

use super::{CalcError, number};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    Number(BigRational),
    That,
    Plus,
    Minus,
    Times,
    Divide,
    Remainder,
    Power,
    Percent,
    /// `of` after a percentage or a fraction.
    Of,
    Bang,
    Open,
    Close,
    Squared,
    Cubed,
    Root,
    /// "half", "twice": what follows, times this.
    Share(BigRational),
}

/// Cuts a sum into tokens; words are those of spoken arithmetic.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, CalcError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let length = if first.is_ascii_digit() || (first == '.' && digit_at(rest, 1)) {
            let length = number_length(rest);
            let value = number::literal(&rest[..length])
                .ok_or_else(|| CalcError::Unexpected(rest[..length].to_owned()))?;
            tokens.push(Token::Number(value));
            length
        } else if first.is_alphabetic() {
            let length = rest
                .find(|c: char| !c.is_alphabetic() && c != '-')
                .unwrap_or(rest.len());
            words(rest, length, &mut tokens)?
        } else {
            let (token, length) = symbol(rest, first)?;
            tokens.push(token);
            length
        };
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

fn digit_at(text: &str, at: usize) -> bool {
    text.as_bytes().get(at).is_some_and(u8::is_ascii_digit)
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    if bytes[0] == b'0' && matches!(bytes.get(1), Some(b'x' | b'X' | b'b' | b'B' | b'o' | b'O')) {
        let digits = bytes[2..]
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
        return 2 + digits.count();
    }
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let takes = match byte {
            b'0'..=b'9' | b'_' => true,
            b'.' | b',' => digit_at(text, at + 1),
            b'e' | b'E' => {
                digit_at(text, at + 1)
                    || (matches!(bytes.get(at + 1), Some(b'+' | b'-')) && digit_at(text, at + 2))
            }
            b'+' | b'-' => matches!(bytes[at - 1], b'e' | b'E'),
            _ => false,
        };
        if !takes {
            break;
        }
        at += 1;
    }
    at
}

fn symbol(rest: &str, first: char) -> Result<(Token, usize), CalcError> {
    let token = match first {
        '+' => Token::Plus,
        '-' | '\u{2212}' => Token::Minus,
        '*' if rest.starts_with("**") => return Ok((Token::Power, 2)),
        '*' | '\u{d7}' | '\u{b7}' => Token::Times,
        '/' | '\u{f7}' => Token::Divide,
        '^' => Token::Power,
        '%' => {
            let next = rest[1..].trim_start().chars().next();
            match next {
                Some(c) if c.is_ascii_digit() || c == '(' => Token::Remainder,
                _ => Token::Percent,
            }
        }
        '!' => Token::Bang,
        '(' => Token::Open,
        ')' => Token::Close,
        '\u{b2}' => Token::Squared,
        '\u{b3}' => Token::Cubed,
        '\u{221a}' => Token::Root,
        other => return Err(CalcError::Word(other.to_string())),
    };
    Ok((token, first.len_utf8()))
}

/// Phrases before the words that they begin with.
const PHRASES: &[(&[&str], Token)] = &[
    (&["to", "the", "power", "of"], Token::Power),
    (&["raised", "to", "the", "power", "of"], Token::Power),
    (&["to", "the", "power"], Token::Power),
    (&["raised", "to"], Token::Power),
    (&["multiplied", "by"], Token::Times),
    (&["divided", "by"], Token::Divide),
    (&["added", "to"], Token::Plus),
    (&["square", "root", "of"], Token::Root),
    (&["the", "square", "root", "of"], Token::Root),
    (&["root", "of"], Token::Root),
    (&["sqrt"], Token::Root),
    (&["per", "cent"], Token::Percent),
    (&["percent"], Token::Percent),
    (&["plus"], Token::Plus),
    (&["minus"], Token::Minus),
    (&["less"], Token::Minus),
    (&["times"], Token::Times),
    (&["x"], Token::Times),
    (&["over"], Token::Divide),
    (&["mod"], Token::Remainder),
    (&["modulo"], Token::Remainder),
    (&["of"], Token::Of),
    (&["squared"], Token::Squared),
    (&["cubed"], Token::Cubed),
    (&["that", "number"], Token::That),
    (&["that", "result"], Token::That),
    (&["the", "result"], Token::That),
    (&["that"], Token::That),
    (&["it"], Token::That),
    (&["this"], Token::That),
];

fn words(rest: &str, length: usize, tokens: &mut Vec<Token>) -> Result<usize, CalcError> {
    for (phrase, token) in PHRASES {
        if let Some(length) = starts_with(rest, phrase) {
            tokens.push(token.clone());
            return Ok(length);
        }
    }
    for (phrase, numer, denom) in [
        (&["half", "of"][..], 1, 2),
        (&["a", "half", "of"], 1, 2),
        (&["half"], 1, 2),
        (&["a", "third", "of"], 1, 3),
        (&["a", "quarter", "of"], 1, 4),
        (&["twice"], 2, 1),
        (&["double"], 2, 1),
        (&["triple"], 3, 1),
    ] {
        if let Some(length) = starts_with(rest, phrase) {
            let share = BigRational::new(BigInt::from(numer), BigInt::from(denom));
            tokens.push(Token::Share(share));
            return Ok(length);
        }
    }
    spelled(rest, tokens).ok_or_else(|| CalcError::Word(rest[..length].to_owned()))
}

/// The length of a phrase at the start of a text, whole words only.
fn starts_with(text: &str, phrase: &[&str]) -> Option<usize> {
    let mut at = 0;
    for word in phrase {
        let rest = &text[at..];
        let skipped = rest.len() - rest.trim_start().len();
        let rest = rest.trim_start();
        let head = rest.get(..word.len())?;
        let boundary = !rest[word.len()..].starts_with(|c: char| c.is_alphabetic());
        if !head.eq_ignore_ascii_case(word) || !boundary {
            return None;
        }
        at += skipped + word.len();
    }
    Some(at)
}

const SMALL: &[(&str, u64)] = &[
    ("zero", 0),
    ("one", 1),
    ("two", 2),
    ("three", 3),
    ("four", 4),
    ("five", 5),
    ("six", 6),
    ("seven", 7),
    ("eight", 8),
    ("nine", 9),
    ("ten", 10),
    ("eleven", 11),
    ("twelve", 12),
    ("thirteen", 13),
    ("fourteen", 14),
    ("fifteen", 15),
    ("sixteen", 16),
    ("seventeen", 17),
    ("eighteen", 18),
    ("nineteen", 19),
    ("twenty", 20),
    ("thirty", 30),
    ("forty", 40),
    ("fifty", 50),
    ("sixty", 60),
    ("seventy", 70),
    ("eighty", 80),
    ("ninety", 90),
];

const LARGE: &[(&str, u64)] = &[
    ("thousand", 1_000),
    ("million", 1_000_000),
    ("billion", 1_000_000_000),
];

/// Reads "two hundred and thirty-four", and returns how much text that took.
fn spelled(text: &str, tokens: &mut Vec<Token>) -> Option<usize> {
    let (mut total, mut group, mut end, mut at, mut last) = (0u64, 0u64, 0, 0, Last::Nothing);
    loop {
        let rest = &text[at..];
        let start = at + rest.len() - rest.trim_start_matches([' ', '-']).len();
        let word = &text[start..];
        let word = &word[..word
            .find(|c: char| !c.is_alphabetic())
            .unwrap_or(word.len())];
        let lower = word.to_ascii_lowercase();
        let after = start + word.len();
        if let Some((_, value)) = SMALL.iter().find(|(name, _)| *name == lower) {
            // "twenty one" goes on, "one twenty" does not.
            let fits = match last {
                Last::Nothing | Last::Multiplier => true,
                Last::Tens => (1..10).contains(value),
                Last::Unit => false,
            };
            if !fits {
                break;
            }
            group += value;
            last = if *value >= 20 { Last::Tens } else { Last::Unit };
            end = after;
        } else if lower == "hundred" && (1..10).contains(&group) {
            group *= 100;
            last = Last::Multiplier;
            end = after;
        } else if lower == "dozen" && matches!(last, Last::Unit) && total == 0 {
            group *= 12;
            last = Last::Unit;
            end = after;
        } else if let Some((_, value)) = LARGE.iter().find(|(name, _)| *name == lower)
            && group > 0
        {
            total = total.checked_add(group.checked_mul(*value)?)?;
            group = 0;
            last = Last::Multiplier;
            end = after;
        } else if matches!(lower.as_str(), "a" | "an") && matches!(last, Last::Nothing) {
            let next = text[after..].trim_start();
            if !["hundred", "thousand", "million", "dozen"]
                .iter()
                .any(|word| next.starts_with(word))
            {
                return None;
            }
            group = 1;
            last = Last::Unit;
        } else if !(lower == "and" && matches!(last, Last::Multiplier)) {
            break;
        }
        at = after;
    }
    if end == 0 {
        return None;
    }
    let value = BigInt::from(total.checked_add(group)?);
    tokens.push(Token::Number(BigRational::from(value)));
    Some(end)
}

enum Last {
    Nothing,
    Unit,
    Tens,
    Multiplier,
}
