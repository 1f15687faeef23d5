//! What must not be said is not said, however it is cut (B14, O-B10, T79 to T84, T110).

mod support;

use std::time::Duration;

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    AgentEvent, AgentExt, Completed, Failure, FailureCode, Json, Retrying, Text, collect,
};
use portcullis_layers::{
    conform::ConformLayer,
    guard::{Action, Channel, Denied, GuardLayer, Look, Matcher, Rules, Unknown},
};
use proptest::{collection::vec, prelude::*, sample::select};
use regex::Regex;
use tower::Layer;

use support::*;

fn guard(rules: Rules) -> GuardLayer {
    GuardLayer::new(rules).expect("a guard")
}

fn hide() -> Rules {
    Rules::new().regex("secret", Action::text("#"))
}

fn json(text: &str) -> Json {
    Json::from_text(text).unwrap()
}

async fn through(layer: &GuardLayer, part: Vec<Do>) -> Vec<AgentEvent> {
    events(&layer.layer(actor(part))).await
}

/// Runs a turn to its end, without a clock.
fn run(layer: &GuardLayer, part: Vec<Do>) -> Vec<AgentEvent> {
    futures_util::FutureExt::now_or_never(tokio::task::unconstrained(async {
        let mut turn = Box::pin(ask(&layer.layer(actor(part))));
        let mut events = Vec::new();
        loop {
            match turn.next().now_or_never() {
                Some(Some(event)) => events.push(event),
                Some(None) => return events,
                // It lets others run.
                None => {}
            }
        }
    }))
    .expect("it never waits")
}

fn joined(events: &[AgentEvent]) -> String {
    let texts = events.iter().filter_map(|event| match event {
        AgentEvent::Text(text) => Some(text.delta()),
        _ => None,
    });
    texts.collect()
}

/// The text in pieces of these lengths, in characters, over and over.
fn pieces(text: &str, lengths: &[usize]) -> Vec<String> {
    let mut chars = text.chars();
    let mut lengths = lengths.iter().cycle();
    let mut pieces = Vec::new();
    while !chars.as_str().is_empty() {
        let length = *lengths.next().expect("it has one");
        pieces.push(chars.by_ref().take(length).collect());
    }
    pieces
}

fn said_in(text: &str, lengths: &[usize]) -> Vec<Do> {
    let pieces = pieces(text, lengths);
    let part = pieces.into_iter().map(|piece| say(&piece));
    part.chain([done()]).collect()
}

/// What the crate `regex` makes of the whole text. The first rule wins at a place.
fn masked_whole(rules: &[Regex], text: &str) -> String {
    let (mut out, mut at) = (String::new(), 0);
    while at < text.len() {
        let found = rules.iter().enumerate().find_map(|(rule, regex)| {
            let found = regex.find_at(text, at)?;
            (found.start() == at).then(|| (rule, found.end()))
        });
        match (found, text[at..].chars().next()) {
            (Some((rule, end)), _) => {
                out.push_str(&format!("<{rule}>"));
                at = end;
            }
            (None, Some(char)) => {
                out.push(char);
                at += char.len_utf8();
            }
            (None, None) => unreachable!(),
        }
    }
    out
}

fn guarded(patterns: &[String]) -> Option<GuardLayer> {
    let rules = patterns
        .iter()
        .enumerate()
        .fold(Rules::new(), |rules, (number, pattern)| {
            rules.regex(pattern, Action::text(format!("<{number}>")))
        });
    GuardLayer::new(rules).ok()
}

fn pattern() -> impl Strategy<Value = String> {
    let atom = select(vec![
        "a",
        "b",
        "é",
        "0",
        "ab",
        "a é",
        r"\d",
        r"\w",
        ".",
        "[ab]",
        "[^a]",
        "(?i:B)",
        r"(?s:.)",
        r"\s",
        r"\b",
        r"\B",
        "^",
        "$",
        "(?m:^)",
        "(?m:$)",
        "(?mR:$)",
        "(?mR:^)",
        r"\A",
        r"\z",
        r"(?-u:\b)",
        r"\b{start}",
        r"\b{end}",
        r"\b{start-half}",
        r"\b{end-half}",
    ])
    .prop_map(str::to_owned);
    atom.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 2..4).prop_map(|parts| parts.concat()),
            vec(inner.clone(), 2..4).prop_map(|parts| format!("(?:{})", parts.join("|"))),
            (inner, 0_usize..3, 1_usize..4, select(vec!["", "?"])).prop_map(
                |(part, min, more, lazy)| format!("(?:{part}){{{min},{}}}{lazy}", min + more)
            ),
        ]
    })
}

