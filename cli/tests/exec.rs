//! Command-line programs as agents, with real programs.
#![cfg(unix)]

use std::{path::Path, process::Command, time::Duration};

use futures_util::StreamExt;
use portcullis::{AgentEvent, AgentExt, Failure, FailureCode, Scope};
use portcullis_cli::exec::{EXEC_FAILED, Exec, Output};
use tokio::time::{Instant, timeout};

fn sh(script: &str) -> Exec {
    Exec::new("sh", ["-c", script])
}

async fn run(exec: &Exec, prompt: &str) -> Vec<AgentEvent> {
    let events = exec
        .agent()
        .invoke(Scope::new("s-1"), prompt.into())
        .collect();
    timeout(Duration::from_secs(30), events)
        .await
        .expect("the turn ends")
}

fn text(events: &[AgentEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        AgentEvent::Text(text) => Some(text.delta()),
        _ => None,
    });
    deltas.collect()
}

fn failure(events: &[AgentEvent]) -> &Failure {
    match events.last() {
        Some(AgentEvent::Failed(failure)) => failure,
        other => panic!("not failed: {other:?}"),
    }
}

/// Whether a process lives; a zombie does not.
fn lives(pid: &str) -> bool {
    let output = Command::new("ps")
        .args(["-o", "stat=", "-p", pid])
        .output()
        .unwrap();
    let state = String::from_utf8(output.stdout).unwrap();
    !state.trim().is_empty() && !state.trim().starts_with('Z')
}

