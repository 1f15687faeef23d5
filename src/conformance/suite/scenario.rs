//! What the agent below does while a layer is tested.

use std::time::Duration;

use crate::{
    AgentEvent, Completed, Failure, FailureCode, Json, Retrying, Usage, conformance::ProbeAgent,
};

/// How a turn has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expect {
    /// With a terminal event.
    Terminal,
    /// Without one, unless the layer repairs that.
    BareEnd,
    /// It never ends, unless the layer sees to it.
    Never,
    /// With a panic, or a `failed` instead.
    Panic,
}

pub(super) struct Scenario {
    pub(super) name: &'static str,
    pub(super) probe: ProbeAgent,
    pub(super) expect: Expect,
    /// A run that has said anything reports usage when it is dropped.
    pub(super) reports_on_drop: bool,
}

fn json(text: &str) -> Json {
    Json::from_text(text).expect("it is JSON")
}

/// Every kind of event, unknown ones between, with waits of every kind.
fn everything(probe: ProbeAgent) -> ProbeAgent {
    probe
        .unknown(1)
        .pending(1)
        .text("a ")
        .emit(AgentEvent::thinking("hm"))
        .emit(AgentEvent::tool_started(
            "t1",
            "search",
            json(r#"{"q":1.0}"#),
        ))
        .unknown(2)
        .sleep(Duration::from_millis(10))
        .emit(AgentEvent::tool_ended("t1", false, json("[1e2]")))
        .emit(Retrying::new(1, 3, Duration::from_millis(5), "busy"))
        .usage("call-1")
        .paid_call()
        .text("b ")
        .unknown(3)
        .unknown(4)
        .text("c")
        .usage("call-2")
        .paid_call()
        .emit(Completed::with_data(json(r#"{"n":1.50}"#)))
}

pub(super) fn all() -> Vec<Scenario> {
    use Expect::{BareEnd, Never, Panic, Terminal};
    let busy = || Failure::with_code(FailureCode::OVERLOADED, "busy").retryable(true);
    let scenario = |name, probe, expect| Scenario {
        name,
        probe,
        expect,
        reports_on_drop: false,
    };
    let probe = ProbeAgent::new;
    vec![
        scenario("every kind of event", everything(probe()), Terminal),
        scenario(
            "waits before it answers",
            everything(probe().ready_after(2).call_pending(2)),
            Terminal,
        ),
        scenario("completes at once", probe().completed(), Terminal),
        scenario(
            "fails at once",
            probe().failed(Failure::new("no")),
            Terminal,
        ),
        scenario(
            "fails late",
            probe().text("a").unknown(1).usage("u").failed(busy()),
            Terminal,
        ),
        scenario(
            "fails at once, and does not the second time",
            everything(probe().usage("turn").failed(busy()).next_run()),
            Terminal,
        ),
        scenario(
            "goes on after its terminal event",
            probe().text("a").completed().text("late").completed(),
            Terminal,
        ),
        scenario(
            "a long answer",
            (0..50)
                .fold(probe(), |probe, _| probe.text("word "))
                .unknown(1)
                .completed(),
            Terminal,
        ),
        Scenario {
            reports_on_drop: true,
            ..scenario(
                "reports usage while it is dropped",
                probe()
                    .report_on_drop(Usage::new("late").with_output(1))
                    .text("a")
                    .pending(1)
                    .text("b")
                    .completed(),
                Terminal,
            )
        },
        scenario(
            "ends without a terminal event",
            probe().text("a").unknown(1),
            BareEnd,
        ),
        scenario("ends before it says anything", probe(), BareEnd),
        scenario(
            "hangs after an event",
            probe().text("a").unknown(1).hang(),
            Never,
        ),
        scenario("hangs before it says anything", probe().hang(), Never),
        scenario("is never ready", probe().never_ready().completed(), Never),
        scenario(
            "panics in poll_ready",
            probe().panic_at_ready().completed(),
            Panic,
        ),
        scenario(
            "panics in its call",
            probe().panic_at_call().completed(),
            Panic,
        ),
        scenario(
            "panics in its future",
            probe().panic_at_future().completed(),
            Panic,
        ),
        scenario(
            "panics in its first poll",
            probe().panic().completed(),
            Panic,
        ),
        scenario(
            "panics late",
            probe().text("a").unknown(1).pending(1).panic().completed(),
            Panic,
        ),
        scenario(
            "panics in its drop",
            probe().panic_at_drop().text("a").completed(),
            Panic,
        ),
    ]
}

/// Takes its time, so that others have to wait.
pub(super) fn slow() -> ProbeAgent {
    ProbeAgent::new()
        .text("a")
        .sleep(Duration::from_secs(10))
        .text("b")
        .completed()
}

/// Reports one token before each of ten paid calls.
pub(super) fn spender() -> ProbeAgent {
    (0..10)
        .fold(ProbeAgent::new(), |probe, call| {
            probe.usage(&format!("call-{call}")).paid_call()
        })
        .completed()
}
