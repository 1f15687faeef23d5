//! W3C Trace Context, as headers have it.

use portcullis::{Scope, TraceContext};
use proptest::prelude::*;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const PARENT: &str = "00f067aa0ba902b7";

fn read(parent: &str) -> Option<TraceContext> {
    parent.parse().ok()
}

#[test]
fn reads_and_writes_a_traceparent() {
    for flags in ["00", "01"] {
        let header = format!("00-{TRACE}-{PARENT}-{flags}");
        let trace = read(&header).expect("it is one");
        assert_eq!(trace.traceparent(), header);
        assert_eq!(
            (trace.trace_id(), trace.parent_id()),
            (TRACE.into(), PARENT.into())
        );
        assert_eq!(trace.is_sampled(), flags == "01");
        assert_eq!(trace.tracestate(), None);
    }
}

/// Of a later version what we know is read; its new flags and members are not passed on.
#[test]
fn reads_what_it_knows_of_a_later_version() {
    for later in [
        format!("cc-{TRACE}-{PARENT}-01"),
        format!("cc-{TRACE}-{PARENT}-01-what-the-future-brings"),
        format!("00-{TRACE}-{PARENT}-ff"),
        format!(" 00-{TRACE}-{PARENT}-01\t"),
    ] {
        let trace = read(&later).expect("it is one");
        assert_eq!(
            trace.traceparent(),
            format!("00-{TRACE}-{PARENT}-01"),
            "{later}"
        );
    }
}

#[test]
fn refuses_what_is_no_traceparent() {
    let zeros = "0".repeat(32);
    for header in [
        String::new(),
        "-".repeat(55),
        format!("ff-{TRACE}-{PARENT}-01"),
        format!("0-{TRACE}-{PARENT}-01"),
        format!("00-{TRACE}-{PARENT}-1"),
        format!("00-{TRACE}-{PARENT}-0x"),
        format!("00-{TRACE}-{PARENT}-01-"),
        format!("00-{TRACE}-{PARENT}-01-more"),
        format!("cc-{TRACE}-{PARENT}-01.more"),
        format!("cc-{TRACE}-{PARENT}-01-{}", "x".repeat(600)),
        format!("00-{zeros}-{PARENT}-01"),
        format!("00-{TRACE}-{}-01", &zeros[..16]),
        format!("00-{}-{PARENT}-01", TRACE.to_uppercase()),
        format!("00-{TRACE}-{}-01", "é".repeat(8)),
        format!("00_{TRACE}_{PARENT}_01"),
        format!("00-{TRACE}{PARENT}--01"),
    ] {
        assert_eq!(read(&header), None, "{header:?}");
    }
}

#[test]
fn keeps_a_tracestate_as_it_is() {
    let trace = read(&format!("00-{TRACE}-{PARENT}-01")).expect("it is one");
    let members = |count: usize| {
        let members: Vec<_> = (0..count).map(|n| format!("k{n}=v")).collect();
        members.join(",")
    };
    for state in [
        "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE",
        "fw529a3039@dt=FfAAAA:,a=b c , d=e",
        "a=1,,b=2,",
        "0tenant@vendor=x",
        &format!("{}=x", "k".repeat(256)),
        &format!("k={}", "~".repeat(256)),
        &members(32),
    ] {
        let with = trace.clone().with_tracestate(state);
        assert_eq!(with.expect(state).tracestate(), Some(state));
    }
    for state in [
        "a",
        "=1",
        "a=",
        "A=1",
        "0a=1",
        "a@0b=1",
        "a@=1",
        "@b=1",
        "a b=1",
        "a=1=2",
        "a=é",
        "a=\u{7f}",
        "a=1,a=2",
        &format!("{}=x", "k".repeat(257)),
        &format!("k={}", "~".repeat(257)),
        &format!("a={},b={}", "~".repeat(254), "~".repeat(254)),
        &members(33),
    ] {
        assert!(trace.clone().with_tracestate(state).is_err(), "{state}");
    }
    assert_eq!(
        trace
            .with_tracestate(" \t ")
            .expect("an empty list")
            .tracestate(),
        None
    );
}

/// A broken `tracestate` costs only itself.
#[test]
fn keeps_the_parent_without_a_broken_state() {
    let header = format!("00-{TRACE}-{PARENT}-01");
    let state = |state| TraceContext::from_headers(&header, state).expect("it is one");
    assert_eq!(state(Some("a=1")).tracestate(), Some("a=1"));
    assert_eq!(state(Some("a=1,a=2")).tracestate(), None);
    assert_eq!(state(None).tracestate(), None);
    assert_eq!(TraceContext::from_headers("nothing", Some("a=1")), None);
}

/// It is in no body: a client that says so in a scope has no effect.
#[test]
fn never_crosses_a_wire_in_a_scope() {
    let mut scope = Scope::new("s");
    scope
        .extensions_mut()
        .insert(TraceContext::new([1; 16], [2; 8], true).expect("no zeros"));
    assert!(!scope.to_json().contains("0101"));
    let read = Scope::from_json(r#"{"session":"s","traceparent":"x"}"#).expect("a scope");
    assert_eq!(read.extensions().get::<TraceContext>(), None);
}

proptest! {
    #[test]
    fn any_context_comes_back(trace: [u8; 16], parent: [u8; 8], sampled: bool) {
        let Some(context) = TraceContext::new(trace, parent, sampled) else {
            prop_assert!(trace == [0; 16] || parent == [0; 8]);
            return Ok(());
        };
        prop_assert_eq!(context.trace_id_bytes(), trace);
        prop_assert_eq!(context.parent_id_bytes(), parent);
        prop_assert_eq!(read(&context.traceparent()), Some(context));
    }

    /// Whatever a stranger writes: no panic, and what is taken can be sent on in a header.
    #[test]
    fn no_text_does_harm(parent in ".{0,80}", state in "[ -~]{0,600}") {
        let _ = read(&parent);
        let context = TraceContext::new([1; 16], [2; 8], true).expect("no zeros");
        if let Ok(context) = context.with_tracestate(&state)
            && let Some(kept) = context.tracestate()
        {
            prop_assert!(kept.len() <= 512);
            prop_assert!(kept.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\t')));
        }
    }
}
