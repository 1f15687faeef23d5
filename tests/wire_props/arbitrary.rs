//! Arbitrary JSON, with everything that is hard to keep.

use proptest::{collection, prelude::*, sample};

/// Makes a name and a value.
pub(crate) type Pair = BoxedStrategy<(String, String)>;

/// White space between tokens, mostly none.
fn space() -> impl Strategy<Value = &'static str> {
    sample::select(vec![
        "", "", "", "", " ", "\t", "\n", "\r\n", " \r ", "\n\t  ",
    ])
}

fn number() -> impl Strategy<Value = String> {
    prop_oneof![
        "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?",
        "[1-9]?[0-9]{0,4}[0-9]",
        sample::select(vec![
            "1e400",
            "-0.0",
            "812.4",
            "1.0",
            "18446744073709551616"
        ])
        .prop_map(Into::into),
    ]
    .prop_filter("no leading zero", |number| {
        serde_json::from_str::<&serde_json::value::RawValue>(number).is_ok()
    })
}

/// A string with its quotes: plain text, and every kind of escape.
pub(crate) fn string() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        "[ -~é漢🙂\u{2028}&&[^\"\\\\]]{0,12}",
        sample::select(vec![
            r#"\""#,
            r"\\",
            r"\/",
            r"\b",
            r"\f",
            r"\n",
            r"\r",
            r"\t",
            r"\u0000",
            r"\u0041",
            r"\ud83d",
            r"\uDE00",
            r"\ud83d\ude00",
            r"\uFFFD",
            r"\u000a",
            r"\\u0041",
        ])
        .prop_map(Into::into),
    ];
    collection::vec(piece, 0..5).prop_map(|pieces| format!("\"{}\"", pieces.concat()))
}

pub(crate) fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        sample::select(vec!["null", "true", "false", "{}", "[ ]"]).prop_map(Into::into),
        number(),
        string(),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        let inner = (space(), inner, space())
            .prop_map(|(a, value, b)| format!("{a}{value}{b}"))
            .boxed();
        prop_oneof![
            collection::vec(inner.clone(), 0..6)
                .prop_map(|values| format!("[{}]", values.join(","))),
            collection::vec((space(), string(), space(), inner), 0..6).prop_map(|members| {
                let members: Vec<_> = members
                    .into_iter()
                    .map(|(a, name, b, value)| format!("{a}{name}{b}:{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
        ]
    })
}

/// A name, some of its characters escaped.
pub(crate) fn name(name: &'static str) -> impl Strategy<Value = String> {
    collection::vec(prop::bool::weighted(0.1), name.len()).prop_map(move |escaped| {
        let chars = name.chars().zip(escaped).map(|(char, escaped)| {
            if escaped {
                format!("\\u{:04x}", u32::from(char))
            } else {
                char.to_string()
            }
        });
        format!("\"{}\"", chars.collect::<String>())
    })
}

/// The members of an object in any order, with any white space, and unknown members
/// whose names are all different.
pub(crate) fn object(known: Vec<Pair>) -> impl Strategy<Value = String> {
    let unknown = collection::vec(value(), 0..3).prop_map(|values| {
        let named = values.into_iter().enumerate();
        named
            .map(|(index, value)| (format!("\"x\\u002{index}\""), value))
            .collect::<Vec<_>>()
    });
    (known, unknown)
        .prop_map(|(known, unknown)| [known, unknown].concat())
        .prop_shuffle()
        .prop_flat_map(|members| {
            let spaces = collection::vec(space(), members.len() * 4 + 2);
            (Just(members), spaces)
        })
        .prop_map(|(members, spaces)| {
            let mut spaces = spaces.into_iter();
            let mut space = || spaces.next().unwrap_or_default();
            let members: Vec<_> = members
                .into_iter()
                .map(|(name, value)| {
                    format!("{}{name}{}:{}{value}{}", space(), space(), space(), space())
                })
                .collect();
            format!("{}{{{}}}{}", space(), members.join(","), space())
        })
}

pub(crate) fn member(known: &'static str, value: impl Strategy<Value = String> + 'static) -> Pair {
    (name(known), value).boxed()
}

fn quoted(word: &'static str) -> BoxedStrategy<String> {
    name(word).boxed()
}

fn boolean() -> BoxedStrategy<String> {
    sample::select(vec!["true", "false"])
        .prop_map(Into::into)
        .boxed()
}

fn whole() -> impl Strategy<Value = String> {
    any::<u64>().prop_map(|number| number.to_string())
}

/// A right event of any core type.
pub(crate) fn core_event() -> BoxedStrategy<String> {
    let types: Vec<(&str, Vec<Pair>)> = vec![
        ("text", vec![member("delta", string())]),
        ("thinking", vec![member("delta", string())]),
        (
            "tool_started",
            vec![
                member("id", string()),
                member("name", string()),
                member("args", value()),
            ],
        ),
        (
            "tool_ended",
            vec![
                member("id", string()),
                member("isError", boolean()),
                member("content", value()),
            ],
        ),
        (
            "retrying",
            vec![
                member("attempt", number()),
                member("maxAttempts", number()),
                member("delayMs", number()),
                member("reason", string()),
            ],
        ),
        ("completed", vec![]),
        ("completed", vec![member("data", value())]),
        (
            "failed",
            vec![member("details", string()), member("retryable", boolean())],
        ),
        (
            "failed",
            vec![
                member("details", string()),
                member("retryable", boolean()),
                member("code", string()),
                member("retryAfterMs", value()),
            ],
        ),
        (
            "usage",
            vec![
                member("id", string()),
                member("model", string()),
                member("input", whole()),
                member("cacheRead", whole()),
                member("final", boolean()),
                member(
                    "cost",
                    object(vec![
                        member("amount", "\"[0-9]{1,20}\\.[0-9]{1,20}\""),
                        member("currency", string()),
                    ]),
                ),
            ],
        ),
    ];
    let events = types.into_iter().map(|(type_name, mut members)| {
        members.push(member("type", quoted(type_name)));
        object(members).boxed()
    });
    prop::strategy::Union::new(events).boxed()
}

/// An event of a type that nobody knows, or of a known one with whatever members.
pub(crate) fn other_event() -> impl Strategy<Value = (bool, String)> {
    let unknown = object(vec![
        member("type", quoted("x_probe")),
        member("delta", value()),
        member("id", value()),
    ]);
    let wild = sample::select(vec![
        "text",
        "thinking",
        "tool_started",
        "tool_ended",
        "retrying",
        "usage",
        "completed",
        "failed",
    ])
    .prop_flat_map(|type_name| {
        object(vec![
            member("type", quoted(type_name)),
            member("delta", value()),
            member("id", value()),
            member("isError", value()),
            member("retryable", value()),
            member("details", value()),
            member("code", value()),
            member("cost", value()),
            member("input", value()),
        ])
    });
    prop_oneof![
        unknown.prop_map(|text| (true, text)),
        wild.prop_map(|text| (false, text)),
    ]
}
