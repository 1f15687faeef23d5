//! The example `plain_mount` does what it says.

use std::{
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

#[test]
fn it_calls_itself_and_serves_on() {
    let mut example = Command::new(env!("CARGO_BIN_EXE_plain_mount"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let output = BufReader::new(example.stdout.take().expect("piped"));
    let lines: Vec<_> = output
        .lines()
        .take(4)
        .map(|line| line.expect("a line"))
        .collect();
    let serves_on = example.try_wait().expect("a child").is_none();
    example.kill().expect("it can be ended");
    example.wait().expect("it ends");
    assert_eq!(
        lines[..3],
        [
            r#"{"type":"text","delta":"hello "}"#,
            r#"{"type":"text","delta":"there"}"#,
            r#"{"type":"completed"}"#,
        ]
    );
    assert!(lines[3].ends_with("/v1/turns"), "{lines:?}");
    assert!(serves_on);
}