async fn gone(pid: &str) {
    let deadline = Instant::now() + Duration::from_secs(5);
    while lives(pid) {
        assert!(Instant::now() < deadline, "process {pid} still lives");
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn the_prompt_goes_in_and_the_text_comes_out() {
    let events = run(&Exec::new("cat", [] as [&str; 0]), "one\ntwo \u{1f600}").await;
    assert_eq!(text(&events), "one\ntwo \u{1f600}");
    assert_eq!(events.last(), Some(&AgentEvent::completed()));
    let events = run(&sh("printf %s \"$PORTCULLIS_SESSION\""), "").await;
    assert_eq!(text(&events), "s-1");
}

#[tokio::test]
async fn text_comes_as_it_is_printed() {
    let mut turn = Box::pin(
        sh("printf first; cat >/dev/null; sleep 30")
            .agent()
            .invoke(Scope::new("s"), "x".into()),
    );
    let first = timeout(Duration::from_secs(5), turn.next())
        .await
        .expect("before the program ends")
        .unwrap();
    assert_eq!(first, AgentEvent::text("first"));
}

#[tokio::test]
async fn characters_are_never_cut() {
    let script =
        "printf '\\303'; sleep 0.05; printf '\\251t\\342\\202'; sleep 0.05; printf '\\254'";
    let events = run(&sh(script), "").await;
    assert_eq!(text(&events), "\u{e9}t\u{20ac}");
    assert!(!text(&events).contains('\u{fffd}'));
    assert_eq!(
        text(&run(&sh("printf 'a\\377b\\303'"), "").await),
        "a\u{fffd}b\u{fffd}"
    );
}

#[tokio::test]
async fn a_prompt_larger_than_the_pipe_passes_also_when_nobody_reads_it() {
    let prompt = "x".repeat(1 << 20);
    let events = run(&Exec::new("cat", [] as [&str; 0]), &prompt).await;
    assert_eq!(text(&events).len(), prompt.len());
    let events = run(&sh("echo deaf"), &prompt).await;
    assert_eq!(text(&events), "deaf\n");
    assert_eq!(events.last(), Some(&AgentEvent::completed()));
}

#[tokio::test]
async fn a_program_that_fails_says_so() {
    let script = "echo before; echo PLANTED-SECRET >&2; exit 3";
    let events = run(&sh(script), "").await;
    assert_eq!(text(&events), "before\n");
    assert!(failure(&events).is(&EXEC_FAILED));
    assert_eq!(
        failure(&events).details(),
        "the program ended with exit code 3"
    );
    let shown = run(&sh(script).show_stderr(true), "").await;
    assert_eq!(
        failure(&shown).details(),
        "the program ended with exit code 3: PLANTED-SECRET"
    );
    let events = run(&sh("kill -9 $$"), "").await;
    assert_eq!(
        failure(&events).details(),
        "the program was ended by signal 9"
    );
    // Succeeding programs may write to standard error as they like.
    let events = run(&sh("head -c 1000000 /dev/zero >&2; echo fine"), "").await;
    assert_eq!(text(&events), "fine\n");
}

#[tokio::test]
async fn a_missing_program_is_unavailable_and_the_path_stays_in_the_log() {
    let exec = Exec::new("/no/such/program", [] as [&str; 0]);
    let events = run(&exec, "").await;
    assert!(failure(&events).is(&FailureCode::UNAVAILABLE));
    assert!(!failure(&events).details().contains("/no/such"));
    assert!(
        exec.check()
            .unwrap_err()
            .to_string()
            .contains("no such file")
    );
    assert!(
        Exec::new("no-such-program-anywhere", [] as [&str; 0])
            .check()
            .is_err()
    );
    let plain = tempfile::NamedTempFile::new().unwrap();
    assert!(
        Exec::new(plain.path(), [] as [&str; 0])
            .check()
            .unwrap_err()
            .to_string()
            .contains("may be run")
    );
    assert!(sh("").check().is_ok());
}

#[tokio::test]
async fn events_pass_as_they_are() {
    let script = r#"echo '{"type":"text","delta":"hi"}'
echo
echo '{"type":"tool_started","id":"1","name":"look","args":{}}'
echo '{"type":"weather","deg":1e400}'
echo '{"type":"completed","data":{"n":1}}'"#;
    for exec in [sh(script), sh(script).output(Output::Events)] {
        let events = run(&exec, "").await;
        let types: Vec<_> = events.iter().map(AgentEvent::type_name).collect();
        assert_eq!(types, ["text", "tool_started", "weather", "completed"]);
        let AgentEvent::Extension(weather) = &events[2] else {
            panic!("{events:?}")
        };
        assert_eq!(weather.json().as_str(), r#"{"type":"weather","deg":1e400}"#);
        let AgentEvent::Completed(completed) = &events[3] else {
            panic!("{events:?}")
        };
        assert_eq!(completed.data().unwrap().as_str(), r#"{"n":1}"#);
    }
    let as_text = run(&sh(script).output(Output::Text), "").await;
    assert!(text(&as_text).starts_with("{\"type\":\"text\""));
}

#[tokio::test]
async fn text_that_only_looks_like_events_is_text() {
    for printed in [
        "{",
        "{\n  \"a\": 1\n}\n",
        "{\"a\":1}\n",
        "{\"type\":\"text\"}\n",
        " {no}\nmore\n",
    ] {
        let events = run(&Exec::new("printf", ["%s", printed]), "").await;
        assert_eq!(text(&events), printed);
        assert_eq!(events.last(), Some(&AgentEvent::completed()), "{printed}");
    }
    let events = run(
        &Exec::new("printf", ["%s", "{\"type\":\"text\",\"delta\":\"x\"}"]),
        "",
    )
    .await;
    assert_eq!(text(&events), "x");
}

#[tokio::test]
async fn events_that_go_wrong_fail() {
    let good = r#"{"type":"text","delta":"hi"}"#;
    for (script, why) in [
        (
            format!("echo '{good}'; echo oops"),
            "line 2 of the program's output is not an event",
        ),
        (
            format!("echo '{good}'; echo '{{\"type\":\"text\"}}'"),
            "line 2",
        ),
        (
            format!("echo '{good}'; head -c 2000000 /dev/zero | tr '\\0' x"),
            "longer than",
        ),
    ] {
        let events = run(&sh(&script), "").await;
        assert_eq!(events[0], AgentEvent::text("hi"));
        assert!(failure(&events).is(&FailureCode::INVALID_OUTPUT));
        assert!(
            failure(&events).details().contains(why),
            "{:?}",
            failure(&events)
        );
    }
    let events = run(
        &sh(r#"echo '{"type":"failed","details":"no luck","retryable":true}'; sleep 30"#),
        "",
    )
    .await;
    assert_eq!(failure(&events).details(), "no luck");
    let events = run(&sh(r#"echo '{"type":"completed"}'; exit 4"#), "").await;
    assert!(failure(&events).is(&EXEC_FAILED), "the exit code counts");
    let events = run(
        &sh(r#"echo '{"type":"completed"}'; echo '{"type":"text","delta":"late"}'"#),
        "",
    )
    .await;
    assert_eq!(events, [AgentEvent::completed()]);
}

#[tokio::test]
async fn endless_output_is_bounded() {
    let mut turn = Box::pin(
        sh("yes 0123456789012345678901234567890123456789")
            .agent()
            .invoke(Scope::new("s"), "".into()),
    );
    let mut length = 0;
    let failure = loop {
        match turn.next().await.expect("a terminal event") {
            AgentEvent::Text(text) => length += text.delta().len() as u64,
            AgentEvent::Failed(failure) => break failure,
            other => panic!("{other:?}"),
        }
    };
    assert!(failure.is(&FailureCode::INVALID_OUTPUT));
    assert!(length <= portcullis_cli::exec::MAX_OUTPUT, "{length}");
}

/// The leader, its child and a grandchild that ignores what can be ignored are all gone
/// when the turn is dropped, or ends by itself.
#[tokio::test]
async fn the_whole_group_goes_with_the_turn() {
    let dir = tempfile::tempdir().unwrap();
    let pids = dir.path().join("pids");
    let script = format!(
        "trap '' TERM HUP INT; echo $$ >> {0}; \
         sh -c 'trap \"\" TERM HUP INT; echo $$ >> {0}; sh -c \"trap \\\"\\\" TERM HUP INT; echo \\$\\$ >> {0}; while :; do sleep 1; done\" & while :; do sleep 1; done' & \
         while [ $(wc -l < {0}) -lt 3 ]; do sleep 0.01; done; echo ready; ",
        pids.display()
    );
    let read = |path: &Path| -> Vec<String> {
        std::fs::read_to_string(path)
            .unwrap()
            .lines()
            .map(str::to_owned)
            .collect()
    };

    let mut turn = Box::pin(
        sh(&format!("{script} wait"))
            .agent()
            .invoke(Scope::new("s"), "".into()),
    );
    assert_eq!(turn.next().await.unwrap(), AgentEvent::text("ready\n"));
    let three = read(&pids);
    assert_eq!(three.len(), 3);
    assert!(three.iter().all(|pid| lives(pid)));
    drop(turn);
    for pid in &three {
        gone(pid).await;
    }

    // The leader exits and leaves the others: they do not hold the turn, nor outlive it.
    std::fs::remove_file(&pids).unwrap();
    let started = Instant::now();
    let events = run(&sh(&format!("{script} exit 0")), "").await;
    assert_eq!(events.last(), Some(&AgentEvent::completed()));
    assert!(started.elapsed() < Duration::from_secs(10));
    for pid in read(&pids) {
        gone(&pid).await;
    }
}

/// What the documentation says may survive does not hold the turn either.
#[tokio::test]
async fn a_process_with_its_own_session_does_not_hold_the_turn() {
    let dir = tempfile::tempdir().unwrap();
    let pid = dir.path().join("pid");
    let script = format!(
        "setsid sh -c 'echo $$ > {0}; exec sleep 60' & while [ ! -s {0} ]; do sleep 0.01; done; echo done",
        pid.display()
    );
    let events = run(&sh(&script), "").await;
    assert_eq!(text(&events), "done\n");
    assert_eq!(events.last(), Some(&AgentEvent::completed()));
    let pid = std::fs::read_to_string(&pid).unwrap();
    assert!(lives(pid.trim()), "as documented");
    assert!(
        Command::new("kill")
            .arg(pid.trim())
            .status()
            .unwrap()
            .success()
    );
}

#[tokio::test]
async fn a_program_that_said_completed_and_stays_is_ended() {
    let started = Instant::now();
    let events = run(&sh(r#"echo '{"type":"completed"}'; sleep 60"#), "").await;
    assert_eq!(events, [AgentEvent::completed()]);
    assert!(started.elapsed() < Duration::from_secs(20));
}
