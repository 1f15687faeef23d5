//! `serve --plain` and `serve --engine plain`: turns as they are, over sockets.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, Command, Output, Stdio},
};

use portcullis::AgentEvent;
use tempfile::TempDir;

struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(environment: &[(&str, &str)], arguments: &[&str]) -> Self {
        let mut child = portcullis()
            .envs(environment.iter().copied())
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("piped"))
            .read_line(&mut first)
            .expect("it says where it is");
        let url = first.trim().rsplit(' ').next().expect("an address");
        assert!(url.contains("://127.0.0.1:"), "{first}");
        Self {
            url: url.to_owned(),
            child,
        }
    }

    fn turns(&self) -> String {
        format!("{}v1/turns", self.url)
    }

    /// Begins a turn; what follows the head of the response is read from the connection.
    fn connect(
        &self,
        target: &str,
        headers: &str,
        session: &str,
        text: &str,
    ) -> BufReader<TcpStream> {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let body = format!(r#"{{"scope":{{"session":"{session}"}},"prompt":{{"text":"{text}"}}}}"#);
        let mut connection = TcpStream::connect(address).expect("it listens");
        write!(
            connection,
            "POST {target} HTTP/1.1\r\nhost: h\r\nconnection: close\r\naccept: application/x-ndjson\r\n\
             content-type: application/json\r\n{headers}content-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("sent");
        BufReader::new(connection)
    }

    fn ask(&self, target: &str, headers: &str) -> (u16, String, Vec<AgentEvent>) {
        read(self.connect(target, headers, "s", "hello"))
    }
}

/// The status, the head, and the events of a turn.
fn read(mut connection: BufReader<TcpStream>) -> (u16, String, Vec<AgentEvent>) {
    let mut answer = String::new();
    connection.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a body");
    let status = head[9..12].parse().expect("a status");
    let events = body.lines().filter(|line| line.starts_with("{\"type\""));
    let events = events.map(|line| AgentEvent::from_json(line).expect("an event"));
    (status, head.to_owned(), events.collect())
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn portcullis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.env_remove("RUST_LOG").env_remove("PORTCULLIS_KEY");
    command.stdin(Stdio::null());
    command
}

fn refused(arguments: &[&str]) -> String {
    let output: Output = portcullis()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(arguments)
        .output()
        .expect("the program starts");
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn text(events: &[AgentEvent]) -> String {
    let deltas = events.iter().filter_map(|event| match event {
        AgentEvent::Text(text) => Some(text.delta()),
        _ => None,
    });
    deltas.collect()
}

/// One gate in front of another, called over A2A and over the plain edge.
#[test]
fn a_gate_behind_a_gate() {
    let engine = ["--plain", "--engine", "exec", "--", "tr", "a-z", "A-Z"];
    let engine = Served::start(&[], &engine);
    let upstream = engine.turns();
    let gate = [
        "--plain=/turns",
        "--engine",
        "plain",
        "--upstream",
        &upstream,
    ];
    let gate = Served::start(&[], &gate);
    let (status, _, events) = gate.ask("/turns", "");
    assert_eq!((status, text(&events).as_str()), (200, "HELLO"));
    assert!(matches!(events.last(), Some(AgentEvent::Completed(_))));

    let called = portcullis()
        .args(["call", &gate.url, "hi"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&called.stdout).contains("HI"),
        "{called:?}"
    );

    // The other paths are A2A's.
    let (status, ..) = gate.ask("/v1/turns", "");
    assert_eq!(status, 404);
    let without = Served::start(&[], &["--engine", "exec", "--", "cat"]);
    let (status, ..) = without.ask("/v1/turns", "");
    assert_eq!(status, 404);

    // An upstream that is gone.
    drop(engine);
    let (status, head, events) = gate.ask("/turns", "");
    assert_eq!(status, 503, "{head} {events:?}");
}

/// A key opens both doors, and the key of the environment goes to the upstream.
#[test]
fn keys_are_asked_for_at_both() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys.txt");
    let file = file.to_str().expect("text");
    let made = portcullis().args(["key", file, "ann"]).output().unwrap();
    let key = String::from_utf8(made.stdout).expect("a key");
    let key = key.trim();
    let engine = [
        "--plain",
        "--api-keys",
        file,
        "--engine",
        "exec",
        "--",
        "cat",
    ];
    let engine = Served::start(&[], &engine);
    let (status, head, _) = engine.ask("/v1/turns", "");
    assert_eq!(status, 401);
    assert!(head.to_ascii_lowercase().contains("www-authenticate"));
    let header = format!("authorization: Bearer {key}\r\n");
    let (status, _, events) = engine.ask("/v1/turns", &header);
    assert_eq!((status, text(&events).as_str()), (200, "hello"));

    let upstream = engine.turns();
    let gate = ["--plain", "--engine", "plain", "--upstream", &upstream];
    let with = Served::start(&[("PORTCULLIS_KEY", key)], &gate);
    let (status, _, events) = with.ask("/v1/turns", "");
    assert_eq!((status, text(&events).as_str()), (200, "hello"));
    let without = Served::start(&[], &gate);
    let (status, ..) = without.ask("/v1/turns", "");
    assert_eq!(status, 401);
}

/// Every edge calls a conversation the same, so it goes on through another one; and only for its owner.
#[test]
fn a_conversation_goes_on_over_the_other_edge() {
    let dir = TempDir::new().expect("a directory");
    let at = dir.path().to_str().expect("text");
    let file = dir.path().join("keys.txt");
    let file = file.to_str().expect("text");
    let [ann, bob] = ["ann", "bob"].map(|name| {
        let made = portcullis().args(["key", file, name]).output().unwrap();
        let key = String::from_utf8(made.stdout).expect("a key");
        key.trim().to_owned()
    });
    let desk = [
        "--plain",
        "--api-keys",
        file,
        "--engine",
        "desk",
        "--dir",
        at,
    ];
    let desk = Served::start(&[], &desk);
    let called = portcullis()
        .env("PORTCULLIS_KEY", &ann)
        .args(["call", &desk.url, "--context", "c-1", "what is 12*34?"])
        .output()
        .unwrap();
    assert!(
        String::from_utf8_lossy(&called.stdout).contains("408"),
        "{called:?}"
    );
    let goes_on = |key: &str, session: &str| {
        let header = format!("authorization: Bearer {key}\r\n");
        let turn = desk.connect("/v1/turns", &header, session, "and that in hex?");
        let (status, _, events) = read(turn);
        assert_eq!(status, 200);
        text(&events).contains("0x198")
    };
    assert!(goes_on(&ann, "c-1"));
    assert!(!goes_on(&ann, "c-2"), "another conversation");
    assert!(!goes_on(&bob, "c-1"), "another owner");
}

/// A caller that hangs up stops the program behind two gates; one that asked for it does not.
#[test]
fn a_caller_that_hangs_up() {
    let dir = TempDir::new().expect("a directory");
    let script = "name=$(cat); echo begun; sleep 1; echo > \"$name\"";
    let at = dir.path().to_str().expect("text");
    let engine = [
        "--plain",
        "--plain-grace",
        "60",
        "--dir",
        at,
        "--engine",
        "exec",
        "--",
        "sh",
        "-c",
        script,
    ];
    let engine = Served::start(&[], &engine);
    let upstream = engine.turns();
    let gate = ["--plain", "--engine", "plain", "--upstream", &upstream];
    let gate = Served::start(&[], &gate);
    let begin = |served: &Served, target: &str, text: &str| {
        let mut connection = served.connect(target, "", text, text);
        let mut line = String::new();
        while !line.contains("begun") {
            line.clear();
            assert_ne!(connection.read_line(&mut line).expect("a line"), 0);
        }
    };
    let began = std::time::Instant::now();
    begin(&gate, "/v1/turns", "cancelled");
    begin(&engine, "/v1/turns?detach", "kept");
    while !dir.path().join("kept").exists() {
        assert!(began.elapsed().as_secs() < 20, "it goes on");
        std::thread::yield_now();
    }
    // It began before, and takes as long.
    assert!(!dir.path().join("cancelled").exists());
}

#[test]
fn what_makes_no_sense_is_said() {
    for (arguments, said) in [
        (&["--engine", "plain"][..], "--upstream"),
        (&["--engine", "plain", "--upstream", "nonsense"], "address"),
        (&["--engine", "plain", "--upstream", "ftp://x/"], "address"),
        (
            &["--engine", "desk", "--upstream", "http://x/"],
            "--engine plain",
        ),
        (
            &["--engine", "plain", "--upstream", "http://x/", "--", "cat"],
            "--engine exec",
        ),
        (&["--engine", "desk", "--plain=v1"], "path"),
        (&["--engine", "desk", "--plain=/"], "path"),
        (&["--engine", "desk", "--plain=/rest/turns"], "path"),
        (&["--engine", "desk", "--plain-grace", "5"], "--plain"),
    ] {
        let told = refused(arguments);
        assert!(told.contains(said), "{arguments:?}: {told}");
    }
}
