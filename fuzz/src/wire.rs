//! What holds for every text that somebody may send: the body of the fuzz target and of
//! `tests/wire_props.rs`, which runs it without a nightly toolchain.
//!
//! It has a tokenizer of its own, which knows nothing of the one that it checks, and
//! compares token by token.

use std::time::Instant;

use portcullis::{AgentEvent, Json, Prompt, Scope};
use serde_json::value::RawValue;

/// What became of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    Refused,
    Core,
    Extension,
}

/// Checks everything about some bytes, and says what they are as an event.
///
/// # Panics
/// When a rule is broken.
pub(crate) fn check(bytes: &[u8]) -> Fate {
    let decoded = AgentEvent::from_slice(bytes);
    let Ok(text) = str::from_utf8(bytes) else {
        assert!(decoded.is_err(), "accepted bytes that are no text");
        return Fate::Refused;
    };
    let valid = serde_json::from_str::<&RawValue>(text).is_ok();
    let tokens = if valid { tokens(text) } else { Vec::new() };
    let depth = depth(&tokens);
    assert_eq!(
        Json::from_text(text).is_ok(),
        valid && depth <= 128,
        "a value is what serde_json takes, up to 128 levels"
    );
    let read = if depth <= 128 { object(&tokens) } else { None };
    check_prompt(text, read.as_deref());
    check_scope(text, read.as_deref());

    let expected = read.as_deref().and_then(expect_event);
    match (decoded, expected) {
        (Err(_), None) => Fate::Refused,
        (Ok(event), Some(expected)) => {
            let json = event.to_json();
            assert!(!json.contains(['\r', '\n']), "an event fits one line");
            assert_eq!(
                matches!(expected, Expected::Whole),
                matches!(event, AgentEvent::Extension(_))
            );
            keeps(text, &json);
            let again = AgentEvent::from_json(&json).expect("what is written can be read");
            assert_eq!(again, event, "read again");
            assert_eq!(again.to_json(), json, "written again");
            if matches!(event, AgentEvent::Extension(_)) {
                Fate::Extension
            } else {
                Fate::Core
            }
        }
        (Ok(event), None) => panic!("accepted {text:?} as {event:?}"),
        (Err(error), Some(_)) => panic!("refused {text:?}: {error}"),
    }
}

/// Checks that an event that was read and written, however often, still says what it said.
///
/// # Panics
/// When it does not.
pub(crate) fn keeps(text: &str, json: &str) {
    let (before, after) = (tokens(text), tokens_of(json));
    let read = object(&before).expect("an object");
    match expect_event(&read).expect("an event") {
        Expected::Whole => assert_eq!(after, before, "tokens of an unknown event"),
        Expected::Known(known) => {
            compare(&object(&after).expect("an object"), &read, known);
        }
    }
}

