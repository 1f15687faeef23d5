//! The lossless JSON of the contract, rule by rule (`docs/rules.md`, "Lossless").

use std::{
    error::Error,
    time::{Duration, Instant},
};

use portcullis::{
    AgentEvent, Completed, Cost, DecodeError, Extra, Failure, FailureCode, ImageRef, InsertError,
    Json, Prompt, Retrying, Scope, Text, ToolEnded, ToolStarted, Usage, UsageSource,
};
use serde::{Deserialize, Serialize};

fn read(text: &str) -> AgentEvent {
    AgentEvent::from_json(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn refused(text: &str) -> String {
    AgentEvent::from_json(text)
        .expect_err("the text is refused")
        .to_string()
}

fn relayed(text: &str) -> String {
    read(text).to_json()
}

fn json(text: &str) -> Json {
    Json::from_text(text).expect("JSON")
}

/// An event of every core type as the seed writes it, and what it stands for.
#[test]
fn each_core_type_reads_and_writes_in_the_order_of_the_seed() {
    let table: [(&str, AgentEvent); 11] = [
        (r#"{"type":"text","delta":"hi"}"#, AgentEvent::text("hi")),
        (
            r#"{"type":"thinking","delta":"hm"}"#,
            AgentEvent::thinking("hm"),
        ),
        (
            r#"{"type":"tool_started","id":"1","name":"sum","args":{"a": 1.50}}"#,
            ToolStarted::new("1", "sum", json(r#"{"a": 1.50}"#)).into(),
        ),
        (
            r#"{"type":"tool_ended","id":"1","isError":false,"content":[null]}"#,
            ToolEnded::new("1", false, json("[null]")).into(),
        ),
        (
            r#"{"type":"retrying","attempt":1,"maxAttempts":3,"delayMs":250,"reason":"429"}"#,
            Retrying::new(1, 3, Duration::from_millis(250), "429").into(),
        ),
        (r#"{"type":"completed"}"#, AgentEvent::completed()),
        (
            r#"{"type":"completed","data":{"n":1}}"#,
            Completed::with_data(json(r#"{"n":1}"#)).into(),
        ),
        (
            r#"{"type":"failed","details":"no","retryable":false}"#,
            Failure::new("no").into(),
        ),
        (
            r#"{"type":"failed","details":"busy","retryable":true,"code":"overloaded","retryAfterMs":1500}"#,
            Failure::with_code(FailureCode::OVERLOADED, "busy")
                .retryable(true)
                .retry_after(Duration::from_millis(1500))
                .into(),
        ),
        (r#"{"type":"usage","id":"1"}"#, Usage::new("1").into()),
        (
            r#"{"type":"usage","id":"1","provider":"p","model":"m","input":0,"output":2,"cacheRead":3,"cacheWrite":4,"reasoning":5,"total":18446744073709551615,"cost":{"amount":"0.0125","currency":"EUR"},"source":"provider","final":true}"#,
            Usage::new("1")
                .with_provider("p")
                .with_model("m")
                .with_input(0)
                .with_output(2)
                .with_cache_read(3)
                .with_cache_write(4)
                .with_reasoning(5)
                .with_total(u64::MAX)
                .with_cost(Cost::new("0.0125", "EUR").expect("decimal"))
                .with_source(UsageSource::Provider)
                .with_final(true)
                .into(),
        ),
    ];
    for (text, event) in table {
        assert_eq!(read(text), event, "{text}");
        assert_eq!(event.to_json(), text);
        let mut line = b"data: ".to_vec();
        event.write_json(&mut line);
        assert_eq!(line, [b"data: ", text.as_bytes()].concat());
        assert_eq!(
            AgentEvent::from_slice(text.as_bytes()).expect("JSON"),
            event
        );
    }
}

/// MUST 5, O-B10, O-W05: what we do not know passes byte for byte.
#[test]
fn an_unknown_event_keeps_its_tokens() {
    for text in [
        r#"{"type":"citation","n":123456789012345678901234567890,"x":1e400,"y":1.10,"z":-0.0}"#,
        r#"{"\u0074ype":"c\u0069te","caf\u00e9":"\/\ud83d","b":{"b":1,"b":2}}"#,
        r#"{ "a" : [ 1 ,2 ] ,  "type" : "spaced" }"#,
        "{\"a\":\t1,\"type\":\"tabs\"}",
        r#"{"type":"","":null}"#,
    ] {
        assert_eq!(relayed(text), text);
    }
    assert_eq!(
        read(r#"{"type":"c\u0069te"}"#).type_name(),
        "cite",
        "the name is unescaped, the text is not"
    );
}

/// An event has to fit one line of SSE or JSON lines.
#[test]
fn line_breaks_between_tokens_go_and_those_in_strings_stay() {
    let pretty =
        "\r\n{\n  \"type\" : \"x\", \r\n\t\"a\":[1,\r 2 ,\n\n3], \"s\": \"\\n \\r\\u000a\"\n}\n";
    let line = r#"{"type" : "x","a":[1,2 ,3], "s": "\n \r\u000a"}"#;
    assert_eq!(relayed(pretty), line);

    let tool = "{\"type\":\"tool_started\",\"id\":\"1\",\"name\":\"n\",\"args\":{\n\"a\": 1\n},\"x\":[\r\n]}";
    assert_eq!(
        relayed(tool),
        r#"{"type":"tool_started","id":"1","name":"n","args":{"a": 1},"x":[]}"#
    );
    assert_eq!(json("[1,\n 2]").as_str(), "[1,2]");
    assert_eq!(
        AgentEvent::text("a\r\nb").to_json(),
        r#"{"type":"text","delta":"a\r\nb"}"#
    );
}

#[test]
fn unknown_members_follow_the_known_ones_in_their_own_order() {
    assert_eq!(
        relayed(r#"{"z":1.0,"type":"text","a":[ 1e2 ],"delta":"x","\u0062":null}"#),
        r#"{"type":"text","delta":"x","z":1.0,"a":[ 1e2 ],"\u0062":null}"#
    );
    for known in [
        r#"{"type":"thinking","delta":""#,
        r#"{"type":"tool_started","id":"1","name":"n","args":{}"#,
        r#"{"type":"tool_ended","id":"1","isError":true,"content":0"#,
        r#"{"type":"retrying","attempt":1,"maxAttempts":3,"delayMs":812.4,"reason":"""#,
        r#"{"type":"usage","id":"1","cost":{"amount":"1","currency":"EUR","rate":1.10}"#,
        r#"{"type":"completed""#,
        r#"{"type":"completed","data":null"#,
        r#"{"type":"failed","details":"","retryable":false,"code":"x""#,
    ] {
        let known = if known.ends_with(r#""delta":""#) {
            format!("{known}\"")
        } else {
            known.to_owned()
        };
        let text = format!(r#"{known},"b":1e400,"a":null}}"#);
        assert_eq!(relayed(&text), text);
    }
}

/// Critique A3: JavaScript has one number type and its engines emit fractions here.
#[test]
fn the_numbers_of_retrying_keep_their_text() {
    let text =
        r#"{"type":"retrying","attempt":1.0,"maxAttempts":1e400,"delayMs":812.4,"reason":"r"}"#;
    assert_eq!(relayed(text), text);
    let AgentEvent::Retrying(retrying) = read(text) else {
        panic!("a core type")
    };
    assert_eq!(retrying.attempt(), 1.0);
    assert_eq!(retrying.max_attempts(), f64::INFINITY);
    assert_eq!(retrying.delay_ms(), 812.4);
}

/// O-B11 for JSON: null is a value.
#[test]
fn null_is_not_absent() {
    let AgentEvent::Completed(with) = read(r#"{"type":"completed","data":null}"#) else {
        panic!("a core type")
    };
    assert_eq!(with.data(), Some(&Json::null()));
    let AgentEvent::Completed(without) = read(r#"{"type":"completed"}"#) else {
        panic!("a core type")
    };
    assert_eq!(without.data(), None);
    assert_ne!(with, without);
    assert!(
        refused(r#"{"type":"failed","details":"","retryable":true,"code":null}"#)
            .ends_with("expected a string, found null")
    );
}

/// Ruling 4: for the seed's seven types a wrong member is an error, never an extension: a
/// malformed `failed` must not turn into something that is not terminal.
#[test]
fn a_known_type_with_a_missing_or_wrong_member_is_an_error() {
    let table: [(&str, &[(&str, &str)]); 6] = [
        ("text", &[("delta", "\"\"")]),
        ("thinking", &[("delta", "\"\"")]),
        (
            "tool_started",
            &[("id", "\"\""), ("name", "\"\""), ("args", "null")],
        ),
        (
            "tool_ended",
            &[("id", "\"\""), ("isError", "true"), ("content", "null")],
        ),
        (
            "retrying",
            &[
                ("attempt", "1"),
                ("maxAttempts", "1"),
                ("delayMs", "1"),
                ("reason", "\"\""),
            ],
        ),
        ("failed", &[("details", "\"\""), ("retryable", "false")]),
    ];
    let build = |type_name: &str, members: &[(&str, &str)]| {
        let mut text = format!("{{\"type\":\"{type_name}\"");
        for (name, value) in members {
            text.push_str(&format!(",\"{name}\":{value}"));
        }
        text + "}"
    };
    for (type_name, members) in table {
        read(&build(type_name, members));
        for (index, (name, right)) in members.iter().enumerate() {
            let mut without = members.to_vec();
            without.remove(index);
            let error = AgentEvent::from_json(&build(type_name, &without)).unwrap_err();
            assert_eq!(error.member(), Some(*name));
            assert_eq!(
                error.to_string(),
                format!(
                    "{type_name} event, member `{name}`: expected a value, found no such member"
                )
            );
            if matches!(*name, "args" | "content") {
                continue;
            }
            for wrong in ["\"\"", "1", "true", "null", "[]", "{}"] {
                let kind = |value: &str| value.as_bytes()[0];
                if kind(wrong) == kind(right) || (*right == "false" && wrong == "true") {
                    continue;
                }
                let mut with = members.to_vec();
                with[index].1 = wrong;
                let text = build(type_name, &with);
                let error = AgentEvent::from_json(&text).unwrap_err();
                assert_eq!(error.member(), Some(*name), "{text}");
                let at = error.offset().expect("an offset");
                assert!(text[at..].starts_with(wrong), "{error} in {text}");
            }
        }
    }
}

#[test]
fn the_type_must_be_there_and_be_a_string() {
    assert_eq!(
        refused("{}"),
        "event, member `type`: expected a value, found no such member"
    );
    for wrong in ["null", "1", "[\"text\"]", "{}", "true"] {
        assert!(refused(&format!("{{\"type\":{wrong}}}")).starts_with("event, member `type`"));
    }
    for no_object in ["[]", "\"text\"", "1", "null", "", " ", "\u{feff}{}"] {
        assert!(
            refused(no_object).contains("expected an object"),
            "{no_object}"
        );
    }
    assert!(AgentEvent::from_slice(b"{\"type\":\"\xff\"}").is_err());
}

/// Ruling 6, critique B5: readers disagree on which of two members counts.
#[test]
fn a_name_that_occurs_twice_is_an_error() {
    for text in [
        r#"{"type":"x","type":"completed"}"#,
        r#"{"type":"x","\u0074ype":"completed"}"#,
        r#"{"type":"x","t\u0079pe":"completed","a":1}"#,
        r#"{"type":"text","delta":"a","d\u0065lta":"b"}"#,
        r#"{"type":"x","a":1,"a":1}"#,
        r#"{"type":"x","é":1,"\u00e9":1}"#,
        r#"{"type":"x","😀":1,"\ud83d\ude00":1}"#,
        r#"{"type":"x","\ud83d":1,"\uD83D":1}"#,
        r#"{"type":"usage","id":"1","id":"1"}"#,
        r#"{"type":"usage","id":"1","n":1,"cost":{},"cost":{}}"#,
    ] {
        assert!(refused(text).ends_with("expected each name once, found the same name again"));
    }
    // Beyond the members that are kept in place, too.
    let many: Vec<_> = (0..40).map(|n| format!("\"m{n}\":{n}")).collect();
    let many = many.join(",");
    relayed(&format!("{{\"type\":\"x\",{many}}}"));
    refused(&format!("{{\"type\":\"x\",{many},\"\\u006d3\":0}}"));
    // Two lone surrogates are two names to every reader that takes them.
    let two = r#"{"type":"x","\ud83d":1,"\ud83e":1,"\ufffd":1}"#;
    assert_eq!(relayed(two), two);
    // Names are compared whole: these are others.
    let others =
        r#"{"type":"text","delta":""," type":1,"type ":2,"Type":3,"typ":4,"delta\u0000":5}"#;
    assert_eq!(relayed(others), others);
    refused(r#"{" type":"x"}"#);
    // Below the top, nobody asks us.
    let below = r#"{"type":"text","delta":"","x":{"a":1,"a":2}}"#;
    assert_eq!(relayed(below), below);
}

/// O-W12, ruling 7: an event counts from its own root.
#[test]
fn nesting_is_bounded_at_128() {
    let arrays = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
    let objects = |depth: usize| "{\"a\":".repeat(depth) + "0" + &"}".repeat(depth);
    for nest in [&arrays as &dyn Fn(usize) -> String, &objects] {
        for around in [
            r#"{"type":"x","a":"#,
            r#"{"type":"text","delta":"","a":"#,
            r#"{"type":"completed","data":"#,
        ] {
            let event = |depth: usize| format!("{around}{}}}", nest(depth - 1));
            assert_eq!(relayed(&event(128)), event(128));
            for depth in [129, 100_000] {
                let error = refused(&event(depth));
                assert!(error.ends_with("expected at most 128 levels of nesting, found more"));
            }
        }
        assert!(Json::from_text(nest(128)).is_ok());
        assert!(Json::from_text(nest(129)).is_err());
        assert!(Json::from_text(nest(100_000)).is_err());
    }
    assert!(AgentEvent::from_json(&"{\"a\":".repeat(100_000)).is_err());
    assert!(Prompt::from_json(&format!("{{\"text\":\"\",\"a\":{}}}", arrays(128))).is_err());
    assert!(Scope::from_json(&format!("{{\"session\":\"\",\"a\":{}}}", arrays(128))).is_err());
}

/// The one loss: a stream from JavaScript must not die of a split emoji.
#[test]
fn a_lone_surrogate_becomes_the_replacement_character() {
    for (escaped, text) in [
        (r"\ud83d", "\u{fffd}"),
        (r"a\ude00b", "a\u{fffd}b"),
        (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
        (r"\ud83dA", "\u{fffd}A"),
        (r"\ud83d\n", "\u{fffd}\n"),
        (r"\ud83d\u0041", "\u{fffd}A"),
        (r"\uD83D\uDE00", "😀"),
        (
            r#"\"\\\/\b\f\n\r\t\u0000\u003c"#,
            "\"\\/\u{8}\u{c}\n\r\t\0<",
        ),
        (r"\\u003c", r"\u003c"),
    ] {
        let event = format!(r#"{{"type":"text","delta":"{escaped}"}}"#);
        assert_eq!(read(&event), AgentEvent::text(text));
    }
    // What stays raw loses nothing.
    let raw = r#"{"type":"completed","data":"\ud83d","a\ud83d":"\ude00"}"#;
    assert_eq!(relayed(raw), raw);
}

/// O-W11: text is equal character by character, and is not escaped more than JSON demands.
#[test]
fn text_is_written_as_it_is() {
    let delta = "<b>&\"'</b> é 漢 🙂 \\u003c \u{7f}\u{2028}";
    let event = AgentEvent::text(delta);
    assert_eq!(read(&event.to_json()), event);
    assert_eq!(
        event.to_json(),
        "{\"type\":\"text\",\"delta\":\"<b>&\\\"'</b> é 漢 🙂 \\\\u003c \u{7f}\u{2028}\"}"
    );
    let controls: String = (0..0x20).map(char::from).collect();
    let event = AgentEvent::text(controls);
    assert_eq!(read(&event.to_json()), event);
    assert!(!event.to_json().contains(char::is_control));
}

#[test]
fn what_is_no_json_is_refused() {
    for text in [
        r#"{"type":"x"#,
        r#"{"type":"x","#,
        r#"{"type":"x",}"#,
        r#"{"type":"x"} {}"#,
        r#"{"type":"x"}x"#,
        r#"{"type":"x" "a":1}"#,
        r#"{"type" "x"}"#,
        r#"{type:"x"}"#,
        r#"{'type':"x"}"#,
        r#"{"type":"x","a":01}"#,
        r#"{"type":"x","a":1.}"#,
        r#"{"type":"x","a":.5}"#,
        r#"{"type":"x","a":+1}"#,
        r#"{"type":"x","a":-}"#,
        r#"{"type":"x","a":1e}"#,
        r#"{"type":"x","a":0x10}"#,
        r#"{"type":"x","a":NaN}"#,
        r#"{"type":"x","a":Infinity}"#,
        r#"{"type":"x","a":nul}"#,
        r#"{"type":"x","a":True}"#,
        r#"{"type":"x","a":[1,]}"#,
        r#"{"type":"x","a":[1 2]}"#,
        r#"{"type":"x","a":[}"#,
        r#"{"type":"x","a":{]}"#,
        r#"{"type":"x","a":{"b"}}"#,
        r#"{"type":"x","a":"\x41"}"#,
        r#"{"type":"x","a":"\u00g0"}"#,
        r#"{"type":"x","a":"\u00"}"#,
        "{\"type\":\"x\",\"a\":\"\n\"}",
        "{\"type\":\"x\",\"a\":\"\t\"}",
        "{\"type\":\"x\",\"a\":\"\0\"}",
        "{\"type\":\"x\",\u{a0}\"a\":1}",
        "{\"type\":\"x\"}\u{c}",
        "/* */{\"type\":\"x\"}",
    ] {
        assert!(
            serde_json::from_str::<serde_json::Value>(text).is_err(),
            "{text}"
        );
        refused(text);
    }
    assert_eq!(
        refused(r#"{"type":"x",é}"#),
        "event, byte 12: expected the name of a member, found `é`"
    );
}

/// A hint is an addition of ours, so what others mean by the name passes.
#[test]
fn a_retry_hint_that_is_no_whole_number_is_an_unknown_member() {
    for hint in [
        "812.4",
        "-1",
        "\"5\"",
        "null",
        "1e3",
        "99999999999999999999",
    ] {
        let text = format!(
            r#"{{"type":"failed","details":"","retryable":true,"a":1,"retryAfterMs":{hint}}}"#
        );
        assert_eq!(relayed(&text), text);
        let AgentEvent::Failed(mut failure) = read(&text) else {
            panic!("a core type")
        };
        assert_eq!(failure.after(), None);
        // Setting the known member must not make a second one.
        failure.set_retry_after(Some(Duration::from_millis(7)));
        assert_eq!(
            AgentEvent::from(failure).to_json(),
            r#"{"type":"failed","details":"","retryable":true,"retryAfterMs":7,"a":1}"#
        );
    }
}

/// Ruling 4: somebody else's `usage` must still pass.
#[test]
fn a_usage_that_is_not_understood_stays_an_extension() {
    for text in [
        r#"{"type":"usage"}"#,
        r#"{"type":"usage","id":1}"#,
        r#"{"type":"usage","id":"1","input":1.0}"#,
        r#"{"type":"usage","id":"1","input":-1}"#,
        r#"{"type":"usage","id":"1","output":null}"#,
        r#"{"type":"usage","id":"1","total":18446744073709551616}"#,
        r#"{"type":"usage","id":"1","cost":0.5}"#,
        r#"{"type":"usage","id":"1","cost":{"amount":0.5,"currency":"EUR"}}"#,
        r#"{"type":"usage","id":"1","cost":{"amount":"1e3","currency":"EUR"}}"#,
        r#"{"type":"usage","id":"1","cost":{"amount":"1","currency":"EUR","amount":"2"}}"#,
        r#"{"type":"usage","prompt_tokens": 12}"#,
    ] {
        let AgentEvent::Extension(extension) = read(text) else {
            panic!("{text}")
        };
        assert_eq!(extension.type_name(), "usage");
        assert_eq!(extension.json().as_str(), text);
    }
}

#[test]
fn unknown_members_can_be_edited_but_never_shadow_a_known_one() {
    let mut text = Text::new("hi");
    assert_eq!(text.extra_mut().insert("b\n", &json("1")), Ok(None));
    assert_eq!(text.extra_mut().insert("a", &json("[2]")), Ok(None));
    assert_eq!(
        text.extra_mut().insert("b\n", &json("{}")),
        Ok(Some(json("1")))
    );
    assert_eq!(text.extra().get("a"), Some(json("[2]")));
    assert_eq!(text.extra().text("b\n"), Some("{}"));
    assert_eq!(text.extra().get("delta"), None);
    let names: Vec<_> = text.extra().iter().collect();
    assert_eq!(names, [("b\n".into(), "{}"), ("a".into(), "[2]")]);
    for name in ["type", "delta"] {
        assert_eq!(
            text.extra_mut().insert(name, &Json::null()),
            Err(InsertError::Known(name))
        );
    }
    assert_eq!(
        text.extra_mut()
            .insert("deep", &json(&("[".repeat(128) + &"]".repeat(128)))),
        Err(InsertError::TooDeep)
    );
    assert_eq!(
        AgentEvent::from(text.clone()).to_json(),
        r#"{"type":"text","delta":"hi","b\n":{},"a":[2]}"#
    );
    assert_eq!(text.extra_mut().remove("b\n"), Some(json("{}")));
    assert_eq!(text.extra_mut().remove("b\n"), None);
    assert_eq!(text.extra_mut().remove("a"), Some(json("[2]")));
    assert_eq!(text, Text::new("hi"));

    // Every other owner knows its own names.
    let known = |error: Result<_, _>| matches!(error, Err(InsertError::Known(_)));
    let null = Json::null();
    let mut failure = Failure::new("");
    for name in ["type", "details", "retryable", "code", "retryAfterMs"] {
        assert!(known(failure.extra_mut().insert(name, &null)));
    }
    let mut usage = Usage::new("1");
    for name in ["type", "id", "cacheRead", "cacheWrite", "cost", "final"] {
        assert!(known(usage.extra_mut().insert(name, &null)));
    }
    assert!(known(Completed::new().extra_mut().insert("data", &null)));
    assert!(known(Prompt::text("").extra_mut().insert("images", &null)));
    assert!(known(
        ImageRef::new("", "").extra_mut().insert("mimeType", &null)
    ));
    let mut scope = Scope::new("");
    assert!(known(scope.extra_mut().insert("constraints", &null)));
    assert!(known(
        scope.constraints_extra_mut().insert("deadlineMs", &null)
    ));
    assert_eq!(Extra::new(), Extra::default());
}

#[derive(Serialize, Deserialize, Debug, PartialEq)]
struct Envelope {
    seq: u64,
    event: AgentEvent,
    prompt: Prompt,
    more: Vec<AgentEvent>,
}

/// Critique C3: record lines and envelopes nest an event.
#[test]
fn events_nest_in_other_types() {
    let unknown = r#"{"type":"x","n":1e400, "s":"\ud83d"}"#;
    let text = format!(
        r#"{{"seq":7,"event":{unknown},"prompt":{{"text":"q","k":1.0}},"more":[{{"type":"completed","data":null}},{unknown}]}}"#
    );
    let envelope: Envelope = serde_json::from_str(&text).expect("an envelope");
    assert_eq!(envelope.event, read(unknown));
    assert_eq!(serde_json::to_string(&envelope).expect("JSON"), text);
    let from_slice: Envelope = serde_json::from_slice(text.as_bytes()).expect("an envelope");
    let from_reader: Envelope = serde_json::from_reader(text.as_bytes()).expect("an envelope");
    assert_eq!((&from_slice, &from_reader), (&envelope, &envelope));

    // Its own depth is counted from its own root.
    let deep = format!(
        r#"{{"type":"x","a":{}{}}}"#,
        "[".repeat(127),
        "]".repeat(127)
    );
    let nested: Vec<Vec<AgentEvent>> =
        serde_json::from_str(&format!("[[{deep}]]")).expect("128 levels");
    assert_eq!(nested[0][0].to_json(), deep);

    let error = serde_json::from_str::<Vec<AgentEvent>>(r#"[{"type":"text"}]"#).unwrap_err();
    assert!(error.to_string().starts_with("text event, member `delta`"));
}

#[test]
fn a_prompt_keeps_what_it_does_not_know() {
    let text = r#"{"text":"see","images":[{"mimeType":"image/png","data":"AA==","alt":"a\u0062"},{"mimeType":"","data":""}],"k":[1e400],"a":null}"#;
    let prompt = Prompt::from_json(text).expect("a prompt");
    assert_eq!(prompt.to_json(), text);
    assert_eq!(prompt.as_text(), "see");
    assert_eq!(prompt.images().len(), 2);
    assert_eq!(prompt.images()[0].extra().text("alt"), Some(r#""a\u0062""#));
    let mut out = Vec::new();
    prompt.write_json(&mut out);
    assert_eq!(out, text.as_bytes());
    assert_eq!(Prompt::from("q").to_json(), r#"{"text":"q"}"#);
    assert_eq!(
        Prompt::from_json(r#"{"images":[ ],"text":"q"}"#).expect("a prompt"),
        Prompt::text("q")
    );
    for (wrong, says) in [
        ("{}", "prompt, member `text`: expected a value"),
        (r#"{"text":null}"#, "prompt, member `text`, byte 8"),
        (
            r#"{"text":"","images":null}"#,
            "prompt, member `images`, byte 20",
        ),
        (
            r#"{"text":"","images":{}}"#,
            "prompt, member `images`, byte 20",
        ),
        (
            r#"{"text":"","images":[ 1]}"#,
            "image of a prompt, member `images`, byte 22",
        ),
        (
            r#"{"text":"","images":[{"data":""}]}"#,
            "image of a prompt, member `mimeType`: ",
        ),
        (
            r#"{"text":"","images":[{"mimeType":"","data":"","data":""}]}"#,
            "image of a prompt, member `data`, byte 53: expected each name once",
        ),
        (
            r#"{"text":"","text":""}"#,
            "prompt, member `text`, byte 18: expected each name once",
        ),
    ] {
        let error = Prompt::from_json(wrong).unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
    }
}

#[test]
fn a_deadline_crosses_as_the_milliseconds_that_remain() {
    let now = Instant::now();
    let text = r#"{"session":"s","source":"cli","constraints":{"deadlineMs":1500,"region":"eu"},"outputSchema":{"type": "object"},"x":1.0}"#;
    let scope = Scope::from_json_at(text, now).expect("a scope");
    assert_eq!(scope.session(), "s");
    assert_eq!(scope.source(), Some("cli"));
    assert_eq!(scope.deadline(), Some(now + Duration::from_millis(1500)));
    assert_eq!(scope.output_schema(), Some(&json(r#"{"type": "object"}"#)));
    assert_eq!(scope.constraints_extra().text("region"), Some("\"eu\""));
    assert_eq!(scope.to_json_at(now), text);

    let later = now + Duration::from_micros(400_500);
    assert!(scope.to_json_at(later).contains(r#""deadlineMs":1099,"#));
    assert!(
        scope
            .to_json_at(now + Duration::from_secs(9))
            .contains(r#""deadlineMs":0,"#)
    );
    assert_eq!(Scope::new("s").to_json(), r#"{"session":"s"}"#);
    let kept = r#"{"session":"s","constraints":{"region":"eu"}}"#;
    assert_eq!(Scope::from_json(kept).expect("a scope").to_json(), kept);
    let nested: Vec<Scope> = serde_json::from_str(&format!("[{kept}]")).expect("scopes");
    assert_eq!(
        serde_json::to_string(&nested).expect("JSON"),
        format!("[{kept}]")
    );
}

#[test]
fn a_scope_that_is_wrong_or_out_of_bounds_is_refused() {
    let long = "s".repeat(Scope::MAX_NAME + 1);
    for (wrong, says) in [
        ("{}", "scope, member `session`: expected a value"),
        (r#"{"session":1}"#, "scope, member `session`, byte 11"),
        (
            r#"{"session":"","source":null}"#,
            "scope, member `source`, byte 23",
        ),
        (
            r#"{"session":"","constraints":null}"#,
            "scope constraints, member `constraints`, byte 28",
        ),
        (
            r#"{"session":"","constraints":{"deadlineMs":1.5}}"#,
            "scope constraints, member `deadlineMs`, byte 42: expected a whole number",
        ),
        (
            r#"{"session":"","constraints":{"deadlineMs":-1}}"#,
            "scope constraints, member `deadlineMs`, byte 42: expected a whole number",
        ),
        (
            r#"{"session":"","constraints":{"deadlineMs":1,"deadline\u004ds":2}}"#,
            "scope constraints, member `deadlineMs`, byte 62: expected each name once",
        ),
        (
            r#"{"session":"","\u0073ession":""}"#,
            "scope, member `session`, byte 29: expected each name once",
        ),
        (
            &format!(r#"{{"session":"{long}"}}"#),
            "scope, member `session`, byte 11: expected at most 1024 bytes",
        ),
        (
            &format!(r#"{{"session":"","source":"{long}"}}"#),
            "scope, member `source`, byte 23: expected at most 1024 bytes",
        ),
    ] {
        let error = Scope::from_json(wrong).unwrap_err().to_string();
        assert!(error.starts_with(says), "{error}");
    }
    let longest = format!(r#"{{"session":"{}"}}"#, &long[1..]);
    assert!(Scope::from_json(&longest).is_ok());
}

/// Critique B15: decoding a request body must not give anybody a name.
#[test]
fn a_wire_never_yields_a_principal() {
    let text = r#"{"session":"s","principal":{"kind":"user","issuer":"i","subject":"root"},"tenant":"t","grant":{"budget":1},"grants":[],"extensions":{},"usageSink":1}"#;
    let mut scope = Scope::from_json(text).expect("a scope");
    assert_eq!(scope.principal(), None);
    assert_eq!(scope.tenant(), None);
    assert!(scope.usage_sink().is_none());
    assert_eq!(scope.to_json(), text, "they pass as unknown members");
    let nested: Vec<Scope> = serde_json::from_str(&format!("[{text}]")).expect("scopes");
    assert_eq!((nested[0].principal(), nested[0].tenant()), (None, None));

    // And what code has set does not go out.
    scope = Scope::new("s").with_tenant("secret");
    scope.set_principal(Some(portcullis::Principal::new("user", "i", "secret")));
    assert_eq!(scope.to_json(), r#"{"session":"s"}"#);
}

#[test]
fn an_error_says_where_and_is_an_error() {
    let error: Box<dyn Error> = Box::new(
        AgentEvent::from_json(r#"{"type":"tool_ended","id":"1","isError":"no","content":1}"#)
            .unwrap_err(),
    );
    assert_eq!(
        error.to_string(),
        "tool_ended event, member `isError`, byte 40: expected true or false, found a string"
    );
    let error = error.downcast::<DecodeError>().expect("a decode error");
    assert_eq!(error.member(), Some("isError"));
    assert_eq!(error.offset(), Some(40));
    assert_eq!(error.expected(), "true or false");
    assert_eq!(error.found(), "a string");

    // A name that somebody else chose does not blow up the message.
    let long = "n".repeat(10_000);
    assert!(refused(&format!(r#"{{"type":"x","{long}":1,"{long}":1}}"#)).len() < 200);
}
