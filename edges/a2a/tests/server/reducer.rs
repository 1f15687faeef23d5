use std::time::Duration;

use portcullis::{
    AgentEvent, Completed, Failure, Json, Usage,
    views::{self, ArtifactContent, AuthRequired, FollowUp, InputRequired},
};
use portcullis_a2a::{
    model::{Part, PartContent, TaskArtifactUpdateEvent, TaskStatusUpdateEvent},
    server::{Coalescing, EVENTS_EXTENSION, Emission, EmissionView, Reducer},
};

/// One word for each update.
fn show(emission: &Emission) -> String {
    match emission.view() {
        EmissionView::Status(event) => show_status(event),
        EmissionView::Artifact { event, merges } => show_artifact(event, merges),
        EmissionView::Failed(failure) => format!("failed({failure})"),
        other => format!("{other:?}"),
    }
}

fn show_status(event: &TaskStatusUpdateEvent) -> String {
    let mut shown = event.status.state.as_str()["TASK_STATE_".len()..].to_lowercase();
    if let Some(message) = &event.status.message {
        shown += &format!("({})", message.text());
    }
    if let Some(json) = event.metadata.get(&format!("{EVENTS_EXTENSION}/event")) {
        shown += json.as_str();
    }
    shown
}

fn show_artifact(event: &TaskArtifactUpdateEvent, merges: bool) -> String {
    let mut shown = event.artifact.artifact_id.clone();
    for (is, mark) in [(merges, "~"), (event.append, "+"), (event.last_chunk, "!")] {
        if is {
            shown += mark;
        }
    }
    for part in &event.artifact.parts {
        match &part.content {
            PartContent::Text(text) => shown += &format!(":{text}"),
            PartContent::Data(data) => shown += &format!(":{data}"),
            other => shown += &format!(":{other:?}"),
        }
    }
    shown
}

fn reduce(reducer: &mut Reducer, events: impl IntoIterator<Item = AgentEvent>) -> Vec<String> {
    let mut out = Vec::new();
    for event in events {
        reducer.reduce(event, &mut out);
    }
    out.iter().map(show).collect()
}

fn quiet() -> Reducer {
    Reducer::new(0, false, Coalescing::default())
}

fn json(text: &str) -> Json {
    Json::from_text(text).expect("JSON")
}

fn tool_started() -> AgentEvent {
    AgentEvent::tool_started("t", "search", json("{}"))
}

fn tool_ended() -> AgentEvent {
    AgentEvent::tool_ended("t", false, json("1"))
}

fn extension(text: &str) -> AgentEvent {
    serde_json::from_str(text).expect("an event")
}

fn follow_up(data: Option<&str>) -> AgentEvent {
    let mut boundary = FollowUp::new(2_u64);
    boundary.data = data.map(json);
    boundary.into()
}

