//! The grammar, and its limits.

use std::{mem::size_of, time::Duration};

use portcullis_sse::{Bound, Frame, Limits, Parser};

fn read(text: &str) -> Vec<Frame> {
    let mut parser = Parser::new(Limits::new());
    let mut chunk = text.as_bytes();
    std::iter::from_fn(|| parser.next(&mut chunk).unwrap()).collect()
}

fn data(text: &str) -> Vec<String> {
    let frames = read(text).into_iter();
    frames
        .map(|frame| String::from_utf8(frame.data).unwrap())
        .collect()
}

#[test]
fn the_examples_of_the_standard() {
    assert_eq!(data("data: YHOO\ndata: +2\ndata: 10\n\n"), ["YHOO\n+2\n10"]);
    let stream = ": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n";
    let frames = read(stream);
    let ids: Vec<_> = frames.iter().map(|frame| frame.id.as_deref()).collect();
    assert_eq!(ids, [Some("1"), None, None]);
    assert_eq!(
        data(stream),
        ["first event", "second event", " third event"]
    );
    // Two empty lines of data are one line break; one is nothing.
    assert_eq!(data("data\n\ndata\ndata\n\ndata:"), ["\n"]);
    assert_eq!(data("data:test\n\ndata: test\n\n"), ["test", "test"]);
}

#[test]
fn names_ids_and_waits() {
    let frames = read("event: a\nid: 7\ndata: 1\n\ndata: 2\n\nid: x\0y\nevent: c\ndata: 3\n\n");
    let told: Vec<_> = frames
        .iter()
        .map(|frame| (&*frame.name, frame.id.as_deref().unwrap()))
        .collect();
    assert_eq!(told, [("a", "7"), ("", "7"), ("c", "7")]);

    let mut parser = Parser::new(Limits::new());
    for (line, expected) in [
        ("retry: 1500\n", Some(1500)),
        ("retry: soon\n", Some(1500)),
        ("retry: -1\n", Some(1500)),
        ("retry\n", Some(1500)),
        ("retry: 99999999999999999999999\n", Some(1500)),
        ("retry:0\n", Some(0)),
    ] {
        assert_eq!(parser.next(&mut line.as_bytes()), Ok(None));
        assert_eq!(
            parser.retry(),
            expected.map(Duration::from_millis),
            "{line}"
        );
    }
}

#[test]
fn frames_share_an_id_that_stays() {
    let frames = read("id: 7\ndata: 1\n\ndata: 2\n\nid: 7\ndata: 3\n\n");
    let ids: Vec<_> = frames
        .iter()
        .filter_map(|frame| frame.id.as_ref())
        .collect();
    assert!(ids.iter().all(|id| std::sync::Arc::ptr_eq(id, ids[0])));
}

#[test]
fn each_bound_has_its_error() {
    // O-S05
    for (limits, text, bound) in [
        (Limits::new().line(8), "data: 123\n", Bound::Line),
        (Limits::new().line(8), "no end of it", Bound::Line),
        (
            Limits::new().event(8),
            "data: 1234\ndata: 5678\n",
            Bound::Event,
        ),
        (Limits::new().event(8), "data: 123456789\n", Bound::Event),
        (
            Limits::new().event(2),
            "data\ndata\ndata\ndata\n",
            Bound::Event,
        ),
        (Limits::new().id(8), "id: 123456789\n", Bound::Id),
        (Limits::new().stream(8), "::::\n::::\n", Bound::Stream),
        (
            Limits::new().stream(8),
            "\r\n\r\n\r\n\r\n\r\n",
            Bound::Stream,
        ),
    ] {
        let mut parser = Parser::new(limits);
        let error = parser.next(&mut text.as_bytes()).unwrap_err();
        assert_eq!(error.bound(), bound, "{text}");
        assert!(error.limit() <= 8);
        let told = format!("{bound} has more than {} bytes", error.limit());
        assert_eq!(error.to_string(), told);
    }
    // Just so long is not too long.
    let mut parser = Parser::new(Limits::new().event(4).line(10).stream(20).id(2));
    let mut text = &b"id: 12\ndata: 1234\n\n "[..];
    assert!(parser.next(&mut text).unwrap().is_some());
}

#[test]
fn a_large_event_leaves_no_room_behind() {
    let line = format!("data: {}\n\n", "x".repeat(4 << 20));
    let mut parser = Parser::new(Limits::new());
    for piece in line.as_bytes().chunks(1 << 10) {
        if let Some(frame) = parser.next(&mut &piece[..]).unwrap() {
            assert_eq!(frame.data.len(), 4 << 20);
        }
    }
    let told = format!("{parser:?}");
    assert!(told.len() < 1 << 10, "nothing is kept: {told}");
    assert!(size_of::<Parser>() < 256);
}