fn text() -> impl Strategy<Value = String> {
    let chars = select(vec![
        'a', 'a', 'b', 'b', 'é', '0', ' ', 'B', '\n', '\r', '😀',
    ]);
    vec(chars, 0..40).prop_map(String::from_iter)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// The output equals masking the joined text, for every split.
    #[test]
    fn equals_masking_the_joined_text(
        patterns in vec(pattern(), 1..4), text in text(), lengths in vec(1_usize..6, 1..6),
    ) {
        // One without a bound, or that matches the empty text, is refused.
        let mut patterns = patterns;
        patterns.retain(|pattern| guarded(std::slice::from_ref(pattern)).is_some());
        patterns.push("a.".to_owned());
        let layer = guarded(&patterns).expect("each of them is one");
        let regexes: Vec<_> = patterns.iter().map(|pattern| Regex::new(pattern).unwrap()).collect();
        let events = run(&layer, said_in(&text, &lengths));
        prop_assert_eq!(joined(&events), masked_whole(&regexes, &text), "{:?}", patterns);
        prop_assert_eq!(events.last(), Some(&AgentEvent::completed()));
    }

    /// What is cut off by a bound of the user is the same for every split.
    #[test]
    fn a_bound_does_not_depend_on_the_split(
        bound in 3_usize..9, text in text(), lengths in vec(1_usize..6, 1..6),
        pattern in select(vec![r"a.+0", r"[ab]{2,}", r"(?s)a.*?b\b", r"aé*\b", r"(?s)b.+\z", r"\w{2,}$"]),
    ) {
        let layer = guard(Rules::new().regex_within(pattern, bound, Action::chars('#')));
        let whole = run(&layer, said_in(&text, &[1000]));
        prop_assert_eq!(joined(&run(&layer, said_in(&text, &lengths))), joined(&whole));
        prop_assert_eq!(joined(&whole).chars().count(), text.chars().count());
    }

    /// Other events keep their places, and no secret leaves whole.
    #[test]
    fn other_events_keep_their_order(
        steps in vec(select(vec!["s", "e", "secr", "et", "secret", "cret ", "x", "!", "?"]), 0..40),
    ) {
        let part = steps.iter().enumerate().map(|(at, step)| match *step {
            "!" => used(&at.to_string(), 1, 1),
            "?" => Do::Say(AgentEvent::thinking("hm")),
            text => say(text),
        });
        let events = run(&guard(hide()), part.chain([done()]).collect());
        prop_assert!(!joined(&events).contains("secret"));
        let others = |events: &[AgentEvent]| -> Vec<AgentEvent> {
            let others = events.iter().filter(|event| !matches!(event, AgentEvent::Text(_)));
            others.cloned().collect()
        };
        // Each of them comes behind all text that came before it, and before what came after.
        let mut before = String::new();
        let mut expected = Vec::new();
        for (at, step) in steps.iter().enumerate() {
            match *step {
                "!" => expected.push(AgentEvent::from(portcullis::Usage::new(at.to_string()).with_input(1).with_output(1))),
                "?" => expected.push(AgentEvent::thinking("hm")),
                text => { before.push_str(text); continue; }
            }
        }
        expected.push(AgentEvent::completed());
        prop_assert_eq!(others(&events), expected);
        if !before.contains("secret") {
            prop_assert_eq!(joined(&events), before);
            // And each comes right between the texts around it.
            let places = |texts: &mut dyn Iterator<Item = Option<usize>>| -> Vec<usize> {
                let mut shown = 0;
                texts.filter_map(|text| match text {
                    Some(length) => { shown += length; None }
                    None => Some(shown),
                }).collect()
            };
            let said = places(&mut steps.iter().map(|step| match *step { "!" | "?" => None, text => Some(text.len()) }).chain([None]));
            let got = places(&mut events.iter().map(|event| match event { AgentEvent::Text(text) => Some(text.delta().len()), _ => None }));
            prop_assert_eq!(got, said);
        }
    }

    /// A matcher of somebody else, too.
    #[test]
    fn matchers_do_not_depend_on_the_split(text in text(), lengths in vec(1_usize..6, 1..6)) {
        let layer = guard(Rules::new().matcher(Doubled, Action::text("#")));
        let expected = Regex::new("aa|bb|éé").unwrap().replace_all(&text, "#").into_owned();
        prop_assert_eq!(joined(&run(&layer, said_in(&text, &lengths))), expected);
    }

    /// Not even one that looks at all that it is shown.
    #[test]
    fn matchers_see_so_much_only(text in "[ab]{0,30}", lengths in vec(1_usize..6, 1..6)) {
        let layer = guard(Rules::new().matcher(Runs, Action::text("#")));
        let whole = run(&layer, said_in(&text, &[1000]));
        prop_assert_eq!(joined(&run(&layer, said_in(&text, &lengths))), joined(&whole));
    }

    /// Strings of JSON are masked by what they mean; everything around them keeps its text.
    #[test]
    fn json_is_masked_by_meaning(value in value(), escapes in vec(any::<bool>(), 1..20)) {
        let mut escape = escapes.iter().copied().cycle();
        let text = encode(&value, &mut || escape.next().unwrap());
        let part = vec![Do::Say(Completed::with_data(json(&text)).into())];
        let rules = Rules::new().regex("ab|é.", Action::text("\"\\\n"));
        let events = run(&guard(rules), part);
        let [AgentEvent::Completed(completed)] = &*events else { panic!("{events:?}") };
        let got = completed.data().unwrap();
        let masked = mask(&value);
        prop_assert_eq!(got.decode::<serde_json::Value>().unwrap(), masked.clone());
        if masked == value {
            prop_assert_eq!(got.as_str(), text);
        }
    }
}