// A2A-MAP-3, -4, -5; ruling 15. Each row: events, updates.
#[test]
fn table() {
    let data = || AgentEvent::Completed(Completed::with_data(json("{\"n\":1}")));
    let rows: Vec<(Vec<AgentEvent>, &[&str])> = vec![
        (vec![AgentEvent::completed()], &["completed"]),
        (vec![data()], &["a-1!:{\"n\":1}", "completed"]),
        // The first text goes out at once, so nothing is left to be the last chunk.
        (
            vec![AgentEvent::text("hi"), AgentEvent::completed()],
            &["working", "a-1~:hi", "completed"],
        ),
        (
            vec![
                AgentEvent::text("a"),
                AgentEvent::text("b"),
                AgentEvent::text("c"),
                AgentEvent::completed(),
            ],
            &["working", "a-1~:a", "a-1~+!:bc", "completed"],
        ),
        (
            vec![AgentEvent::text("a"), AgentEvent::text("b"), data()],
            &[
                "working",
                "a-1~:a",
                "a-1~+!:b",
                "a-2!:{\"n\":1}",
                "completed",
            ],
        ),
        // Text goes out before any other event, shown or not.
        (
            vec![
                AgentEvent::text("a"),
                AgentEvent::text("b"),
                AgentEvent::thinking("hm"),
                AgentEvent::text("c"),
                AgentEvent::completed(),
            ],
            &["working", "a-1~:a", "a-1~+:b", "a-1~+!:c", "completed"],
        ),
        // Another run of the turn is another answer.
        (
            vec![
                AgentEvent::text("a"),
                AgentEvent::text("b"),
                follow_up(Some("{\"n\":1}")),
                AgentEvent::text("c"),
                AgentEvent::text("d"),
                data(),
            ],
            &[
                "working",
                "a-1~:a",
                "a-1~+!:b",
                "a-2!:{\"n\":1}",
                "a-3~:c",
                "a-3~+!:d",
                "a-4!:{\"n\":1}",
                "completed",
            ],
        ),
        // It answers what the run before it has asked.
        (
            vec![
                views::InputRequired::new("Which?").into(),
                follow_up(None),
                AgentEvent::completed(),
            ],
            &["working", "completed"],
        ),
        (
            vec![AgentEvent::text(""), AgentEvent::completed()],
            &["working", "completed"],
        ),
        (
            vec![
                tool_started(),
                tool_ended(),
                Usage::new("u").into(),
                extension(r#"{"type":"x"}"#),
                AgentEvent::completed(),
            ],
            &["working", "completed"],
        ),
        (
            vec![
                AgentEvent::text("a"),
                AgentEvent::text("b"),
                Failure::new("no").into(),
            ],
            &["working", "a-1~:a", "a-1~+!:b", "failed(no)"],
        ),
        (vec![Failure::new("no").into()], &["failed(no)"]),
        // Ruling 20.
        (
            vec![InputRequired::new("Where?").into(), AgentEvent::completed()],
            &["working", "input_required(Where?)"],
        ),
        (
            vec![
                AuthRequired::new("Sign in").into(),
                AgentEvent::text("a"),
                AgentEvent::completed(),
            ],
            &["auth_required(Sign in)", "working", "a-1~:a", "completed"],
        ),
        // What has the name and not the shape is nobody's question.
        (
            vec![
                extension(r#"{"type":"input_required"}"#),
                AgentEvent::completed(),
            ],
            &["working", "completed"],
        ),
        (
            vec![
                views::Artifact::new("file", ArtifactContent::Text("x".into())).into(),
                AgentEvent::text("a"),
                data(),
            ],
            &["working", "file:x", "a-2~:a", "a-3!:{\"n\":1}", "completed"],
        ),
    ];
    for (events, expected) in rows {
        let described = format!("{events:?}");
        assert_eq!(reduce(&mut quiet(), events), expected, "{described}");
    }
}

#[test]
fn text_goes_out_by_size() {
    let mut reducer = quiet();
    let first = reduce(&mut reducer, [AgentEvent::text("a")]);
    assert_eq!(first, ["working", "a-1~:a"]);
    let held = reduce(&mut reducer, [AgentEvent::text("b".repeat(1_023))]);
    assert!(held.is_empty() && reducer.holds_text());
    let sent = reduce(&mut reducer, [AgentEvent::text("c")]);
    assert_eq!(sent, [format!("a-1~+:{}c", "b".repeat(1_023))]);
    assert!(!reducer.holds_text());
    let mut out = Vec::new();
    reducer.flush(&mut out);
    assert!(out.is_empty());
}

#[test]
fn without_coalescing_each_delta_goes_by_itself() {
    let mut reducer = Reducer::new(0, false, Coalescing::NONE);
    let deltas = ["a", "b", "c"].map(AgentEvent::text);
    assert_eq!(
        reduce(&mut reducer, deltas),
        ["working", "a-1~:a", "a-1~+:b", "a-1~+:c"]
    );
    assert_eq!(Coalescing::NONE.interval, Duration::ZERO);
}

#[test]
fn a_later_turn_makes_new_artifacts() {
    let mut reducer = Reducer::new(2, false, Coalescing::default());
    let updates = reduce(
        &mut reducer,
        [AgentEvent::text("a"), AgentEvent::completed()],
    );
    assert_eq!(updates, ["working", "a-3~:a", "completed"]);
}

// Only for those who asked for it, and never in the artifact (A2A-MAP-4).
#[test]
fn events_are_shown_to_those_who_asked() {
    let mut reducer = Reducer::new(0, true, Coalescing::default());
    let events = [
        AgentEvent::thinking("hm"),
        tool_started(),
        tool_ended(),
        extension(r#"{"type":"x","big":1e400}"#),
        AgentEvent::completed(),
    ];
    assert_eq!(
        reduce(&mut reducer, events),
        [
            "working",
            r#"working{"type":"thinking","delta":"hm"}"#,
            r#"working{"type":"tool_started","id":"t","name":"search","args":{}}"#,
            r#"working{"type":"tool_ended","id":"t","isError":false,"content":1}"#,
            r#"working{"type":"x","big":1e400}"#,
            r#"completed{"type":"completed"}"#,
        ]
    );
}

// Ruling 10: a cut between start and end of a tool.
#[test]
fn a_tool_that_a_cut_left_open_is_closed() {
    let closed = r#"working{"type":"tool_ended","id":"t","isError":true,"content":"ended by the end of the turn"}"#;
    let mut reducer = Reducer::new(0, true, Coalescing::default());
    let updates = reduce(&mut reducer, [tool_started(), Failure::new("cut").into()]);
    assert_eq!(updates[2..], [closed, "failed(cut)"]);
    let mut reducer = Reducer::new(0, true, Coalescing::default());
    reduce(&mut reducer, [tool_started()]);
    let mut out = Vec::new();
    reducer.cut(&mut out);
    assert_eq!(out.iter().map(show).collect::<Vec<_>>(), [closed]);
}

#[test]
fn artifacts_of_the_agent_keep_what_they_are() {
    let mut raw = views::Artifact::new("file", ArtifactContent::Raw("AQI=".into()));
    raw.name = Some("f.bin".into());
    raw.mime_type = Some("application/x-f".into());
    raw.append = Some(true);
    raw.last = Some(true);
    let mut out = Vec::new();
    quiet().reduce(raw.into(), &mut out);
    let EmissionView::Artifact { event, merges } = out[1].view() else {
        panic!("{out:?}");
    };
    assert!(!merges && event.append && event.last_chunk);
    assert_eq!(event.artifact.name, "f.bin");
    let expected = Part::raw([1, 2]).with_media_type("application/x-f");
    assert_eq!(event.artifact.parts, [expected]);
    // No base64: an event like any other.
    let wrong = views::Artifact::new("file", ArtifactContent::Raw("%".into()));
    assert_eq!(reduce(&mut quiet(), [wrong.into()]), ["working"]);
}
