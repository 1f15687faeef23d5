//! What is written is read as it was.

use std::time::Duration;

use portcullis_sse::{Encoder, Frame, Limits, Parser};
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Vec<Frame> {
    let mut parser = Parser::new(Limits::new());
    let mut chunk = bytes;
    std::iter::from_fn(|| parser.next(&mut chunk).unwrap()).collect()
}

#[test]
fn frames_as_they_are_written() {
    let frame = Encoder::new()
        .event("a")
        .id(1)
        .retry(Duration::from_secs(2));
    assert_eq!(
        frame.json("{\n\"a\":\r\n1}"),
        b"event: a\nid: 1\nretry: 2000\ndata: { \"a\":  1}\n\n"
    );
    assert_eq!(Encoder::new().text(""), b"data: \n\n");
    assert_eq!(
        Encoder::with_capacity(9).text("a\r\nb\r"),
        b"data: a\ndata: b\ndata: \n\n"
    );
    assert_eq!(read(Encoder::KEEP_ALIVE), []);
}

#[test]
fn nobody_writes_another_field_through_a_name() {
    let frame = Encoder::new()
        .event("a\ndata: x\n\n")
        .id("1\r\ndata: y\0")
        .text("z");
    let read = read(&frame);
    assert_eq!(read.len(), 1);
    assert_eq!((&*read[0].name, &*read[0].data), ("a data: x  ", &b"z"[..]));
    assert_eq!(read[0].id.as_deref(), Some("1  data: y "));
}

proptest! {
    #[test]
    fn any_text_comes_back(text in "(?s)[a:\\n\\r\u{feff} é\\PC]{1,40}", id in "[!-~]{1,20}") {
        let frame = Encoder::new().id(&id).text(&text);
        let expected = text.replace("\r\n", "\n").replace('\r', "\n");
        let read = read(&frame);
        prop_assert_eq!(read.len(), 1);
        prop_assert_eq!(std::str::from_utf8(&read[0].data).unwrap(), expected);
        prop_assert_eq!(read[0].id.as_deref(), Some(&*id));
    }
}