/// A run of the same letter, however long: it says less than it finds.
struct Runs;

impl Matcher for Runs {
    fn longest(&self) -> usize {
        3
    }

    fn look(&self, text: &str, at: usize, more: bool) -> Look {
        let run = text[at..].bytes().take_while(|byte| *byte == b'a').count();
        match run {
            0 => Look::No,
            _ if at + run == text.len() && more => Look::More,
            run => Look::Match(at + run),
        }
    }
}

/// Two of the same letter.
struct Doubled;

impl Matcher for Doubled {
    fn longest(&self) -> usize {
        4
    }

    fn look(&self, text: &str, at: usize, more: bool) -> Look {
        let mut chars = text[at..].chars();
        match (chars.next(), chars.next()) {
            (Some(one), Some(other)) if one == other && "abé".contains(one) => {
                Look::Match(at + 2 * one.len_utf8())
            }
            (Some(_), None) if more => Look::More,
            _ => Look::No,
        }
    }
}

fn value() -> impl Strategy<Value = serde_json::Value> {
    let chars = select(vec![
        'a', 'b', 'é', '😀', '"', '\\', '\n', '\u{1}', '{', ':',
    ]);
    let string = vec(chars, 0..8).prop_map(String::from_iter);
    let leaf = prop_oneof![
        string.prop_map(serde_json::Value::from),
        any::<i32>().prop_map(serde_json::Value::from),
        Just(serde_json::Value::Null),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(serde_json::Value::from),
            proptest::collection::hash_map("[xy:\"]{1,3}", inner, 0..4)
                .prop_map(|members| serde_json::Value::Object(members.into_iter().collect())),
        ]
    })
}

fn encode(value: &serde_json::Value, escape: &mut impl FnMut() -> bool) -> String {
    let mut string = |text: &str| {
        let mut out = String::from("\"");
        for char in text.chars() {
            if escape() || char < ' ' || "\"\\".contains(char) {
                for unit in char.encode_utf16(&mut [0; 2]) {
                    out.push_str(&format!("\\u{unit:04X}"));
                }
            } else {
                out.push(char);
            }
        }
        out + "\""
    };
    match value {
        serde_json::Value::String(text) => string(text),
        serde_json::Value::Array(values) => {
            let values: Vec<_> = values.iter().map(|value| encode(value, escape)).collect();
            format!("[{} ]", values.join(", "))
        }
        serde_json::Value::Object(members) => {
            let members: Vec<_> = members
                .iter()
                .map(|(name, value)| {
                    let name = encode(&serde_json::Value::from(&**name), escape);
                    format!("{name} :{}", encode(value, escape))
                })
                .collect();
            format!("{{{}}}", members.join(" ,"))
        }
        other => other.to_string(),
    }
}

