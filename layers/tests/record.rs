//! A turn as lines, and lines as a turn.

mod support;

use std::{
    io::{self, BufReader, Read, Write},
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    time::Duration,
};

use futures_util::{FutureExt, StreamExt};
use portcullis::{AgentEvent, AgentExt, FailureCode, Principal, Prompt, Scope, conformance::suite};
use portcullis_layers::{
    conform::ConformLayer,
    record::{FileSink, LineSink, MemorySink, RecordLayer, Refused},
    replay::{ReadLimits, RecordedEnd, Recording, Replay},
};
use proptest::prelude::*;
use tokio::time::{Instant, advance};
use tower::Layer;

use support::*;

fn memory() -> MemorySink {
    MemorySink::new(1 << 24)
}

fn read(lines: &str) -> Vec<Recording> {
    Recording::read(lines.as_bytes()).unwrap()
}

/// The lines without the name of their turn, which is random.
fn nameless(lines: &str) -> Vec<String> {
    let lines = lines.lines().map(|line| {
        let at = line.find(r#""at""#).expect("a time");
        format!("{{{}", &line[at..])
    });
    lines.collect()
}

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    let lines = memory();
    assert_transparent(|actor| RecordLayer::new(lines.clone()).layer(actor)).await;
    let recorded = read(&lines.take());
    let events: Vec<_> = recorded[0].events().map(|(_, it)| it.clone()).collect();
    assert_eq!(events, said(&everything()));
    // A drop is written before it returns.
    let clean = || {
        let recorded = read(&lines.take());
        // A turn that was never begun is none.
        recorded.iter().all(Recording::is_complete)
    };
    assert_drops(
        everything(),
        |actor| RecordLayer::new(lines.clone()).layer(actor),
        clean,
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn writes_what_the_documentation_shows() {
    let lines = memory();
    let part = vec![
        Do::Wait(Duration::from_millis(2)),
        say("Good morning."),
        Do::Wait(secs(1)),
        done(),
    ];
    let agent = RecordLayer::new(lines.clone()).layer(actor(part));
    let mut scope = Scope::new("s")
        .with_source("test")
        .with_tenant("hidden")
        .with_principal(Principal::new("user", "hidden", "hidden"));
    scope.set_deadline(Some((Instant::now() + secs(60)).into_std()));
    let turn = agent.invoke(scope, Prompt::text("hello"));
    let _: Vec<_> = turn.collect().await;
    let lines = lines.take();
    assert_eq!(
        nameless(&lines),
        [
            r#"{"at":0,"begin":{"version":1,"scope":{"session":"s","source":"test","constraints":{"deadlineMs":60000}},"prompt":{"text":"hello"}}}"#,
            r#"{"at":2000,"event":{"type":"text","delta":"Good morning."}}"#,
            r#"{"at":1002000,"event":{"type":"completed"}}"#,
            r#"{"at":1002000,"end":"completed"}"#,
        ]
    );
    assert!(
        !lines.contains("hidden"),
        "what code has set is not theirs to write"
    );
    // Without who asked what.
    let lines = memory();
    let agent = RecordLayer::new(lines.clone()).without_request();
    events(&agent.layer(actor([say("a"), done()]))).await;
    let lines = lines.take();
    assert!(!lines.contains("hello") && !lines.contains("session"));
    let recorded = read(&lines);
    assert!(recorded[0].scope().is_none() && recorded[0].prompt().is_none());
    assert!(recorded[0].is_complete());
}

/// Each of the five ends is written, and played back as far as anybody knows it.
#[tokio::test(start_paused = true)]
async fn each_end() {
    use RecordedEnd::{Cancelled, Completed, Failed, Panicked, Truncated};
    let ends = [Completed, Failed, Cancelled, Truncated, Panicked];
    for ((name, part), end) in five_ends().into_iter().zip(ends) {
        let lines = memory();
        to_its_end(&RecordLayer::new(lines.clone()).layer(actor(part.clone()))).await;
        let recording = read(&lines.take()).remove(0);
        assert_eq!(recording.end(), Some(end), "{name}");
        assert!(recording.is_complete());
        let played = events(&Replay::new(recording.clone())).await;
        assert_eq!(played, said(&part), "{name}");
        // What has no end is one that `conform` makes a failure of.
        let conformed = events(&ConformLayer::new().layer(Replay::new(recording))).await;
        let last = conformed.last().expect("an event");
        assert!(last.is_terminal());
        assert_eq!(
            conformed.len() > played.len(),
            !matches!(end, Completed | Failed)
        );
    }
}

/// A terminal event that was on its way when the turn was dropped, or when its sender panicked: nobody heard it.
#[tokio::test(start_paused = true)]
async fn a_terminal_event_that_nobody_heard_is_not_played() {
    for (end, recorded) in [
        ("panicked", RecordedEnd::Panicked),
        ("cancelled", RecordedEnd::Cancelled),
    ] {
        let lines = [
            r#"{"turn":"1","at":0,"begin":{"version":1}}"#,
            r#"{"turn":"1","at":1,"event":{"type":"text","delta":"a"}}"#,
            r#"{"turn":"1","at":2,"event":{"type":"completed"}}"#,
            &format!(r#"{{"turn":"1","at":2,"end":"{end}"}}"#),
        ];
        let recording = read(&lines.join("\n")).remove(0);
        assert_eq!(recording.end(), Some(recorded));
        assert_eq!(types(&events(&Replay::new(recording)).await), "text");
    }
}

/// Turns that run at once stand among each other.
#[tokio::test(start_paused = true)]
async fn turns_that_run_at_once() {
    let lines = memory();
    let layer = RecordLayer::new(lines.clone());
    let part = |text: &str| vec![say(text), Do::Wait(secs(1)), say(text), done()];
    let (one, two) = (layer.layer(actor(part("1"))), layer.layer(actor(part("2"))));
    tokio::join!(events(&one), events(&two));
    let recorded = read(&lines.take());
    assert_eq!(recorded.len(), 2);
    for (recording, text) in recorded.into_iter().zip(["1", "2"]) {
        assert_eq!(events(&Replay::new(recording)).await, said(&part(text)));
    }
}

#[tokio::test(start_paused = true)]
async fn plays_in_time_or_at_once() {
    let part = || {
        vec![
            Do::Wait(secs(2)),
            say("a"),
            Do::Wait(secs(3)),
            say("b"),
            done(),
        ]
    };
    let lines = memory();
    events(&RecordLayer::new(lines.clone()).layer(actor(part()))).await;
    let recording = read(&lines.take()).remove(0);
    let began = Instant::now();
    assert_eq!(events(&Replay::new(recording.clone())).await, said(&part()));
    assert_eq!(began.elapsed(), Duration::ZERO);
    let timed = Replay::new(recording).timed();
    let mut turn = Box::pin(ask(&timed));
    for after in [2, 5, 5] {
        let _ = turn.next().await.expect("an event");
        assert_eq!(began.elapsed(), secs(after));
    }
    assert_eq!(turn.next().await, None);
    // A caller who is late gets what is due, and waits for the rest.
    let began = Instant::now();
    let mut turn = Box::pin(ask(&timed));
    assert!(turn.next().now_or_never().is_none());
    advance(secs(4)).await;
    assert!(turn.next().now_or_never().is_some());
    let _ = turn.next().await;
    assert_eq!(began.elapsed(), secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_conversation_goes_on() {
    let lines = memory();
    let layer = RecordLayer::new(lines.clone());
    for text in ["1", "2"] {
        events(&layer.layer(actor([say(text), done()]))).await;
    }
    let agent = Replay::conversation(read(&lines.take()));
    let clone = agent.clone();
    assert_eq!(events(&agent).await[0], AgentEvent::text("1"));
    assert_eq!(events(&clone).await[0], AgentEvent::text("2"));
    let over = events(&agent).await;
    assert!(failure(&over).is(&FailureCode::UNAVAILABLE));
    assert_eq!(over.len(), 1);
}

/// MUST 1, 2 and 3, of what is played.
#[tokio::test(start_paused = true)]
async fn a_replay_is_an_agent() {
    let lines = memory();
    events(&RecordLayer::new(lines.clone()).layer(actor(everything()))).await;
    let recording = read(&lines.take()).remove(0);
    let make = || Replay::new(recording.clone()).timed();
    suite::agent(make, ["hello"]).await.assert();
    suite::agent(|| Replay::new(recording.clone()), ["hello"])
        .await
        .assert();
    let make_agent = |(): &()| Replay::new(recording.clone());
    suite::portable(|| (), make_agent, ["one", "two"])
        .await
        .assert();
}

/// A sink that is full costs the recording, never the turn.
#[tokio::test(start_paused = true)]
async fn a_full_sink_is_said_and_the_turn_goes_on() {
    let (log, _guard) = Log::start();
    let most = Arc::new(AtomicUsize::new(3));
    let kept = Arc::new(Mutex::new(String::new()));
    let sink = {
        let (most, kept) = (Arc::clone(&most), Arc::clone(&kept));
        move |line: &[u8]| {
            let is_end = line.windows(5).any(|it| it == b"\"end\"");
            let room =
                most.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1));
            if room.is_err() && !is_end {
                return Err(Refused::FULL);
            }
            let mut kept = kept.lock().unwrap();
            kept.push_str(str::from_utf8(line).unwrap());
            kept.push('\n');
            Ok(())
        }
    };
    let agent = RecordLayer::new(sink).layer(actor(everything()));
    assert_eq!(events(&agent).await, said(&everything()));
    let lines = kept.lock().unwrap().clone();
    let recording = read(&lines).remove(0);
    assert_eq!(recording.events().len(), 2, "and no gap");
    assert_eq!(recording.end(), Some(RecordedEnd::Completed));
    assert!(!recording.is_complete());
    assert!(lines.ends_with("\"end\":\"completed\",\"incomplete\":true}\n"));
    assert_eq!(log.text().matches("a recording is incomplete").count(), 1);
    assert_eq!(
        events(&Replay::new(recording)).await,
        said(&everything())[..2]
    );
    // No room at all is no recording.
    let lines = MemorySink::new(1);
    let agent = RecordLayer::new(lines.clone()).layer(actor(everything()));
    assert_eq!(events(&agent).await, said(&everything()));
    assert_eq!(lines.text(), "");
}

#[tokio::test]
async fn a_file_holds_it() {
    let folder = std::env::temp_dir().join(format!("portcullis-record-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("turns.jsonl");
    let agent = |file: &FileSink| RecordLayer::new(file.clone()).layer(actor([say("a"), done()]));
    let file = FileSink::append(&path).unwrap();
    events(&agent(&file)).await;
    file.flush().unwrap();
    let open = || BufReader::new(std::fs::File::open(&path).unwrap());
    assert_eq!(Recording::read(open()).unwrap().len(), 1);
    events(&agent(&file)).await;
    // The last one to go writes what waits.
    drop(file);
    assert_eq!(Recording::read(open()).unwrap().len(), 2);
    // And it goes on where it was.
    drop(agent(&FileSink::append(&path).unwrap()));
    events(&agent(&FileSink::append(&path).unwrap())).await;
    let recorded = Recording::read(open()).unwrap();
    assert_eq!(recorded.len(), 3);
    assert!(recorded.iter().all(Recording::is_complete));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "nobody else reads it");
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// A disk that does not answer, until somebody lets it.
struct Slow {
    go: mpsc::Receiver<()>,
    written: Arc<Mutex<Vec<u8>>>,
}

impl Write for Slow {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _ = self.go.recv();
        self.written.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_disk_holds_up_no_turn() {
    let (let_go, go) = mpsc::channel();
    let written = Arc::<Mutex<Vec<u8>>>::default();
    let slow = Slow {
        go,
        written: Arc::clone(&written),
    };
    let file = FileSink::to(slow, 100_000).unwrap();
    let long: Vec<_> = (0..10_000).map(|_| say("word ")).chain([done()]).collect();
    let agent = RecordLayer::new(file.clone()).layer(actor(long));
    // Nothing is written, and the turn has no task that could wait for it.
    assert_eq!(
        ask(&agent)
            .collect::<Vec<_>>()
            .now_or_never()
            .unwrap()
            .len(),
        10_001
    );
    drop(let_go);
    file.flush().unwrap();
    let lines = String::from_utf8(written.lock().unwrap().clone()).unwrap();
    assert!(lines.len() < 300_000, "memory has a bound");
    let recording = read(&lines).remove(0);
    assert!(!recording.is_complete());
    assert!(recording.events().len() > 500);
}

struct Broken;

impl Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_broken_disk_is_said() {
    let file = FileSink::to(Broken, 100_000).unwrap();
    let agent = RecordLayer::new(file.clone()).layer(actor(everything()));
    assert_eq!(events(&agent).await, said(&everything()));
    assert_eq!(file.flush().unwrap_err().kind(), io::ErrorKind::StorageFull);
    assert_eq!(file.line(b"{}"), Err(Refused::BROKEN));
}

/// What is no recording is refused, with the number of the line.
#[test]
fn nonsense_is_refused() {
    let begin = r#"{"turn":"1","at":0,"begin":{"version":1}}"#;
    let done = r#"{"turn":"1","at":5,"event":{"type":"completed"}}"#;
    for (lines, says) in [
        (vec!["x"], "line 1 is not the JSON of a recording"),
        (vec!["", "[]"], "line 2 is not the JSON of a recording"),
        (vec![r#"{"at":0}"#], "line 1 names no turn"),
        (vec![r#"{"turn":"1"}"#], "line 1 has no time"),
        (
            vec![r#"{"turn":"1","at":-1}"#],
            "line 1 is not the JSON of a recording",
        ),
        (
            vec![r#"{"turn":"1","turn":"2","at":0}"#],
            "line 1 is not the JSON of a recording",
        ),
        (
            vec![r#"{"turn":"1","at":0,"begin":{}}"#],
            "line 1 is of another version",
        ),
        (vec![begin, begin], "line 2 begins a turn that has begun"),
        (vec![done], "line 1 is of a turn that has not begun"),
        (
            vec![begin, r#"{"turn":"1","at":0,"event":{"type":"text"}}"#],
            "line 2 holds something else than it says",
        ),
        (
            vec![
                begin,
                r#"{"turn":"1","at":0,"event":{"type":"x","type":"completed"}}"#,
            ],
            "line 2 holds something else than it says",
        ),
        (vec![begin, done, done], "line 3 follows a terminal event"),
        (
            vec![begin, r#"{"turn":"1","at":9,"event":{"type":"x"}}"#, done],
            "line 3 goes back in time",
        ),
        (
            vec![begin, done, r#"{"turn":"1","at":5,"end":"failed"}"#],
            "line 3 has an end that does not fit the last event",
        ),
        (
            vec![begin, r#"{"turn":"1","at":5,"end":"completed"}"#],
            "line 2 has an end that does not fit the last event",
        ),
        (
            vec![begin, r#"{"turn":"1","at":5,"end":"sunk"}"#],
            "line 2 has an unknown end",
        ),
        (
            vec![begin, r#"{"turn":"1","at":5,"end":"truncated"}"#, done],
            "line 3 is of a turn that is over",
        ),
    ] {
        let error = Recording::read(lines.join("\n").as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), says, "{lines:?}");
    }
    // What a later version may add is no fault, and a process that died wrote no end.
    let lines = [
        r#"{"turn":"1","at":0,"begin":{"version":1,"new":1},"new":{"a":[1]}}"#,
        r#"{"turn":"1","at":1,"note":"new"}"#,
        r#"{"turn":"1","at":1,"event":{"type":"text","delta":"a"}}"#,
    ];
    let recording = read(&lines.join("\n")).remove(0);
    assert_eq!((recording.end(), recording.is_complete()), (None, false));
    assert_eq!(recording.events().len(), 1);
}

/// Whoever wrote the lines does not choose how much of us they take.
#[test]
fn reading_has_bounds() {
    let read = |limits, text: &mut dyn Read| {
        Recording::read_at_most(BufReader::new(text), limits)
            .unwrap_err()
            .to_string()
    };
    let mut endless = io::repeat(b'x');
    let limits = ReadLimits::new().line(1_000);
    assert_eq!(
        read(limits, &mut endless),
        "line 1 is more than may be read"
    );
    let mut empty = io::repeat(b'\n');
    let limits = ReadLimits::new().total(1_000);
    assert_eq!(
        read(limits, &mut empty),
        "line 1001 is more than may be read"
    );
    let begin = |turn| format!("{{\"turn\":\"{turn}\",\"at\":0,\"begin\":{{\"version\":1}}}}\n");
    let turns: String = (0..3).map(begin).collect();
    let limits = ReadLimits::new().turns(2);
    assert_eq!(
        read(limits, &mut turns.as_bytes()),
        "line 3 begins one turn too many"
    );
    assert_eq!(read(limits, &mut &b"\xff"[..]), "line 1 is not UTF-8");
    // The longest line that may be, and a last one without a break.
    let begin = begin(1);
    let limits = ReadLimits::new().line(begin.len()).total(begin.len());
    assert!(Recording::read_at_most(begin.as_bytes(), limits).is_ok());
    assert!(Recording::read_at_most(begin.trim_end().as_bytes(), limits).is_ok());
    // Depth, which the event counts from its own root.
    let deep = |depth: usize| {
        let (open, close) = ("[".repeat(depth), "]".repeat(depth));
        format!(
            "{begin}{{\"turn\":\"1\",\"at\":0,\"event\":{{\"type\":\"x\",\"v\":{open}{close}}}}}"
        )
    };
    assert!(Recording::read(deep(127).as_bytes()).is_ok());
    assert!(Recording::read(deep(128).as_bytes()).is_err());
    assert!(Recording::read(deep(100_000).as_bytes()).is_err());
}

/// JSON values that a careless reader changes.
fn value() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "1.50",
        "1e400",
        "-0",
        "-0.0E+1",
        "123456789012345678901234567890",
        r#""\u0041\/\ud83d\ude00 \ud800""#,
        r#""a\nb""#,
        "{}",
    ])
    .prop_map(str::to_owned);
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3)
                .prop_map(|it| format!("[{}]", it.join(" ,"))),
            inner.prop_map(|it| format!(r#"{{"\u0062":{it},"a": {it}}}"#)),
        ]
    })
}

fn event() -> impl Strategy<Value = String> {
    (value(), value(), 0..7_u8).prop_map(|(one, two, kind)| match kind {
        0 => format!(r#"{{"type":"text","delta":"é\u00e9\\","n":{one}}}"#),
        1 => format!(r#"{{"type":"tool_started","id":"1","name":"n","args":{one},"x":{two}}}"#),
        2 => format!(r#"{{"type":"tool_ended","id":"1","isError":false,"content":{one}}}"#),
        3 => format!(
            r#"{{"type":"retrying","attempt":1.0,"maxAttempts":2e0,"delayMs":812.4,"reason":"","x":{one}}}"#
        ),
        4 => format!(r#"{{"type":"usage","id":"u","input":7,"x":{one}}}"#),
        // Not a usage that we know, and not a type either.
        5 => format!(r#"{{"type":"usage","id":7,"x":{one}}}"#),
        _ => format!(r#"{{ "n":{one} ,"type":"com.ex\u0061mple", "v":{two}}}"#),
    })
}

fn turn() -> impl Strategy<Value = (Vec<(u64, String)>, u8)> {
    let events = prop::collection::vec((0..50_u64, event()), 0..8);
    (events, value(), 0..4_u8).prop_map(|(mut events, data, end)| {
        match end {
            // Nobody knows of a turn that was dropped before it was polled.
            2 if events.is_empty() => events.push((3, r#"{"type":"x"}"#.to_owned())),
            0 => events.push((3, format!(r#"{{"type":"completed","data":{data},"x":{data}}}"#))),
            1 => events.push((3, format!(
                r#"{{"type":"failed","details":"no","retryable":true,"retryAfterMs":1.5,"x":{data}}}"#
            ))),
            _ => {}
        }
        (events, end)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// What is played and recorded again is the recording, token for token and moment for moment.
    #[test]
    fn a_recording_of_a_replay_is_the_recording((events, end) in turn()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (mut at, mut texts) = (0, Vec::new());
            let part: Vec<_> = events.iter().flat_map(|(wait, event)| {
                at += wait * 1_000;
                texts.push((at, event.clone()));
                [Do::Wait(Duration::from_millis(*wait)), Do::Say(AgentEvent::from_json(event).unwrap())]
            }).collect();
            let lines = memory();
            let record = RecordLayer::new(lines.clone());
            // Cancelled: the caller leaves after the last event.
            let play = async |agent: &dyn Fn() -> portcullis::BoxAgent| {
                let agent = agent();
                let mut turn = Box::pin(ask(&agent));
                for _ in 0..events.len() {
                    assert!(turn.next().await.is_some());
                }
                if end != 2 {
                    assert!(turn.next().await.is_none());
                }
                drop(turn);
                lines.take()
            };
            let first = play(&|| record.layer(actor(part.clone())).boxed()).await;
            let recording = read(&first).remove(0);
            let second = play(&|| record.layer(Replay::new(recording.clone()).timed()).boxed()).await;
            assert_eq!(nameless(&first), nameless(&second));
            // The lines hold the tokens that came in, by a reader that is not ours: every known member of these
            // events stands where the encoder puts it.
            for ((at, text), line) in texts.iter().zip(nameless(&first).iter().skip(1)) {
                let tokens = |text: &str| text.split_whitespace().collect::<String>();
                let unescaped = tokens(text).replace(r"\u00e9", "é");
                let expected = format!(r#"{{"at":{at},"event":{unescaped}}}"#);
                assert_eq!(tokens(line), expected);
            }
        });
    }
}

#[test]
fn nothing_shows_what_was_said() {
    let lines = memory();
    lines.line(b"secret").unwrap();
    let layer = RecordLayer::new(lines.clone());
    assert!(!format!("{layer:?}{lines:?}").contains("secret"));
}