fn check_prompt(text: &str, read: Option<&[Member<'_>]>) {
    let fits = read.is_some_and(|members| fits(members, PROMPT));
    match Prompt::from_json(text) {
        Ok(prompt) => {
            assert!(fits, "accepted {text:?} as a prompt");
            let json = prompt.to_json();
            let written = tokens_of(&json);
            // No images are written as no member.
            let read: Vec<_> = read.unwrap_or_default().to_vec();
            let empty = |member: &Member<'_>| member.is("images") && member.value.len() == 2;
            let read: Vec<_> = read.into_iter().filter(|member| !empty(member)).collect();
            compare(&object(&written).expect("an object"), &read, PROMPT);
            assert_eq!(Prompt::from_json(&json).expect("a prompt"), prompt);
        }
        Err(error) => assert!(!fits, "refused {text:?} as a prompt: {error}"),
    }
}

fn check_scope(text: &str, read: Option<&[Member<'_>]>) {
    let now = Instant::now();
    let fits = read.is_some_and(|members| fits(members, SCOPE));
    match Scope::from_json_at(text, now) {
        Ok(scope) => {
            assert!(fits, "accepted {text:?} as a scope");
            assert!(scope.principal().is_none() && scope.tenant().is_none());
            let json = scope.to_json_at(now);
            let written = tokens_of(&json);
            let read = read.unwrap_or_default().iter();
            let empty = |member: &&Member<'_>| member.is("constraints") && member.value.len() == 2;
            let read: Vec<_> = read.filter(|member| !empty(member)).cloned().collect();
            compare(&object(&written).expect("an object"), &read, SCOPE);
        }
        Err(error) => assert!(
            !fits
                || error.expected().starts_with("at most 1024")
                || error.expected().starts_with("a time"),
            "refused {text:?} as a scope: {error}"
        ),
    }
}

/// What a known member may be.
#[derive(Clone, Copy)]
enum Kind {
    Text,
    Bool,
    Number,
    /// Digits that fit 64 bits.
    Whole,
    Any,
    /// A decimal number in a string.
    Decimal,
    Object(Known),
    Objects(Known),
}

/// Name, kind, and whether it must be there; in the order in which they are written.
type Known = &'static [(&'static str, Kind, bool)];

const TYPE: (&str, Kind, bool) = ("type", Kind::Text, true);
const DELTA: Known = &[TYPE, ("delta", Kind::Text, true)];
const TOOL_STARTED: Known = &[
    TYPE,
    ("id", Kind::Text, true),
    ("name", Kind::Text, true),
    ("args", Kind::Any, true),
];
const TOOL_ENDED: Known = &[
    TYPE,
    ("id", Kind::Text, true),
    ("isError", Kind::Bool, true),
    ("content", Kind::Any, true),
];
const RETRYING: Known = &[
    TYPE,
    ("attempt", Kind::Number, true),
    ("maxAttempts", Kind::Number, true),
    ("delayMs", Kind::Number, true),
    ("reason", Kind::Text, true),
];
const COMPLETED: Known = &[TYPE, ("data", Kind::Any, false)];
const FAILED: Known = &[
    TYPE,
    ("details", Kind::Text, true),
    ("retryable", Kind::Bool, true),
    ("code", Kind::Text, false),
];
const FAILED_WITH_HINT: Known = &[
    TYPE,
    ("details", Kind::Text, true),
    ("retryable", Kind::Bool, true),
    ("code", Kind::Text, false),
    ("retryAfterMs", Kind::Whole, false),
];
const USAGE: Known = &[
    TYPE,
    ("id", Kind::Text, true),
    ("provider", Kind::Text, false),
    ("model", Kind::Text, false),
    ("input", Kind::Whole, false),
    ("output", Kind::Whole, false),
    ("cacheRead", Kind::Whole, false),
    ("cacheWrite", Kind::Whole, false),
    ("reasoning", Kind::Whole, false),
    ("total", Kind::Whole, false),
    (
        "cost",
        Kind::Object(&[
            ("amount", Kind::Decimal, true),
            ("currency", Kind::Text, true),
        ]),
        false,
    ),
    ("source", Kind::Text, false),
    ("final", Kind::Bool, false),
];
const PROMPT: Known = &[
    ("text", Kind::Text, true),
    (
        "images",
        Kind::Objects(&[("mimeType", Kind::Text, true), ("data", Kind::Text, true)]),
        false,
    ),
];
const SCOPE: Known = &[
    ("session", Kind::Text, true),
    ("source", Kind::Text, false),
    (
        "constraints",
        Kind::Object(&[("deadlineMs", Kind::Whole, false)]),
        false,
    ),
    ("outputSchema", Kind::Any, false),
];

enum Expected {
    /// Every token stays.
    Whole,
    Known(Known),
}

