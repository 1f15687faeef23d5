//! Data that fits the schema that was asked for.

mod support;

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{
    Agent, AgentEvent, AgentExt, CollectAsError, CollectError, Completed, Emitter, Failure,
    FailureCode, ImageRef, Json, Prompt, Scope, UsageSink, UsageTally, agent_fn, collect,
    collect_as,
};
use portcullis_layers::structured::{
    InvalidSchema, JsonSchema, Repair, StructuredLayer, Validator, Violation,
};
use serde::Deserialize;
use tokio::time::Instant;
use tower::Layer;

use support::*;

fn json(text: &str) -> Json {
    Json::from_text(text).unwrap()
}

/// The schema that most tests ask for.
fn stars() -> Json {
    json(
        r#"{
            "type": "object",
            "required": ["stars"],
            "properties": {"stars": {"type": "integer", "minimum": 1, "maximum": 5}}
        }"#,
    )
}

fn data(text: &str) -> Do {
    Do::Say(Completed::with_data(json(text)).into())
}

async fn ask_for<A: Agent + Clone>(agent: &A, schema: Json) -> Vec<AgentEvent> {
    let scope = Scope::new("s").with_output_schema(schema);
    agent.invoke(scope, Prompt::text("how?")).collect().await
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything_where_nobody_asks_for_data() {
    assert_transparent(|actor| StructuredLayer::new().layer(actor)).await;
    assert_drops(
        everything(),
        |actor| StructuredLayer::new().layer(actor),
        || true,
    )
    .await;
    for (name, part) in five_ends() {
        let agent = StructuredLayer::new().layer(actor(part.clone()));
        assert_eq!(to_its_end(&agent).await, said(&part), "{name}");
    }
}

/// What fits comes as it was, each number with its text; the text comes in one piece, before the end.
#[tokio::test(start_paused = true)]
async fn what_fits_comes_as_it_was() {
    let number = json(r#"{"type":"object","properties":{"n":{"type":"number"}}}"#);
    for text in [
        r#"{"n":1e400}"#,
        r#"{"n":-1E+4000 ,"s":"1e999\" 9"}"#,
        r#"{"n":123456789012345678901234567890.50}"#,
        r#"{ "b" : 1 , "a":"\u0041" }"#,
    ] {
        let mut completed = Completed::with_data(json(text));
        completed.extra_mut().insert("x", &json("1.50")).unwrap();
        let last = AgentEvent::from(completed);
        let said = [
            say("a"),
            say("b"),
            Do::Say(unknown("u")),
            Do::Say(last.clone()),
        ];
        let got = ask_for(&StructuredLayer::new().layer(actor(said)), number.clone()).await;
        assert_eq!(got, [unknown("u"), AgentEvent::text("ab"), last]);
    }
    // What has members of its own stays by itself.
    let odd = AgentEvent::from_json(r#"{"type":"text","delta":"b","x":1}"#).unwrap();
    let said = [
        say("a"),
        say("a"),
        Do::Say(odd.clone()),
        say("c"),
        data("{}"),
    ];
    let got = ask_for(&StructuredLayer::new().layer(actor(said)), json("{}")).await;
    assert_eq!(
        got[..3],
        [AgentEvent::text("aa"), odd, AgentEvent::text("c")]
    );
    // 1e400 is a number, and larger than most; an integer of thirty digits is one.
    let schema = json(r#"{"type":"number","minimum":1e300,"maximum":1e500}"#);
    let agent = |text| StructuredLayer::new().repairs(0).layer(actor([data(text)]));
    assert_eq!(
        types(&ask_for(&agent("1e400"), schema.clone()).await),
        "completed"
    );
    assert_eq!(types(&ask_for(&agent("-1e400"), schema).await), "failed");
    let integer = json(r#"{"type":"integer"}"#);
    let big = agent("123456789012345678901234567890");
    assert_eq!(types(&ask_for(&big, integer).await), "completed");
}

/// A run whose data does not fit is repaired by a prompt that says what is wrong; its text is not shown, all else is.
#[tokio::test(start_paused = true)]
async fn what_does_not_fit_is_repaired() {
    let engine = actor([
        Do::Say(AgentEvent::thinking("hm")),
        say("I think three"),
        tool("t"),
        tool_ended("t"),
        Do::Say(unknown("u")),
        used("call", 1, 1),
        data(r#"{"stars":"3"}"#),
    ])
    .then([used("call", 2, 2), say("Three."), data(r#"{"stars":3}"#)]);
    let got = ask_for(&StructuredLayer::new().layer(engine.clone()), stars()).await;
    assert_eq!(
        types(&got),
        "thinking tool_started tool_ended u usage retrying usage text completed"
    );
    assert_eq!((engine.seen.calls(), engine.seen.alive()), (2, 0));
    let ids: Vec<_> = got
        .iter()
        .filter_map(|event| match event {
            AgentEvent::Usage(usage) => Some(usage.id()),
            _ => None,
        })
        .collect();
    assert_eq!(ids, ["call", "2/call"], "nobody's bill is overwritten");
    let AgentEvent::Retrying(retrying) = &got[5] else {
        panic!("{:?}", got[5]);
    };
    let numbers = (
        retrying.attempt(),
        retrying.max_attempts(),
        retrying.delay_ms(),
    );
    assert_eq!(numbers, (2.0, 3.0, 0.0));
    assert_eq!(got[7], AgentEvent::text("Three."));
    assert_eq!(
        engine.seen.last_scope().output_schema(),
        Some(&stars()),
        "the engine is told too"
    );
}

/// An agent that answers with what comes next, and keeps what it was asked.
fn answers(
    answers: &[&str],
) -> (
    impl Agent<Future: Send, Response: Send> + Clone + Send + Sync + use<>,
    Arc<Mutex<Vec<Prompt>>>,
) {
    let asked = Arc::<Mutex<Vec<Prompt>>>::default();
    let answers: Arc<Vec<Json>> = Arc::new(answers.iter().map(|it| json(it)).collect());
    let keeps = Arc::clone(&asked);
    let agent = agent_fn(move |_, prompt: Prompt, _: Emitter| {
        let mut asked = keeps.lock().unwrap();
        let answer = answers[asked.len().min(answers.len() - 1)].clone();
        asked.push(prompt);
        async move { Ok(answer) }
    });
    (agent, asked)
}

#[tokio::test(start_paused = true)]
async fn the_prompt_says_what_is_wrong() {
    let (engine, asked) = answers(&[r#"{"stars":9,"x":1}"#, "[1]", r#"{"stars":1}"#]);
    let agent = StructuredLayer::new().layer(engine.clone());
    let prompt = Prompt::text("How was it?").with_image(ImageRef::new("image/png", "QQ=="));
    let scope = Scope::new("s").with_output_schema(stars());
    let answer = collect(agent.invoke(scope.clone(), prompt.clone()))
        .await
        .unwrap();
    assert_eq!(answer.data, Some(json(r#"{"stars":1}"#)));
    {
        let asked = asked.lock().unwrap();
        assert_eq!(asked.len(), 3);
        assert_eq!(asked[0], prompt, "as it came");
        for (repair, answer) in [(&asked[1], r#"{"stars":9,"x":1}"#), (&asked[2], "[1]")] {
            let text = repair.as_text();
            assert!(text.starts_with("How was it?\n"), "{text}");
            assert!(
                text.contains(answer) && text.contains(stars().as_str()),
                "{text}"
            );
            assert_eq!(
                text.matches("How was it?").count(),
                1,
                "repairs do not pile up"
            );
            assert_eq!(repair.images(), prompt.images());
        }
        assert!(
            asked[1].as_text().contains("- /stars: "),
            "{}",
            asked[1].as_text()
        );
        assert!(
            asked[1].as_text().contains("maximum of 5"),
            "{}",
            asked[1].as_text()
        );
    }
    // Another one.
    let (engine, asked) = answers(&["[]", r#"{"stars":1}"#]);
    let layer = StructuredLayer::new().repair_prompt(|repair: &Repair<'_>| {
        let wrong = repair.violations()[0].to_string();
        format!("{} {:?} {wrong}", repair.prompt().as_text(), repair.data()).into()
    });
    collect(layer.layer(engine).invoke(scope, Prompt::text("p")))
        .await
        .unwrap();
    let asked = asked.lock().unwrap();
    assert!(
        asked[1].as_text().starts_with("p Some([]) "),
        "{:?}",
        asked[1]
    );
    assert!(
        asked[1].as_text().ends_with(r#"is not of type "object""#),
        "{:?}",
        asked[1]
    );
}

/// So many repairs and no more; what is wrong is told, and the text of no such run.
#[tokio::test(start_paused = true)]
async fn gives_up() {
    for repairs in [0, 1, 3] {
        let engine = actor([say("secret"), used("u", 1, 1), data(r#"{"stars":9}"#)]);
        let layer = StructuredLayer::new().repairs(repairs);
        let got = ask_for(&layer.layer(engine.clone()), stars()).await;
        assert_eq!(engine.seen.calls(), repairs as usize + 1);
        let announced = "usage retrying ".repeat(repairs as usize);
        assert_eq!(types(&got), format!("{announced}usage failed"));
        let failure = failure(&got);
        assert!(failure.is(&FailureCode::INVALID_OUTPUT) && !failure.is_retryable());
        assert!(failure.details().contains("/stars: "), "{failure}");
        assert_eq!(engine.seen.alive(), 0);
    }
    // No data, and null, which is some.
    let none = StructuredLayer::new()
        .repairs(0)
        .layer(actor([say("3"), done()]));
    let got = ask_for(&none, stars()).await;
    assert!(failure(&got).details().ends_with("there is no data"));
    let null = StructuredLayer::new()
        .repairs(0)
        .layer(actor([data("null")]));
    assert_eq!(
        types(&ask_for(&null, json(r#"{"type":"null"}"#)).await),
        "completed"
    );
    // What is wrong is told in bounds, whatever the engine made.
    let wrong: Vec<_> = (0..5_000)
        .map(|n| format!("\"{n}{}\"", "x".repeat(1_000)))
        .collect();
    let wrong = format!("[{}]", wrong.join(","));
    let engine = actor([data(&wrong)]);
    let got = ask_for(
        &StructuredLayer::new().repairs(0).layer(engine),
        json(r#"{"items":{"type":"integer"}}"#),
    )
    .await;
    assert!(failure(&got).details().len() < 16 * 350 + 100);
}

/// Nothing is repaired past the deadline.
#[tokio::test(start_paused = true)]
async fn not_after_the_deadline() {
    let engine = actor([Do::Wait(secs(5)), data("[]")]);
    let agent = StructuredLayer::new().layer(engine.clone());
    let scope = Scope::new("s")
        .with_output_schema(stars())
        .with_deadline((Instant::now() + secs(8)).into_std());
    let got: Vec<_> = agent.invoke(scope, Prompt::text("p")).collect().await;
    assert_eq!(types(&got), "retrying failed");
    assert_eq!(engine.seen.calls(), 2);
}

/// Runs that end otherwise end the turn, with the text that they had.
#[tokio::test(start_paused = true)]
async fn other_ends_are_left_alone() {
    let over = |part: Vec<Do>| StructuredLayer::new().layer(actor(part));
    let failed = ask_for(&over(vec![say("a"), fail("busy", true)]), stars()).await;
    assert_eq!(types(&failed), "text failed");
    assert_eq!(failure(&failed), &Failure::new("busy").retryable(true));
    let bare = ask_for(&over(vec![say("a")]), stars()).await;
    assert_eq!(types(&bare), "text");
    let panics = over(vec![say("a"), Do::Panic]);
    let panicked = std::panic::AssertUnwindSafe(ask_for(&panics, stars())).catch_unwind();
    assert!(panicked.await.is_err());
    // Also of a repair.
    let engine = actor([say("a"), data("[]")]).then([say("b"), fail("no", false)]);
    let failed = ask_for(&StructuredLayer::new().layer(engine), stars()).await;
    assert_eq!(types(&failed), "retrying text failed");
    assert_eq!(failed[1], AgentEvent::text("b"));
}

/// More text than may be held is no answer, and costs no more memory.
#[tokio::test(start_paused = true)]
async fn text_has_a_bound() {
    let part = std::iter::repeat_n(say("0123456789"), 100).chain([data("{}")]);
    let engine = actor(part);
    let layer = StructuredLayer::new().max_text(100);
    let got = ask_for(&layer.layer(engine.clone()), json("{}")).await;
    assert_eq!(types(&got), "failed");
    assert!(failure(&got).is(&FailureCode::INVALID_OUTPUT));
    assert_eq!((engine.seen.alive(), engine.seen.calls()), (0, 1));
    assert_eq!(engine.seen.polls(), 11, "it is dropped at once");
}

#[tokio::test(start_paused = true)]
async fn text_may_be_the_data() {
    let layer = StructuredLayer::new().text_as_data().repairs(1);
    let engine = || actor([say(" {\"sta"), say("rs\": 3.0}\n"), done()]);
    let got = ask_for(&layer.layer(engine()), stars()).await;
    assert_eq!(types(&got), "text completed");
    let AgentEvent::Completed(completed) = &got[1] else {
        panic!("{got:?}");
    };
    assert_eq!(completed.data(), Some(&json(r#"{"stars": 3.0}"#)));
    // Data that is there counts.
    let engine = actor([say("[]"), data(r#"{"stars":1}"#)]);
    assert_eq!(
        types(&ask_for(&layer.layer(engine), stars()).await),
        "text completed"
    );
    let engine = actor([say("Three stars!"), done()]);
    let got = ask_for(&layer.layer(engine), stars()).await;
    assert_eq!(types(&got), "retrying failed");
    assert!(
        failure(&got).details().contains("the text is no JSON"),
        "{got:?}"
    );
    // Only where somebody says so.
    let got = ask_for(
        &StructuredLayer::new()
            .repairs(0)
            .layer(self::engine_of_text()),
        stars(),
    )
    .await;
    assert_eq!(types(&got), "failed");
}

fn engine_of_text() -> Actor {
    actor([say(r#"{"stars":1}"#), done()])
}

/// Dropped in every state of a turn that is repaired: nothing is left, and what the engine reports in its drop has
/// the number of its run.
#[tokio::test(start_paused = true)]
async fn a_drop_is_a_drop_in_every_state() {
    for polls in 0..14 {
        let engine = actor([say("a"), Do::Yield, used("u", 1, 0), data("[]")])
            .then([say("b"), Do::Wait(secs(1)), data(r#"{"stars":1}"#)])
            .report_when_dropped(portcullis::Usage::new("late").with_output(1));
        let tally = Arc::<Mutex<UsageTally>>::default();
        let sink = Arc::clone(&tally);
        let mut scope = Scope::new("s").with_output_schema(stars());
        scope.add_usage_sink(UsageSink::new(move |usage| {
            sink.lock().unwrap().record(usage)
        }));
        let agent = StructuredLayer::new().layer(engine.clone());
        let mut turn = Box::pin(agent.invoke(scope, Prompt::text("p")));
        for _ in 0..polls {
            if turn.next().now_or_never().is_none() {
                tokio::time::advance(Duration::from_millis(400)).await;
            }
        }
        drop(turn);
        assert_eq!(engine.seen.alive(), 0, "dropped after {polls} polls");
        let calls = engine.seen.calls();
        assert_eq!(
            tally.lock().unwrap().records().len(),
            calls,
            "each run's own"
        );
    }
}

/// A schema that is none is the caller's fault, told where, and the agent is not called.
#[tokio::test(start_paused = true)]
async fn a_schema_that_is_none() {
    let deep = format!("{}true{}", r#"{"not":"#.repeat(100), "}".repeat(100));
    let long = format!(r#"{{"description":"{}"}}"#, "x".repeat(70_000));
    // Each of fourteen refers twice to the next.
    let doubling: Vec<_> = (0..14)
        .map(|n| {
            let next = format!(r##"{{"$ref":"#/$defs/{}"}}"##, n + 1);
            format!(r#""{n}":{{"allOf":[{next},{next}]}}"#)
        })
        .collect();
    let doubling = format!(
        r##"{{"$ref":"#/$defs/0","$defs":{{{},"14":true}}}}"##,
        doubling.join(",")
    );
    // The same by going round with the data.
    let tree = r##"{"anyOf":[{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"items":{"$ref":"#"}},{"items":{"$ref":"#"}}]}"##;
    let chain: Vec<_> = (0..100)
        .map(|n| format!(r##""{n}":{{"$ref":"#/$defs/{}"}}"##, n + 1))
        .collect();
    let chain = format!(
        r##"{{"$ref":"#/$defs/0","$defs":{{{},"100":true}}}}"##,
        chain.join(",")
    );
    for (schema, says) in [
        ("1", "a schema is an object or a boolean"),
        (r#"{"type":"strin"}"#, "/type: "),
        (
            r#"{"properties":{"a":{"minimum":"1"}}}"#,
            "/properties/a/minimum: ",
        ),
        (r#"{"pattern":"("}"#, "/pattern: "),
        // Not to be had in linear time.
        (r#"{"pattern":"(a)\\1"}"#, "/pattern: "),
        (
            r#"{"$ref":"https://example.com/schema.json"}"#,
            "example.com",
        ),
        (r#"{"$ref":"file:///etc/passwd"}"#, "passwd"),
        (r#"{"$schema":"https://example.com/meta"}"#, "example.com"),
        (r##"{"$ref":"#/$defs/none"}"##, "none"),
        (r##"{"$ref":"#"}"##, "a reference leads to itself"),
        (
            r##"{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/b"}]},"b":{"$ref":"#/%24defs/a"}},"$ref":"#/$defs/a"}"##,
            "a reference leads to itself",
        ),
        (
            r##"{"allOf":[{"$ref":"#x"}],"$defs":{"y":{"$anchor":"x","$ref":"#x"}}}"##,
            "a reference leads to itself",
        ),
        (&doubling, "the schema asks for too much work"),
        (tree, "the schema asks for too much work"),
        (&chain, "more than 32 schemas lie in each other"),
        (&deep, "deeper than 64"),
        (&long, "more than 65536 bytes"),
    ] {
        let engine = actor([data("1")]);
        let layer = StructuredLayer::new();
        let got = ask_for(&layer.layer(engine.clone()), json(schema)).await;
        assert_eq!(got.len(), 1, "{schema}");
        let failure = failure(&got);
        assert!(
            failure.is(&FailureCode::INVALID_PROMPT),
            "{schema}: {failure}"
        );
        assert!(!failure.is_retryable());
        let details = failure.details();
        assert!(
            details.starts_with("the output schema is not valid: "),
            "{details}"
        );
        assert!(details.contains(says), "{schema}: {details}");
        assert!(details.len() < 1_000);
        assert_eq!((engine.seen.calls(), layer.schemas()), (0, 0));
    }
}

/// What looks like it and is fine: circles that go down with the data, names that are keywords, anchors.
#[tokio::test(start_paused = true)]
async fn schemas_that_are_fine() {
    let list = r##"{"type":"object","properties":{"next":{"$ref":"#"},"$ref":{"type":"string"},"definitions":{"const":{"$ref":"#"}}}}"##;
    let anchor =
        r##"{"items":{"$ref":"#node"},"$defs":{"n":{"$anchor":"node","type":"integer"}}}"##;
    let draft4 = r#"{"$schema":"http://json-schema.org/draft-04/schema#","minimum":1,"exclusiveMinimum":true}"#;
    for (schema, fits, not) in [
        (
            list,
            r#"{"next":{"next":{"$ref":"x"}}}"#,
            r#"{"next":{"next":{"$ref":1}}}"#,
        ),
        (anchor, "[1,2]", r#"["1"]"#),
        (draft4, "2", "1"),
        ("true", "1", ""),
        ("false", "", "1"),
        (r##"{"enum":[{"$ref":"#"}]}"##, r##"{"$ref":"#"}"##, "1"),
        (
            r#"{"pattern":"^(a+)+$"}"#,
            r#""aaaa""#,
            r#""aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab""#,
        ),
        (r#"{"format":"email"}"#, r#""no email""#, ""),
    ] {
        for (text, ends) in [(fits, "completed"), (not, "failed")] {
            if !text.is_empty() {
                let agent = StructuredLayer::new().repairs(0).layer(actor([data(text)]));
                let got = ask_for(&agent, json(schema)).await;
                assert_eq!(types(&got), ends, "{schema} of {text}: {got:?}");
            }
        }
    }
}

/// The deepest schema over the deepest data stays within the stack of a thread.
#[test]
fn the_deepest_is_within_the_stack() {
    let chain: Vec<_> = (0..29)
        .map(|n| format!(r##""{n}":{{"allOf":[{{"$ref":"#/$defs/{}"}}]}}"##, n + 1))
        .collect();
    // Half of them are `allOf`.
    let chain: Vec<_> = chain.into_iter().take(14).collect();
    let schema = format!(
        r##"{{"$ref":"#/$defs/0","$defs":{{{},"14":{{"items":{{"$ref":"#/$defs/0"}}}}}}}}"##,
        chain.join(",")
    );
    let data = format!("{}{}", "[".repeat(127), "]".repeat(127));
    // What tokio gives a worker.
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let checked = thread.spawn(move || {
        let validator = JsonSchema::new();
        let compiled = validator.compile(&json(&schema)).expect("it is fine");
        validator.violations(&compiled, &json(&data)).len()
    });
    assert_eq!(checked.unwrap().join().expect("it has room"), 0);
}

/// Compiled once, kept up to a bound, and never mixed up.
#[tokio::test(start_paused = true)]
async fn schemas_are_compiled_once() {
    /// Fits what is equal to the schema.
    struct Equal(Arc<AtomicUsize>);

    impl Validator for Equal {
        type Schema = Json;

        fn compile(&self, schema: &Json) -> Result<Json, InvalidSchema> {
            self.0.fetch_add(1, Ordering::SeqCst);
            if *schema == Json::null() {
                return Err(InvalidSchema::new("", "null is nothing"));
            }
            Ok(schema.clone())
        }

        fn violations(&self, schema: &Json, data: &Json) -> Vec<Violation> {
            let wrong = (schema != data).then(|| Violation::new("", "is another one"));
            wrong.into_iter().collect()
        }
    }

    let compiled = Arc::<AtomicUsize>::default();
    let layer = StructuredLayer::with_validator(Equal(Arc::clone(&compiled)))
        .repairs(0)
        .max_schemas(3);
    let agent = layer.layer(actor([data("1")]));
    let mut ends = Vec::new();
    for schema in ["1", "2", "1", "3", "1", "4", "1", "2"] {
        ends.push(types(&ask_for(&agent, json(schema)).await));
    }
    let fits = ["completed", "failed"];
    assert_eq!(ends, [0, 1, 0, 1, 0, 1, 0, 1].map(|it| fits[it]));
    assert_eq!(layer.schemas(), 3);
    // 1, 2, 3, 4, and 2 again, which was the last used when 4 came.
    assert_eq!(compiled.load(Ordering::SeqCst), 5);
    let none = ask_for(&agent, Json::null()).await;
    assert!(failure(&none).details().ends_with("null is nothing"));
}

#[derive(Debug, Deserialize, PartialEq, schemars::JsonSchema)]
struct Review {
    /// From one to five.
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
    words: Vec<String>,
}

/// From a Rust type to the schema, through the layer, and back to the type.
#[tokio::test(start_paused = true)]
async fn from_a_type_and_back() {
    let schema = Json::encode(&schemars::schema_for!(Review)).unwrap();
    let scope = Scope::new("s").with_output_schema(schema);
    let (engine, asked) = answers(&[
        r#"{"stars":7,"words":["good"]}"#,
        r#"{"stars":4}"#,
        r#"{"stars":4,"words":["good"]}"#,
    ]);
    let agent = StructuredLayer::new().layer(engine);
    let review = collect_as::<Review, _>(agent.invoke(scope.clone(), Prompt::text("How was it?")));
    let expected = Review {
        stars: 4,
        words: vec!["good".to_owned()],
    };
    assert_eq!(review.await.unwrap(), expected);
    assert_eq!(asked.lock().unwrap().len(), 3);
    // Without it, the type is the last to say so.
    let (engine, _) = answers(&[r#"{"stars":"many"}"#]);
    let bare = collect_as::<Review, _>(engine.invoke(scope.clone(), Prompt::text("p")));
    assert!(matches!(bare.await, Err(CollectAsError::Decode(_))));
    let layered = StructuredLayer::new().layer(engine);
    let failed = collect_as::<Review, _>(layered.invoke(scope, Prompt::text("p"))).await;
    let Err(CollectAsError::Turn(CollectError::Failed(failure))) = failed else {
        panic!("{failed:?}");
    };
    assert!(failure.is(&FailureCode::INVALID_OUTPUT));
}
