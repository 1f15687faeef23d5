//! MUST 5 on the wire.

use portcullis::{AgentEvent, Failure, FailureCode, Scope, TraceContext};
use portcullis_http::server::{Format, TurnService};
use proptest::{collection, prelude::*};

use crate::{
    arbitrary::{core_event, other_event},
    support::*,
    wire::keeps,
};

/// What each of these texts is after two hops.
fn after_two_hops(texts: &[String], formats: [Format; 2]) -> Vec<String> {
    let events = texts
        .iter()
        .map(|text| AgentEvent::from_json(text).unwrap());
    let mut agent = emits(events.collect());
    for format in formats {
        agent = gate(agent, format);
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(said(&agent))
}

/// Events that an agent may emit: any number of others, and one that ends the turn.
fn turn() -> impl Strategy<Value = Vec<String>> {
    let events = prop_oneof![core_event(), other_event().prop_map(|(_, text)| text)];
    let events = collection::vec(events, 0..12).prop_map(|events| {
        let right = events
            .into_iter()
            .filter(|text| AgentEvent::from_json(text).is_ok_and(|event| !event.is_terminal()));
        right.collect::<Vec<_>>()
    });
    let end = core_event().prop_filter("one that ends", |text| {
        AgentEvent::from_json(text).is_ok_and(|event| event.is_terminal())
    });
    (events, end).prop_map(|(mut events, end)| {
        events.push(end);
        events
    })
}

fn format() -> impl Strategy<Value = Format> {
    proptest::sample::select(&FORMATS)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_events_keep_their_tokens(texts in turn(), first in format(), second in format()) {
        let read = after_two_hops(&texts, [first, second]);
        prop_assert_eq!(read.len(), texts.len());
        for (text, json) in texts.iter().zip(&read) {
            keeps(text, json);
        }
    }
}

/// A refusal goes as problem details, and is the same event.
#[tokio::test(start_paused = true)]
async fn refusals_keep_their_tokens() {
    for code in [
        "invalid_prompt",
        "unauthenticated",
        "permission_denied",
        "budget_exceeded",
        "session_busy",
        "aborted",
        "rate_limited",
        "overloaded",
        "unavailable",
        "timeout",
        "invalid_output",
        "contract_violation",
        "no_such_city",
    ] {
        let text = format!(
            r#"{{"type":"failed","details":"a\n\"b\" \u00e9","retryable":true,"code":"{code}","retryAfterMs":1501,"n":1e400,"more":{{"b":1.50,"a":[-0.0]}}}}"#
        );
        let event = AgentEvent::from_json(&text).unwrap();
        for format in FORMATS {
            let agent = gate(gate(emits(vec![event.clone()]), format), format);
            let read = said(&agent).await;
            assert_eq!(read.len(), 1, "{code}");
            keeps(&text, &read[0]);
        }
    }
}

/// Ruling 9: what is internal stays at each end, and the rest of the failure goes on.
#[tokio::test(start_paused = true)]
async fn an_internal_failure_keeps_all_but_its_text() {
    let failure = Failure::with_code(FailureCode::INTERNAL, "hunter2").retryable(true);
    let agent = gate(emits(vec![failure.into()]), FORMATS[0]);
    let read = said(&agent).await;
    assert!(!read[0].contains("hunter2"), "{read:?}");
    let AgentEvent::Failed(failure) = AgentEvent::from_json(&read[0]).unwrap() else {
        panic!("{read:?}");
    };
    assert!(failure.is(&FailureCode::INTERNAL) && failure.is_retryable());
}

/// What may go over a wire of the scope and the prompt goes over two.
#[tokio::test(start_paused = true)]
async fn what_is_asked_arrives() {
    use portcullis::{AgentExt, Emitter, Principal, Prompt, agent_fn};

    let scope = r#"{"session":"s","source":"cron","constraints":{"deadlineMs":90000,"region":"eu"},"outputSchema":{"b":1.50,"a":2},"x":1e400}"#;
    let prompt =
        r#"{"text":"p","images":[{"mimeType":"image/png","data":"AA==","alt":1.0}],"y":-0.0}"#;
    let now = tokio::time::Instant::now().into_std();
    for format in FORMATS {
        let tells = agent_fn(
            move |scope: Scope, prompt: Prompt, out: Emitter| async move {
                assert!(scope.principal().is_none() && scope.tenant().is_none());
                let trace = scope.extensions().get::<TraceContext>().unwrap();
                out.emit(AgentEvent::text(scope.to_json_at(now))).await;
                out.emit(AgentEvent::text(prompt.to_json())).await;
                out.emit(AgentEvent::text(trace.traceparent())).await;
                out.emit(AgentEvent::text(trace.tracestate().unwrap()))
                    .await;
                Ok::<_, Failure>(())
            },
        );
        let service = TurnService::new(tells);
        let agent = gate(
            portcullis::BoxAgent::new(agent_over(service, format)),
            format,
        );
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
        let trace: TraceContext = parent.parse().unwrap();
        let mut asked = Scope::from_json_at(scope, now)
            .unwrap()
            .with_principal(Principal::new("user", "i", "ann"))
            .with_tenant("t");
        let trace = trace.with_tracestate("a=1,b=2").unwrap();
        asked.extensions_mut().insert(trace);
        // The gate in between has nobody's word for who asks, so it is nobody.
        let turn = agent.invoke(asked, Prompt::from_json(prompt).unwrap());
        let said = portcullis::collect(turn).await.unwrap().text;
        assert_eq!(said, format!("{scope}{prompt}{parent}a=1,b=2"));
    }
}