fn expect_event(members: &[Member<'_>]) -> Option<Expected> {
    let type_name = members.iter().find(|member| member.is("type"))?;
    let [Token::String(raw)] = type_name.value else {
        return None;
    };
    let type_name = String::from_utf16_lossy(&units(raw));
    let known = match type_name.as_str() {
        "text" | "thinking" => DELTA,
        "tool_started" => TOOL_STARTED,
        "tool_ended" => TOOL_ENDED,
        "retrying" => RETRYING,
        "completed" => COMPLETED,
        "failed" if fits(members, FAILED_WITH_HINT) => FAILED_WITH_HINT,
        "failed" => FAILED,
        "usage" if fits(members, USAGE) => USAGE,
        _ => return Some(Expected::Whole),
    };
    fits(members, known).then_some(Expected::Known(known))
}

/// Whether every known member that is there is right, and every required one is there.
fn fits(members: &[Member<'_>], known: Known) -> bool {
    known.iter().all(
        |(name, kind, required)| match members.iter().find(|member| member.is(name)) {
            Some(member) => is_a(member.value, *kind),
            None => !required,
        },
    )
}

fn is_a(value: &[Token<'_>], kind: Kind) -> bool {
    match (kind, value) {
        (Kind::Any, _) | (Kind::Text, [Token::String(_)]) => true,
        (Kind::Bool, [Token::Word(word)]) => matches!(*word, "true" | "false"),
        (Kind::Number, [Token::Word(word)]) => !matches!(*word, "true" | "false" | "null"),
        (Kind::Whole, [Token::Word(word)]) => word.parse::<u64>().is_ok() && !word.starts_with('+'),
        (Kind::Decimal, [Token::String(raw)]) => {
            let text = String::from_utf16_lossy(&units(raw));
            let parts: Vec<_> = text.split('.').collect();
            parts.len() <= 2
                && parts.iter().all(|part| {
                    !part.is_empty() && part.bytes().all(|digit| digit.is_ascii_digit())
                })
        }
        (Kind::Object(known), _) => object(value).is_some_and(|members| fits(&members, known)),
        (Kind::Objects(known), [Token::Mark('['), ..]) => elements(value)
            .iter()
            .all(|element| is_a(element, Kind::Object(known))),
        _ => false,
    }
}

/// The known members in their order, strings by what they mean; then the others in
/// theirs, token by token.
fn compare(written: &[Member<'_>], read: &[Member<'_>], known: Known) {
    let mut written = written.iter();
    for (name, kind, _) in known {
        let Some(before) = read.iter().find(|member| member.is(name)) else {
            continue;
        };
        let after = written.next().expect("a known member");
        assert_eq!(after.name, *name, "the order of known members");
        compare_value(after.value, before.value, *kind);
    }
    let is_known = |member: &&Member<'_>| known.iter().any(|(name, ..)| member.is(name));
    let others: Vec<_> = read.iter().filter(|member| !is_known(member)).collect();
    assert_eq!(written.collect::<Vec<_>>(), others, "unknown members");
}

fn compare_value(after: &[Token<'_>], before: &[Token<'_>], kind: Kind) {
    match (kind, after, before) {
        (Kind::Text | Kind::Decimal, [Token::String(after)], [Token::String(before)]) => {
            let before = String::from_utf16_lossy(&units(before));
            assert_eq!(String::from_utf16_lossy(&units(after)), before);
        }
        (Kind::Object(known), ..) => compare(
            &object(after).expect("an object"),
            &object(before).expect("an object"),
            known,
        ),
        (Kind::Objects(known), ..) => {
            let (after, before) = (elements(after), elements(before));
            assert_eq!(after.len(), before.len());
            for (after, before) in after.into_iter().zip(before) {
                compare_value(after, before, Kind::Object(known));
            }
        }
        _ => assert_eq!(after, before),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token<'a> {
    Mark(char),
    /// With its escapes, without its quotes.
    String(&'a str),
    /// A number, `true`, `false` or `null`.
    Word(&'a str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Member<'a> {
    /// As it is written.
    name: &'a str,
    value: &'a [Token<'a>],
}

impl Member<'_> {
    fn is(&self, name: &str) -> bool {
        units(self.name) == name.encode_utf16().collect::<Vec<_>>()
    }
}

fn tokens_of(json: &str) -> Vec<Token<'_>> {
    serde_json::from_str::<&RawValue>(json).expect("what is written is JSON");
    tokens(json)
}

/// The tokens of JSON that somebody else has checked.
pub(crate) fn tokens(json: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = json;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        let Some(first) = rest.chars().next() else {
            return tokens;
        };
        let len = match first {
            '{' | '}' | '[' | ']' | ':' | ',' => {
                tokens.push(Token::Mark(first));
                1
            }
            '"' => {
                let mut end = 1;
                while !rest[end..].starts_with('"') {
                    end += if rest[end..].starts_with('\\') { 2 } else { 1 };
                    while !rest.is_char_boundary(end) {
                        end += 1;
                    }
                }
                tokens.push(Token::String(&rest[1..end]));
                end + 1
            }
            _ => {
                let end = rest
                    .find([' ', '\t', '\r', '\n', ',', ':', '}', ']'])
                    .unwrap_or(rest.len());
                tokens.push(Token::Word(&rest[..end]));
                end
            }
        };
        rest = &rest[len..];
    }
}

/// The members at the top of an object, or `None` if it is no object or has a name twice.
fn object<'a>(tokens: &'a [Token<'a>]) -> Option<Vec<Member<'a>>> {
    let [Token::Mark('{'), inside @ .., Token::Mark('}')] = tokens else {
        return None;
    };
    let mut members: Vec<Member<'_>> = Vec::new();
    for part in split(inside) {
        let [Token::String(name), Token::Mark(':'), value @ ..] = part else {
            panic!("checked JSON");
        };
        members.push(Member { name, value });
    }
    let mut names: Vec<_> = members.iter().map(|member| units(member.name)).collect();
    names.sort();
    names.dedup();
    (names.len() == members.len()).then_some(members)
}

fn elements<'a>(tokens: &'a [Token<'a>]) -> Vec<&'a [Token<'a>]> {
    match tokens {
        [Token::Mark('['), inside @ .., Token::Mark(']')] => split(inside),
        _ => Vec::new(),
    }
}

/// Splits at the commas that lie in nothing else.
fn split<'a>(tokens: &'a [Token<'a>]) -> Vec<&'a [Token<'a>]> {
    if tokens.is_empty() {
        return Vec::new();
    }
    let mut open = 0;
    tokens
        .split(|token| {
            match token {
                Token::Mark('{' | '[') => open += 1,
                Token::Mark('}' | ']') => open -= 1,
                _ => {}
            }
            open == 0 && *token == Token::Mark(',')
        })
        .collect()
}

fn depth(tokens: &[Token<'_>]) -> usize {
    let (mut open, mut deepest) = (0, 0);
    for token in tokens {
        match token {
            Token::Mark('{' | '[') => open += 1,
            Token::Mark('}' | ']') => open -= 1,
            _ => {}
        }
        deepest = deepest.max(open);
    }
    deepest
}

/// A string as JavaScript has it.
fn units(raw: &str) -> Vec<u16> {
    let mut units = Vec::new();
    let mut chars = raw.chars();
    while let Some(char) = chars.next() {
        let unit = match char {
            '\\' => match chars.next().expect("checked JSON") {
                'b' => 8,
                'f' => 12,
                'n' => 10,
                'r' => 13,
                't' => 9,
                'u' => {
                    let hex: String = chars.by_ref().take(4).collect();
                    u16::from_str_radix(&hex, 16).expect("checked JSON")
                }
                other => u16::try_from(u32::from(other)).expect("checked JSON"),
            },
            plain => {
                units.extend_from_slice(plain.encode_utf16(&mut [0; 2]));
                continue;
            }
        };
        units.push(unit);
    }
    units
}
