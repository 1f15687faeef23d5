use std::{
    fmt::Debug,
    panic::{AssertUnwindSafe, catch_unwind},
    time::Duration,
};

use futures_util::{FutureExt, stream};

use crate::{
    AgentEvent, BoxEventStream, Completed, Failure, Json, Panicked, Retrying,
    conformance::{Breach, Check, Report, unknown},
};

/// Proves a consumer right (MUST 4): what it makes of a turn is the same when events that
/// it does not know are strewn in, and reasoning is no part of the answer.
///
/// `consume` reads a turn to its result. It may stop at the terminal event.
///
/// ```
/// use portcullis::conformance::suite;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// suite::consumer(portcullis::collect).await.assert();
/// # }
/// ```
pub async fn consumer<F, R>(consume: F) -> Report
where
    F: AsyncFn(BoxEventStream) -> R,
    R: PartialEq + Debug,
{
    let mut report = Report::default();
    for (name, plain) in turns() {
        report.turn();
        let Some(expected) = result(&consume, &plain, name, &mut report).await else {
            continue;
        };
        let cases = (0..plain.len()).flat_map(|at| {
            let unknown = unknown::event(u32::try_from(at).unwrap_or_default());
            let retrying = Retrying::new(1, 3, Duration::from_millis(5), "busy");
            [
                (unknown, at, Check::IgnoresUnknown),
                (retrying.into(), at, Check::IgnoresUnknown),
                (AgentEvent::thinking("hm"), at, Check::KeepsThinkingApart),
            ]
        });
        for (event, at, check) in cases {
            report.turn();
            let mut events = plain.clone();
            events.insert(at, event);
            let got = run(&consume, events).await;
            if got.as_ref() != Ok(&expected) {
                report.breach(Breach::new(
                    check,
                    name,
                    "read to the end",
                    Some(at),
                    format!("{got:?} instead of {expected:?}"),
                ));
            }
        }
    }
    report
}

async fn result<F, R>(
    consume: &F,
    events: &[AgentEvent],
    name: &str,
    report: &mut Report,
) -> Option<R>
where
    F: AsyncFn(BoxEventStream) -> R,
{
    run(consume, events.to_vec())
        .await
        .map_err(|panic| {
            let state = "read to the end";
            report.breach(Breach::new(Check::NoPanic, name, state, None, panic));
        })
        .ok()
}

/// A consumer that is surprised may panic.
async fn run<F, R>(consume: &F, events: Vec<AgentEvent>) -> Result<R, String>
where
    F: AsyncFn(BoxEventStream) -> R,
{
    let events = BoxEventStream::new(stream::iter(events));
    let future = catch_unwind(AssertUnwindSafe(|| consume(events)));
    let result = match future {
        Ok(future) => AssertUnwindSafe(future).catch_unwind().await,
        Err(panic) => Err(panic),
    };
    result.map_err(|panic| Panicked::new(&*panic).to_string())
}

fn turns() -> Vec<(&'static str, Vec<AgentEvent>)> {
    let json = |text: &str| Json::from_text(text).expect("it is JSON");
    vec![
        (
            "an answer",
            vec![
                AgentEvent::text("Hello, "),
                AgentEvent::text("world."),
                AgentEvent::completed(),
            ],
        ),
        (
            "an answer with a tool and data",
            vec![
                AgentEvent::text("Let me see. "),
                AgentEvent::tool_started("t1", "search", json("{}")),
                AgentEvent::tool_ended("t1", false, json("[]")),
                Completed::with_data(json(r#"{"found":0}"#)).into(),
            ],
        ),
        (
            "a failure",
            vec![
                AgentEvent::text("Let me"),
                Failure::new("the model is gone").into(),
            ],
        ),
    ]
}