fn mask(value: &serde_json::Value) -> serde_json::Value {
    match value {
        serde_json::Value::String(text) => Regex::new("ab|é.")
            .unwrap()
            .replace_all(text, "\"\\\n")
            .into_owned()
            .into(),
        serde_json::Value::Array(values) => values.iter().map(mask).collect(),
        serde_json::Value::Object(members) => serde_json::Value::Object(
            members
                .iter()
                .map(|(name, value)| (name.clone(), mask(value)))
                .collect(),
        ),
        other => other.clone(),
    }
}

#[tokio::test(start_paused = true)]
async fn text_leaves_at_once_unless_it_may_match() {
    let agent = guard(hide()).layer(actor([
        say("plain "),
        say("a sec"),
        Do::Yield,
        say("ond "),
        say("the secr"),
        say("et!"),
        say("s"),
        say("ecret"),
        say("."),
        done(),
    ]));
    let texts: Vec<_> = events(&agent)
        .await
        .into_iter()
        .filter_map(|event| match event {
            AgentEvent::Text(text) => Some(text.into_delta()),
            _ => None,
        })
        .collect();
    assert_eq!(texts, ["plain ", "a ", "second ", "the ", "#!", "#", "."]);
}

#[tokio::test(start_paused = true)]
async fn every_typed_channel() {
    let part = || {
        vec![
            Do::Say(AgentEvent::thinking("a sec")),
            Do::Say(AgentEvent::thinking("ret")),
            say("sec"),
            say("ret"),
            Do::Say(AgentEvent::tool_started(
                "1",
                "look",
                json(r#"{"secret": ["s\u0065cret", 1.0]}"#),
            )),
            Do::Say(AgentEvent::tool_ended("1", false, json(r#""a secret""#))),
            Do::Say(Retrying::new(1, 2, secs(1), "secret").into()),
            Do::Say(AgentEvent::from_json(r#"{"type":"x","secret":{"a":"secret"}}"#).unwrap()),
            Do::Say(Completed::with_data(json(r#"["secret"]"#)).into()),
        ]
    };
    let expected = [
        r#"{"type":"thinking","delta":"a "}"#,
        r##"{"type":"thinking","delta":"#"}"##,
        r##"{"type":"text","delta":"#"}"##,
        r##"{"type":"tool_started","id":"1","name":"look","args":{"#": ["#", 1.0]}}"##,
        r##"{"type":"tool_ended","id":"1","isError":false,"content":"a #"}"##,
        r##"{"type":"retrying","attempt":1,"maxAttempts":2,"delayMs":1000,"reason":"#"}"##,
        r##"{"type":"x","#":{"a":"#"}}"##,
        r##"{"type":"completed","data":["#"]}"##,
    ];
    let masked = through(&guard(hide()), part()).await;
    let masked: Vec<_> = masked.iter().map(AgentEvent::to_json).collect();
    assert_eq!(masked, expected);
    let failed = through(&guard(hide()), vec![fail("no secret", true)]).await;
    assert_eq!(failed, [Failure::new("no #").retryable(true).into()]);

    // And each of them alone is switched off.
    for (channel, place) in [
        (Channel::Thinking, 0),
        (Channel::Text, 2),
        (Channel::ToolArgs, 3),
        (Channel::ToolResults, 4),
        (Channel::Reason, 5),
        (Channel::Data, 7),
    ] {
        let seen = through(&guard(hide().without(channel)), part()).await;
        let kept: Vec<_> = seen
            .iter()
            .filter(|event| event.type_name() == masked_type(expected[place]))
            .map(AgentEvent::to_json)
            .collect();
        assert!(kept.concat().contains("ret"), "{channel:?}: {kept:?}");
        let others = seen.len() - kept.len();
        let clean = seen
            .iter()
            .filter(|event| event.type_name() != masked_type(expected[place]))
            .filter(|event| !event.to_json().contains("ret\""))
            .count();
        assert_eq!(clean, others, "{channel:?}");
    }
    let details = guard(hide().without(Channel::Details));
    assert_eq!(
        through(&details, vec![fail("secret", false)]).await,
        [Failure::new("secret").into()]
    );
}

fn masked_type(json: &str) -> String {
    AgentEvent::from_json(json).unwrap().type_name().to_owned()
}

/// O-B10: what holds no match keeps its tokens; an event cannot become another one.
#[tokio::test(start_paused = true)]
async fn unknown_events() {
    let event = |json: &str| AgentEvent::from_json(json).unwrap();
    let plain = r#"{"n": 1e400 ,"type":"x\u0031","t":["\u00e9\/"]}"#;
    let leaky = r#"{"\u0073ecret": 1.0, "type":"secret","b":"\ud83d secret","secret2":"\n"}"#;
    let part = || vec![Do::Say(event(plain)), Do::Say(event(leaky)), done()];
    let scanned = through(&guard(hide()), part()).await;
    assert_eq!(scanned[0].to_json(), plain);
    let expected = "{\"#\": 1.0, \"type\":\"secret\",\"b\":\"\u{fffd} #\",\"#2#2\":\"\\n\"}";
    assert_eq!(scanned[1].to_json(), expected);

    let forwarded = through(&guard(hide().unknown(Unknown::Forward)), part()).await;
    assert_eq!(forwarded, said(&part()));
    let blocked = through(&guard(Rules::new().unknown(Unknown::Block)), part()).await;
    assert_eq!(types(&blocked), "completed");

    // A name that is masked into one that is there stops the turn.
    let clash = event(r##"{"type":"x","#":1,"secret":2}"##);
    let seen = through(&guard(hide()), vec![Do::Say(clash), done()]).await;
    assert!(failure(&seen).is(&FailureCode::PERMISSION_DENIED));
}

#[tokio::test(start_paused = true)]
async fn unknown_members_of_known_events() {
    let text = AgentEvent::from_json(
        r#"{"type":"text","delta":"sec","n":1.0,"note":["secret"],"secret":2}"#,
    )
    .unwrap();
    let part = || vec![Do::Say(text.clone()), say("ret"), done()];
    let seen = through(&guard(hide()), part()).await;
    let seen: Vec<_> = seen.iter().map(AgentEvent::to_json).collect();
    assert_eq!(
        seen[..2],
        [
            r##"{"type":"text","delta":"","n":1.0,"note":["#"],"#":2}"##,
            r##"{"type":"text","delta":"#"}"##,
        ]
    );
    let usage = AgentEvent::from_json(r#"{"type":"usage","id":"1","by":"secret"}"#).unwrap();
    let seen = through(&guard(hide()), vec![Do::Say(usage), done()]).await;
    assert_eq!(seen[0].to_json(), r##"{"type":"usage","id":"1","by":"#"}"##);
    let blocked = through(&guard(hide().unknown(Unknown::Block)), part()).await;
    assert_eq!(joined(&blocked), "#");
    assert!(!blocked[0].to_json().contains("note"));
    let forwarded = through(&guard(hide().unknown(Unknown::Forward)), part()).await;
    assert!(forwarded[0].to_json().contains(r#""secret":2"#));
}

#[tokio::test(start_paused = true)]
async fn a_stop_delivers_what_was_safe_and_drops_the_agent() {
    let rules = || Rules::new().regex("secret", Action::stop());
    let stopped = Failure::with_code(FailureCode::PERMISSION_DENIED, "the guard stopped the turn");
    let agent = actor([say("safe sec"), say("ret rest"), Do::Hang]);
    let seen = events(&guard(rules()).layer(agent.clone())).await;
    assert_eq!(joined(&seen), "safe ");
    assert_eq!(failure(&seen), &stopped);
    assert_eq!(agent.seen.alive(), 0);

    for last in [
        Do::Say(AgentEvent::thinking("secret")),
        Do::Say(AgentEvent::tool_started("1", "t", json(r#""secret""#))),
        Do::Say(AgentEvent::tool_ended("1", true, json(r#"{"secret":1}"#))),
        Do::Say(Completed::with_data(json(r#""secret""#)).into()),
        Do::Say(Retrying::new(1, 2, secs(1), "secret").into()),
        Do::Say(AgentEvent::from_json(r#"{"type":"x","a":"secret"}"#).unwrap()),
        Do::Say(AgentEvent::from_json(r#"{"type":"text","delta":"","a":"secret"}"#).unwrap()),
        fail("secret", false),
    ] {
        let seen = through(&guard(rules()), vec![say("a s"), last, done()]).await;
        assert_eq!(joined(&seen), "a s", "{seen:?}");
        assert_eq!(failure(&seen), &stopped);
    }
}

#[tokio::test(start_paused = true)]
async fn actions() {
    let rules = Rules::new()
        .regex("é{1,3}x", Action::chars('*'))
        .regex_within(
            "[0-9]+",
            9,
            Action::replace(|digits| format!("<{}>", digits.len())),
        )
        .regex("b", Action::text(""));
    let seen = through(&guard(rules), said_in("aééx-1234b5", &[2])).await;
    assert_eq!(joined(&seen), "a***-<4><1>");
}

/// T82, T110: the tool is not shown, and the agent is gone.
#[tokio::test(start_paused = true)]
async fn tools() {
    let start = |name: &str| Do::Say(AgentEvent::tool_started("1", name, Json::null()));
    let lists = || {
        Rules::new()
            .allow_tools(["read", "mcp__*"])
            .deny_tools(["mcp__rm"])
    };
    for (tool, allowed) in [
        ("read", true),
        ("mcp__ls", true),
        ("mcp__rm", false),
        ("write", false),
    ] {
        let agent = actor([say("a"), start(tool), done()]);
        let seen = events(&guard(lists()).layer(agent)).await;
        if allowed {
            assert_eq!(types(&seen), "text tool_started completed", "{tool}");
        } else {
            assert_eq!(types(&seen), "text failed", "{tool}");
            assert!(failure(&seen).is(&FailureCode::PERMISSION_DENIED));
        }
    }
    let marked = guard(lists().denied(Denied::Mark));
    let seen = through(&marked, vec![start("write"), start("read"), done()]).await;
    assert!(seen[0].to_json().ends_with(r#","denied":true}"#));
    assert!(!seen[1].to_json().contains("denied"));
    let none = guard(Rules::new().allow_tools([""; 0]));
    assert_eq!(
        types(&through(&none, vec![start("read"), done()]).await),
        "failed"
    );
}

/// T80: a guard cannot be inert by mistake.
#[test]
fn configurations_that_make_no_sense() {
    let stop = Action::stop;
    let every = || hide().only([]);
    for (rules, says) in [
        (Rules::new(), "would do nothing"),
        (Rules::new().deny_tools([""; 0]), "would do nothing"),
        (every().unknown(Unknown::Forward), "no channel"),
        (
            every().unknown(Unknown::Block).deny_tools(["x"]),
            "no channel",
        ),
        (
            Rules::new().deny_tools(["x"]).max_hold(secs(1)),
            "hold time",
        ),
        (hide().only([Channel::Data]).max_hold(secs(1)), "hold time"),
        (Rules::new().regex("a+", stop()), "any length"),
        (Rules::new().regex("a*", stop()), "empty text"),
        (Rules::new().regex(r"\b", stop()), "empty text"),
        (Rules::new().regex("[a&&b]", stop()), "never match"),
        (
            Rules::new().regex("hush(", stop()),
            "cannot be read: unclosed group",
        ),
        (Rules::new().regex("a{70000}", stop()), "65536"),
        (Rules::new().regex_within("abc", 2, stop()), "as short"),
        (Rules::new().regex_within("a+", 70_000, stop()), "65536"),
        (Rules::new().matcher(Longest(0), stop()), "never match"),
        (Rules::new().matcher(Longest(65_537), stop()), "65536"),
        (
            (0..65).fold(Rules::new(), |rules, _| rules.regex("a", stop())),
            "64 rules",
        ),
    ] {
        let error = GuardLayer::new(rules).expect_err(says).to_string();
        assert!(error.contains(says), "{error}");
        assert!(!error.contains("hush"), "a pattern may be a secret");
    }
    for rules in [
        every(),
        Rules::new().unknown(Unknown::Block),
        Rules::new().deny_tools(["x"]),
        Rules::new().matcher(Longest(65_536), stop()),
    ] {
        assert!(GuardLayer::new(rules).is_ok());
    }
    let layer = guard(Rules::new().regex("hush", Action::text("hush")));
    assert!(!format!("{layer:?} {:?}", hide()).contains("hush"));
}

struct Longest(usize);

impl Matcher for Longest {
    fn longest(&self) -> usize {
        self.0
    }

    fn look(&self, _: &str, _: usize, _: bool) -> Look {
        Look::No
    }
}

/// A matcher that answers nonsense cannot break the text.
#[test]
fn a_matcher_with_bugs() {
    struct Wrong(usize);
    impl Matcher for Wrong {
        fn longest(&self) -> usize {
            3
        }
        fn look(&self, text: &str, at: usize, _: bool) -> Look {
            match self.0 {
                0 => Look::Match(0),
                1 => Look::Match(usize::MAX),
                2 => Look::Match(at + 1),
                _ if text.len() > at => Look::More,
                _ => Look::No,
            }
        }
    }
    for bug in 0..4 {
        let layer = guard(Rules::new().matcher(Wrong(bug), Action::chars('#')));
        let text = joined(&run(&layer, said_in("é😀ab", &[1])));
        assert_eq!(text.chars().count(), 4, "{bug}: {text}");
        assert_eq!(text.contains('#'), bug < 3);
    }
}

#[tokio::test(start_paused = true)]
async fn the_clock_lets_go_and_still_sees_the_rest() {
    let part = || vec![say("sec"), Do::Wait(secs(5)), say("ret"), done()];
    let patient = through(&guard(hide()), part()).await;
    assert_eq!(joined(&patient), "#");

    let agent = guard(hide().max_hold(secs(2))).layer(actor(part()));
    let begun = tokio::time::Instant::now();
    let mut turn = Box::pin(ask(&agent));
    assert_eq!(turn.next().await, Some(AgentEvent::text("sec")));
    assert_eq!(begun.elapsed(), secs(2));
    assert_eq!(turn.next().await, Some(AgentEvent::text("#")));
    assert_eq!(begun.elapsed(), secs(5));
    assert_eq!(turn.next().await, Some(AgentEvent::completed()));

    let stops = Rules::new()
        .regex("secret", Action::stop())
        .max_hold(secs(2));
    let seen = through(&guard(stops), part()).await;
    assert_eq!(types(&seen), "text failed");
    // A silence that ends in time lets nothing go.
    let part = vec![
        say("se"),
        Do::Wait(Duration::from_millis(1500)),
        say("cr"),
        Do::Wait(Duration::from_millis(1500)),
        say("et"),
        done(),
    ];
    assert_eq!(
        joined(&through(&guard(hide().max_hold(secs(2))), part).await),
        "#"
    );
    // A match that is complete but for what is behind it is masked when it leaves.
    let word = Rules::new()
        .regex(r"secret\b", Action::text("#"))
        .max_hold(secs(2));
    let seen = through(
        &guard(word),
        vec![say("secret"), Do::Wait(secs(9)), say("x"), done()],
    )
    .await;
    assert_eq!(joined(&seen), "#x");
}

/// What is held back leaves before an end, and is lost with one that nobody tells.
#[tokio::test(start_paused = true)]
async fn every_end() {
    let held = |last: Vec<Do>| [vec![say("a sec")], last].concat();
    let layer = guard(hide());
    let seen = through(&layer, held(vec![done()])).await;
    assert_eq!(
        (&*joined(&seen), &*types(&seen)),
        ("a sec", "text text completed")
    );
    let seen = through(&layer, held(vec![fail("no", false)])).await;
    assert_eq!(
        (&*joined(&seen), &*types(&seen)),
        ("a sec", "text text failed")
    );
    let seen = through(&layer, held(vec![])).await;
    assert_eq!((&*joined(&seen), &*types(&seen)), ("a ", "text"));
    let seen = to_its_end(&layer.layer(actor(held(vec![Do::Panic])))).await;
    assert_eq!((&*joined(&seen), &*types(&seen)), ("a ", "text"));
    // A bare end and a panic that were repaired below.
    for end in [vec![], vec![Do::Panic]] {
        let seen = events(&layer.layer(ConformLayer::new().layer(actor(held(end))))).await;
        assert_eq!(
            (&*joined(&seen), &*types(&seen)),
            ("a sec", "text text failed")
        );
    }
    for (_, part) in five_ends() {
        let agent = actor(part);
        to_its_end(&layer.layer(agent.clone())).await;
        assert_eq!(agent.seen.alive(), 0);
    }
    assert_drops(everything(), |actor| layer.layer(actor), || true).await;
}

#[tokio::test(start_paused = true)]
async fn hands_on_what_is_harmless() {
    let rules = hide().regex("zzz", Action::stop()).secrets(&Action::stop());
    let layer = guard(rules.max_hold(secs(60)));
    assert_transparent(|actor| layer.layer(actor)).await;
}

#[tokio::test(start_paused = true)]
async fn two_guards() {
    let inner = guard(Rules::new().regex("abc", Action::text("xy")));
    let outer = guard(Rules::new().regex("xyz", Action::text("#")));
    for lengths in [[1, 1], [2, 3], [9, 9]] {
        let agent = outer.layer(inner.layer(actor(said_in("-abcz-ab", &lengths))));
        assert_eq!(joined(&events(&agent).await), "-#-ab");
    }
}

#[tokio::test(start_paused = true)]
async fn common_secrets() {
    let layer = guard(Rules::new().secrets(&Action::text("#")));
    let long = "Ab0".repeat(20);
    let pem = format!(
        "-----BEGIN RSA PRIVATE KEY-----\n{}\n-----END RSA PRIVATE KEY-----",
        vec!["MIIEow+/=".repeat(7); 40].join("\n")
    );
    for secret in [
        "AKIAIOSFODNN7EXAMPLE",
        &format!("ghp_{long}"),
        &format!("github_pat_{long}"),
        "xoxb-123456789012-abcdefABCDEF",
        &format!("sk-ant-api03-{long}"),
        &format!("sk_live_{long}"),
        &format!("Bearer {long}=="),
        &format!("eyJ{long}.eyJ{long}.{long}"),
        &pem,
        &pem.replace('\n', "\r\n"),
    ] {
        let seen = through(&layer, said_in(&format!("a {secret}. b"), &[7])).await;
        assert!(joined(&seen).starts_with("a #"), "{secret}");
        assert!(joined(&seen).ends_with(" b"), "{secret}");
        assert!(joined(&seen).len() < 8, "{secret}: {}", joined(&seen));
    }
    let plain = "A bearer of news, task-force sk-lined, eyJ, -----BEGIN CERTIFICATE-----, ghp_no";
    assert_eq!(joined(&through(&layer, said_in(plain, &[3])).await), plain);
}

/// No more is held back than the longest match and four bytes.
#[test]
fn memory_is_bounded() {
    let layer = guard(Rules::new().regex_within("a[^b]*b", 100, Action::text("#")));
    let mut turn = Box::pin(ask(
        &layer.layer(actor((0..10_000).map(|_| say("a")).chain([Do::Hang])))
    ));
    let (mut shown, mut pending) = (0, 0);
    while pending < 1_000 {
        match turn.next().now_or_never() {
            Some(Some(AgentEvent::Text(text))) => shown += text.delta().len(),
            Some(other) => panic!("{other:?}"),
            None => pending += 1,
        }
    }
    assert!((10_000 - 104..10_000).contains(&shown), "{shown}");
}

/// The last piece may be empty, and an empty one is no end.
#[tokio::test(start_paused = true)]
async fn empty_pieces() {
    let part = vec![say(""), say("sec"), say(""), say("ret"), say(""), done()];
    assert_eq!(joined(&through(&guard(hide()), part.clone()).await), "#");
    let agent = guard(hide()).layer(actor(part)).boxed();
    let answer = collect(agent.invoke(portcullis::Scope::new("s"), portcullis::Prompt::text("p")));
    assert_eq!(answer.await.unwrap().text, "#");
    let plain = vec![Do::Say(Text::new("").into()), done()];
    assert_eq!(
        types(&through(&guard(hide()), plain).await),
        "text completed"
    );
}
