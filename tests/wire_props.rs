//! Properties of the lossless JSON over arbitrary texts.

use proptest::{collection, prelude::*, sample};

#[path = "../fuzz/src/wire.rs"]
mod wire;

use wire::{Fate, check, tokens};

/// Makes a name and a value.
type Pair = BoxedStrategy<(String, String)>;

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
fn string() -> impl Strategy<Value = String> {
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

fn value() -> impl Strategy<Value = String> {
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
fn name(name: &'static str) -> impl Strategy<Value = String> {
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
fn object(known: Vec<Pair>) -> impl Strategy<Value = String> {
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

fn member(known: &'static str, value: impl Strategy<Value = String> + 'static) -> Pair {
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
fn core_event() -> BoxedStrategy<String> {
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
fn other_event() -> impl Strategy<Value = (bool, String)> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_core_event_keeps_its_tokens(text in core_event()) {
        prop_assert_eq!(check(text.as_bytes()), Fate::Core);
    }

    #[test]
    fn any_other_event_keeps_its_tokens_or_is_refused((unknown, text) in other_event()) {
        let fate = check(text.as_bytes());
        if unknown {
            prop_assert_eq!(fate, Fate::Extension);
        }
    }

    #[test]
    fn a_prompt_keeps_its_tokens(text in object(vec![
        member("text", string()),
        member("images", collection::vec(
            object(vec![member("mimeType", string()), member("data", string())]), 0..3,
        ).prop_map(|images| format!("[{}]", images.join(",")))),
    ])) {
        check(text.as_bytes());
        prop_assert!(portcullis::Prompt::from_json(&text).is_ok());
    }

    #[test]
    fn a_scope_keeps_its_tokens(text in object(vec![
        member("session", string()),
        member("source", string()),
        member("constraints", object(vec![member("deadlineMs", (0..1_u64 << 40).prop_map(|ms| ms.to_string()))])),
        member("outputSchema", value()),
        member("principal", value()),
    ])) {
        check(text.as_bytes());
        prop_assert!(portcullis::Scope::from_json(&text).is_ok());
    }

    /// A member of an event again, its name written in another way.
    #[test]
    fn a_repeated_name_is_refused(
        text in core_event(), escaped in name("type"), value in value(), front in any::<bool>(),
    ) {
        let event = text.trim();
        let twice = if front {
            format!("{{{escaped}:{value},{}", &event[1..])
        } else {
            format!("{},{escaped}:{value}}}", &event[..event.len() - 1])
        };
        prop_assert_eq!(check(twice.as_bytes()), Fate::Refused);
    }

    /// Anywhere in an envelope, with what somebody else's serde does around it.
    #[test]
    fn an_event_nests(text in core_event(), seq in any::<u64>()) {
        let event = portcullis::AgentEvent::from_json(&text).expect("an event");
        let envelope = format!("[{{\"{seq}\":[{text}]}}]");
        let read: Vec<std::collections::BTreeMap<String, Vec<portcullis::AgentEvent>>> =
            serde_json::from_str(&envelope).expect("an envelope");
        prop_assert_eq!(&read[0][&seq.to_string()][0], &event);
        let written = serde_json::to_string(&read).expect("JSON");
        prop_assert_eq!(written, format!("[{{\"{seq}\":[{}]}}]", event.to_json()));
    }

    #[test]
    fn a_value_keeps_its_tokens(text in value()) {
        let json = portcullis::Json::from_text(text.as_str()).expect("JSON");
        prop_assert_eq!(tokens(json.as_str()), tokens(&text));
        prop_assert!(!json.as_str().contains(['\r', '\n']));
    }

    /// Some bytes of a right event are replaced, cut or doubled: never a panic, and
    /// never another verdict than the independent one.
    #[test]
    fn a_damaged_event_is_judged_right(
        text in prop_oneof![core_event(), other_event().prop_map(|(_, text)| text)],
        at in any::<sample::Index>(),
        len in 0..4_usize,
        with in prop_oneof![
            collection::vec(any::<u8>(), 0..3),
            sample::select(vec!["\"", "\\", "{", "}", "[", "]", ",", ":", "0", "-", "e", ".", "\\u", "\n", "\0", " "])
                .prop_map(|text| text.as_bytes().to_vec()),
        ],
    ) {
        let mut bytes = text.into_bytes();
        let at = at.index(bytes.len());
        let end = (at + len).min(bytes.len());
        bytes.splice(at..end, with);
        check(&bytes);
    }

    #[test]
    fn any_bytes_are_judged_right(bytes in collection::vec(any::<u8>(), 0..64)) {
        check(&bytes);
    }
}
