//! The program as a person uses it: what it prints, how it ends, what it says when
//! something is wrong.

use std::{
    fs,
    io::{BufRead, BufReader, Write},
    net::TcpListener,
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
};

use tempfile::TempDir;

fn portcullis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// A directory with enough files for a scan to be watched.
fn directory() -> TempDir {
    let dir = TempDir::new().expect("a directory");
    for n in 0..20 {
        let file = dir.path().join(format!("file{n:02}.rs"));
        fs::write(file, "fn main() {}\n// two lines\n").expect("a file");
    }
    dir
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A server that ends with the test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        Self::start_with(arguments, Stdio::null())
    }

    fn start_with(arguments: &[&str], errors: Stdio) -> Self {
        let mut child = portcullis()
            .args(["serve", "--listen", "127.0.0.1:0"])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(errors)
            .spawn()
            .expect("the program starts");
        let mut first = String::new();
        let out = child.stdout.take().expect("piped");
        BufReader::new(out)
            .read_line(&mut first)
            .expect("it says where it is");
        let url = first
            .trim()
            .rsplit(' ')
            .next()
            .expect("an address")
            .to_owned();
        assert!(url.contains("://127.0.0.1:"), "{first}");
        Self { child, url }
    }

    fn call(&self, arguments: &[&str]) -> Output {
        run(portcullis().arg("call").arg(&self.url).args(arguments))
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn demo(dir: &Path, without: Option<&str>) -> Output {
    let mut command = portcullis();
    command.args(["demo", "--once", "--dir"]).arg(dir);
    if let Some(layer) = without {
        command.args(["--without", layer]);
    }
    run(&mut command)
}

#[test]
fn the_demo_comes_out_as_said() {
    let dir = directory();
    let done = demo(dir.path(), None);
    let said = text(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", text(&done.stderr));
    for line in [
        "I count 40 lines of Rust (20 files).",
        "40 * 12 = 480.",
        "budget      cut the turn after 3 tools",
        "concurrency refused: ",
        "task        CANCELED",
        "engine      stood still ",
        "trace       failed (timeout), ",
        "all turns came out as said",
    ] {
        assert!(said.contains(line), "no {line:?} in\n{said}");
    }
}

/// Ruling "The demo": it fails when any one layer is taken out.
#[test]
fn the_demo_fails_without_any_one_layer() {
    let runs = ["trace", "concurrency", "budget", "timeout"].map(|layer| {
        thread::spawn(move || {
            let dir = directory();
            (layer, demo(dir.path(), Some(layer)))
        })
    });
    for run in runs {
        let (layer, done) = run.join().expect("it does not panic");
        let said = text(&done.stdout);
        assert_eq!(done.status.code(), Some(1), "without {layer}:\n{said}");
        assert!(
            said.contains(&format!("not as said: {layer}: ")),
            "without {layer}:\n{said}"
        );
    }
}

/// It says what it lacks, instead of turns that fail for no reason that anybody sees.
#[test]
fn the_demo_says_when_a_directory_is_too_small() {
    let dir = TempDir::new().expect("a directory");
    fs::write(dir.path().join("one.txt"), "one\n").expect("a file");
    let done = demo(dir.path(), None);
    assert_eq!(done.status.code(), Some(2));
    assert!(
        text(&done.stderr).contains("at least 8 files"),
        "{}",
        text(&done.stderr)
    );
    assert_eq!(text(&done.stdout), "");
}

/// The task waits for the caller, and goes on with what the caller says (A2A-OP-59).
#[test]
fn what_is_missing_is_asked_for_and_answered() {
    let dir = directory();
    let dir = dir.path().to_str().expect("a path of ASCII");
    let served = Served::start(&["--engine", "desk", "--dir", dir]);
    let asked = served.call(&["find"]);
    assert_eq!(
        text(&asked.stdout),
        "What text shall I look for?\n",
        "once, not twice"
    );

    let asked = text(&served.call(&["--json", "find"]).stdout);
    assert!(asked.contains("TASK_STATE_INPUT_REQUIRED"), "{asked}");
    let first = asked.lines().next().expect("the task comes first");
    let first: serde_json::Value = serde_json::from_str(first).expect("JSON");
    let id = |member: &str| first["task"][member].as_str().expect("an id").to_owned();
    let (task, context) = (id("id"), id("contextId"));
    let answer = served.call(&["--task", &task, "--context", &context, "two in file03.rs"]);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert!(
        text(&answer.stdout).contains("file03.rs:2: // two lines"),
        "{}",
        text(&answer.stdout)
    );
}

#[test]
fn a_question_is_answered_over_http() {
    let dir = directory();
    let store = dir.path().join("tasks.sqlite");
    let store = store.to_str().expect("a path of ASCII");
    let dir = dir.path().to_str().expect("a path of ASCII");
    let served = Served::start(&["--engine", "desk", "--dir", dir, "--store", store]);
    let answer = served.call(&["what is 12*34, and that in hex?"]);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert_eq!(
        text(&answer.stdout),
        "12 * 34 = 408.\n408 in hexadecimal is 0x198.\n"
    );

    let frames = served.call(&["--json", "what is 1+1?"]);
    let lines = text(&frames.stdout);
    let states: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains("\"state\""))
        .filter_map(|line| line.split("TASK_STATE_").nth(1)?.split('"').next())
        .collect();
    assert_eq!(states, ["SUBMITTED", "WORKING", "COMPLETED"], "{lines}");
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).expect("each line is JSON");
    }
}

#[test]
fn a_failed_turn_is_exit_code_one_and_says_why() {
    let served = Served::start(&["--engine", "exec", "--", "sh", "-c", "echo half; exit 3"]);
    let answer = served.call(&["hello"]);
    assert_eq!(answer.status.code(), Some(1));
    assert_eq!(text(&answer.stdout), "half\n");
    let why = text(&answer.stderr);
    assert!(why.starts_with("portcullis: TASK_STATE_FAILED: "), "{why}");
    assert!(why.contains('3'), "it says with which code: {why}");
}

#[test]
fn any_program_is_an_agent() {
    let served = Served::start(&["--engine", "exec", "--", "tr", "a-z", "A-Z"]);
    let answer = served.call(&["shout"]);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert_eq!(text(&answer.stdout), "SHOUT\n");
}

/// Design 5: a message to a task that runs is the prompt of its next run, where the engine cannot be
/// steered.
#[test]
fn a_message_to_a_running_task_is_taken_up() {
    let place = TempDir::new().expect("a directory");
    let dir = place.path().to_str().expect("a path of ASCII");
    let script = r#"echo "got $(cat)"; until [ -e go ]; do sleep 0.05; done"#;
    let served = Served::start(&["--engine", "exec", "--dir", dir, "--", "sh", "-c", script]);
    let send = |arguments: &[&str]| {
        let mut child = portcullis()
            .args(["call", "--json", &served.url])
            .args(arguments)
            .stdout(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        (child, lines)
    };
    let read = |line: String| serde_json::from_str::<serde_json::Value>(&line).expect("JSON");
    let (one, mut first) = send(&["one"]);
    let task = read(first.next().expect("the task").expect("a line"));
    let id = task["task"]["id"].as_str().expect("an id").to_owned();
    // Until the program has said something.
    let said = first.by_ref().map(|line| line.expect("a line"));
    let said = said.take_while(|line| !line.contains("got one")).count();
    assert!(said < 5, "{said}");
    let (two, mut second) = send(&["--task", &id, "two"]);
    let task = read(second.next().expect("the task").expect("a line"));
    let history = &task["task"]["history"];
    assert_eq!(history[0]["parts"][0]["text"], "one");
    assert_eq!(history[1]["parts"][0]["text"], "two");
    fs::write(place.path().join("go"), "").expect("a file");
    for (mut child, rest) in [(one, first), (two, second)] {
        let rest: Vec<_> = rest.map(|line| line.expect("a line")).collect();
        let rest = rest.join("\n");
        assert!(rest.contains("got two"), "{rest}");
        assert!(rest.contains("TASK_STATE_COMPLETED"), "{rest}");
        assert!(child.wait().expect("it ends").success());
    }
}

/// Runs the program, which cannot do what it is asked: code and what it said.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let done = run(portcullis().args(arguments));
    (done.status.code(), text(&done.stderr))
}

#[test]
fn a_port_in_use_is_said() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("an address").to_string();
    let (code, said) = refused(&["serve", "--engine", "desk", "--listen", &address]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains(&address) && said.contains("in use"), "{said}");
}

#[test]
fn a_refused_connection_is_said() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", free.local_addr().expect("an address"));
    drop(free);
    let (code, said) = refused(&["call", &url, "hello"]);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains(&format!("nobody listens at {url}")), "{said}");
}

#[test]
fn a_wrong_address_is_said() {
    for url in ["desk", "ftp://127.0.0.1/", "http://", "http://[::1"] {
        let (code, said) = refused(&["call", url, "hello"]);
        assert_eq!(code, Some(2), "{url}: {said}");
        assert!(said.contains(url), "{said}");
    }
}

#[test]
fn a_server_that_is_no_agent_is_said() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("an address"));
    let web = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a caller");
        let mut line = String::new();
        BufReader::new(&stream)
            .read_line(&mut line)
            .expect("a request");
        let page = "<html>hello</html>";
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: {}\r\n\r\n{page}",
            page.len()
        )
        .expect("an answer");
        line
    });
    let (code, said) = refused(&["call", &url, "hello"]);
    assert!(
        web.join()
            .expect("it answered")
            .contains("/.well-known/agent-card.json")
    );
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("no A2A 1.0 agent"), "{said}");
}

#[test]
fn what_cannot_be_served_is_said() {
    let (code, said) = refused(&["serve", "--engine", "model"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("desk") && said.contains("exec"),
        "it names the engines: {said}"
    );

    let (code, said) = refused(&["serve", "--engine", "exec"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(said.contains("which program?"), "{said}");

    let (code, said) = refused(&["serve", "--engine", "exec", "--", "no-such-program-here"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("no-such-program-here"), "{said}");

    let (code, said) = refused(&["serve", "--engine", "desk", "--dir", "/no/such/directory"]);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("/no/such/directory"), "{said}");

    let store = [
        "serve",
        "--engine",
        "desk",
        "--listen",
        "127.0.0.1:0",
        "--store",
        "/no/such/dir/t",
    ];
    let (code, said) = refused(&store);
    assert_eq!(code, Some(4), "{said}");
    assert!(said.contains("/no/such/dir/t"), "{said}");
}

#[test]
fn the_demo_ends_when_nobody_reads_on() {
    let dir = directory();
    let mut demo = portcullis()
        .args(["demo", "--dir"])
        .arg(dir.path())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(demo.stdout.take());
    assert!(demo.wait().expect("it ends").success());
}

#[cfg(unix)]
#[test]
fn what_it_says_to_try_can_be_pasted() {
    let mut server = portcullis()
        .args(["serve", "--listen", "127.0.0.1:0", "--engine", "desk"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let out = BufReader::new(server.stdout.take().expect("piped"));
    let hint = out
        .lines()
        .map(|line| line.expect("text"))
        .find_map(|line| line.strip_prefix("try: ").map(str::to_owned))
        .expect("a hint");
    let tried = run(Command::new("sh").arg("-c").arg(&hint));
    server.kill().expect("it runs");
    server.wait().expect("it ends");
    assert!(tried.status.success(), "{hint}");
    assert!(text(&tried.stdout).contains("408"), "{hint}");
}

/// Pages, filters and both forms; what is not there is said.
#[test]
fn tasks_are_listed_read_and_cancelled() {
    let served = Served::start(&["--engine", "exec", "--", "tr", "a-z", "A-Z"]);
    let tasks =
        |what: &str, rest: &[&str]| run(portcullis().args(["tasks", what, &served.url]).args(rest));
    for n in 0..103 {
        let answer = served.call(&[&format!("shout {n}")]);
        assert!(answer.status.success(), "{}", text(&answer.stderr));
    }
    let listed = text(&tasks("list", &["--json", "--limit", "1000"]).stdout);
    let listed: Vec<serde_json::Value> = listed
        .lines()
        .map(|line| serde_json::from_str(line).expect("a JSON object a line"))
        .collect();
    let mut ids: Vec<&str> = listed
        .iter()
        .map(|task| task["id"].as_str().expect("an id"))
        .collect();
    let newest = ids[0].to_owned();
    let context = listed[0]["contextId"].as_str().expect("an id").to_owned();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 103, "each once, over two pages");
    let lines = |rest: &[&str]| text(&tasks("list", rest).stdout).lines().count();
    assert_eq!(lines(&["--limit", "7"]), 7);
    assert_eq!(lines(&[]), 100);
    assert_eq!(lines(&["--context", &context]), 1);
    assert_eq!(lines(&["--state", "failed"]), 0);
    assert_eq!(lines(&["--state", "completed", "--limit", "3"]), 3);

    let got = text(&tasks("get", &[&newest]).stdout);
    assert!(got.starts_with(&format!("{newest}  completed ")), "{got}");
    assert!(got.contains("\nuser    shout 102"), "{got}");
    assert!(got.contains("\nagent   SHOUT 102"), "{got}");

    let missing = tasks("get", &["no-such-task"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        text(&missing.stderr).contains("TASK_NOT_FOUND"),
        "{}",
        text(&missing.stderr)
    );
    let ended = tasks("cancel", &[&newest]);
    assert_eq!(ended.status.code(), Some(1));
    assert!(
        text(&ended.stderr).contains("TASK_NOT_CANCELABLE"),
        "{}",
        text(&ended.stderr)
    );
    let odd = tasks("list", &["--state", "odd"]);
    assert_eq!(odd.status.code(), Some(2));
}

#[test]
fn a_task_that_runs_is_cancelled() {
    let served = Served::start(&["--engine", "exec", "--", "sh", "-c", "echo begun; sleep 60"]);
    let mut call = portcullis()
        .args(["call", "--json", &served.url, "sleep"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut first = String::new();
    let mut frames = BufReader::new(call.stdout.take().expect("piped"));
    frames.read_line(&mut first).expect("the task comes first");
    let first: serde_json::Value = serde_json::from_str(&first).expect("JSON");
    let id = first["task"]["id"].as_str().expect("an id");
    let done = run(portcullis().args(["tasks", "cancel", &served.url, id]));
    assert!(done.status.success(), "{}", text(&done.stderr));
    assert!(
        text(&done.stdout).starts_with(&format!("{id}  canceled ")),
        "{}",
        text(&done.stdout)
    );
    let rest: Vec<_> = frames.lines().map(|line| line.expect("a line")).collect();
    assert!(rest.join("\n").contains("TASK_STATE_CANCELED"), "{rest:?}");
    assert_eq!(call.wait().expect("it ends").code(), Some(1));
}

#[cfg(unix)]
#[test]
fn it_stops_when_it_is_asked_to() {
    let program = ["sh", "-c", "echo begun; sleep 30"];
    let mut served = Served::start(&[&["--engine", "exec", "--"], &program[..]].concat());
    let mut call = portcullis()
        .args(["call", &served.url, "sleep"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    let mut first = String::new();
    let mut answer = BufReader::new(call.stdout.take().expect("piped"));
    answer.read_line(&mut first).expect("the turn runs");
    assert_eq!(first, "begun\n");
    let pid = rustix::process::Pid::from_child(&served.child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).expect("it runs");
    let asked = std::time::Instant::now();
    let status = served.child.wait().expect("it ends");
    assert!(status.success(), "{status}");
    // O-D04. With room for a busy machine: what is tested is that it does not wait for
    // the turn, which would take half a minute.
    assert!(asked.elapsed().as_secs() < 15, "{:?}", asked.elapsed());
    let call = call.wait().expect("its caller ends too");
    assert_eq!(call.code(), Some(3), "the server went away");
}

/// Serves a script that holds a named pipe open as its third descriptor, as long as it runs.
#[cfg(unix)]
fn served_with_pipe(script: &str) -> (TempDir, std::path::PathBuf, Served) {
    let dir = TempDir::new().expect("a directory");
    let pipe = dir.path().join("pipe");
    assert!(run(Command::new("mkfifo").arg(&pipe)).status.success());
    let place = dir.path().to_str().expect("text");
    let script = format!("exec 3>pipe; {script}");
    let served = Served::start(&[
        "--engine", "exec", "--dir", place, "--", "sh", "-c", &script,
    ]);
    (dir, pipe, served)
}

/// `call … | head -1`: a turn that nobody reads is cancelled, not run to its end.
#[cfg(unix)]
#[test]
fn a_reader_that_goes_away_cancels_the_turn() {
    use std::io::Read;

    let (_dir, pipe, served) = served_with_pipe("while :; do echo line; sleep 0.05; done");
    let mut call = portcullis()
        .args(["call", &served.url, "talk"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // Opens once the program opens it, ends once the program is gone.
    let mut alive = fs::File::open(&pipe).expect("a pipe");
    let mut first = String::new();
    let mut answer = BufReader::new(call.stdout.take().expect("piped"));
    answer.read_line(&mut first).expect("the turn runs");
    assert_eq!(first, "line\n");
    drop(answer);
    let done = call.wait_with_output().expect("it ends");
    assert_eq!(text(&done.stderr), "", "a reader that leaves is no news");
    assert_eq!(done.status.code(), Some(141));
    let mut rest = Vec::new();
    alive.read_to_end(&mut rest).expect("the program is gone");
}

#[cfg(unix)]
#[test]
fn asked_twice_it_ends_at_once_and_leaves_no_program_behind() {
    use std::io::Read;

    let (_dir, pipe, mut served) = served_with_pipe("sleep 60; echo survived >&3");
    let mut call = portcullis()
        .args(["call", &served.url, "sleep"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program starts");
    // Opens once the program opens it, ends once the program is gone.
    let mut held = fs::File::open(&pipe).expect("the program runs");

    let pid = rustix::process::Pid::from_child(&served.child);
    let status = loop {
        // Again and again, since two that come at once count as one.
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
        thread::yield_now();
        if let Some(status) = served.child.try_wait().expect("a child") {
            break status;
        }
    };
    assert_eq!(status.code(), Some(130));
    let mut said = String::new();
    held.read_to_string(&mut said).expect("a pipe");
    assert_eq!(said, "");
    call.wait().expect("its caller ends too");
}

/// Over TLS, with a certificate that only this test trusts.
#[test]
fn tls_from_end_to_end() {
    let dir = directory();
    let made = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    let (certificate, key) = (dir.path().join("a.crt"), dir.path().join("a.key"));
    fs::write(&certificate, made.cert.pem()).expect("a file");
    fs::write(&key, made.signing_key.serialize_pem()).expect("a file");
    let path = |path: &Path| path.to_str().expect("text").to_owned();
    let (dir, certificate, key) = (path(dir.path()), path(&certificate), path(&key));
    let engine = ["--engine", "desk", "--dir", &dir];

    let files = ["--tls-cert", &certificate, "--tls-key", &key];
    let served = Served::start(&[&engine[..], &files].concat());
    assert!(served.url.starts_with("https://"), "{}", served.url);
    let answer = served.call(&["what is 12*34?", "--ca", &certificate]);
    assert!(answer.status.success(), "{}", text(&answer.stderr));
    assert!(text(&answer.stdout).contains("408"));

    let refused = served.call(&["what is 12*34?"]);
    assert_eq!(refused.status.code(), Some(3));
    let said = text(&refused.stderr);
    assert!(said.contains("certificate"), "{said}");

    let swapped = ["--tls-cert", &key, "--tls-key", &certificate];
    let failed = run(portcullis()
        .args(["serve", "--listen", "127.0.0.1:0"])
        .args(engine)
        .args(swapped));
    assert_eq!(failed.status.code(), Some(4));
    let said = text(&failed.stderr);
    assert!(said.contains("no certificate in"), "{said}");
}

/// What a server writes to standard error during one turn.
fn log_of_a_turn(log: &str) -> Vec<String> {
    let folder = TempDir::new().expect("a folder");
    let file = folder.path().join("log");
    let errors = fs::File::create(&file).expect("a file");
    let arguments = ["--engine", "desk", "--log", log];
    let served = Served::start_with(&arguments, errors.into());
    assert!(served.call(&["what is 1+1?"]).status.success());
    // The line is written when the turn ends, which the caller may hear of before.
    for _ in 0..200 {
        let text = fs::read_to_string(&file).expect("it can be read");
        if text.contains("turn ended") && text.ends_with('\n') {
            return text.lines().map(str::to_owned).collect();
        }
        thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("no turn is logged");
}

#[test]
fn a_turn_is_one_short_line_for_people() {
    let lines = log_of_a_turn("text");
    let turns: Vec<_> = lines
        .iter()
        .filter(|line| line.contains("turn ended"))
        .collect();
    let [turn] = turns[..] else {
        panic!("{lines:#?}");
    };
    assert!(
        turn.contains(" INFO turn ended outcome=completed events="),
        "{turn}"
    );
    assert!(turn.contains(" session="), "{turn}");
    assert!(!turn.contains("gen_ai") && turn.len() < 160, "{turn}");
}

#[test]
fn a_turn_is_one_object_for_programs() {
    let lines = log_of_a_turn("json");
    let lines: Vec<serde_json::Value> = lines
        .iter()
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let mut turns = lines
        .iter()
        .filter(|line| line["fields"]["message"] == "turn ended");
    let turn = turns.next().expect("one");
    assert!(turns.next().is_none());
    assert_eq!(turn["fields"]["outcome"], "completed");
    assert_eq!(turn["span"]["gen_ai.operation.name"], "invoke_agent");
    assert!(turn["span"]["gen_ai.conversation.id"].is_string());
}

/// A webhook on this machine: refused unless it was said that it may be, and then every update arrives.
#[test]
fn webhooks_are_posted() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let hook = format!("http://{}/hook", listener.local_addr().expect("an address"));
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{{
            "message":{{"messageId":"m","role":"ROLE_USER","parts":[{{"text":"what is 12*34?"}}]}},
            "configuration":{{"taskPushNotificationConfig":{{"url":"{hook}","token":"tok"}}}}}}}}"#
    );
    let send = |served: &Served| {
        let at = served
            .url
            .trim_start_matches("http://")
            .trim_end_matches('/');
        let mut stream = std::net::TcpStream::connect(at).expect("it listens");
        write!(
            stream,
            "POST / HTTP/1.1\r\nhost: {at}\r\ncontent-type: application/json\r\na2a-version: 1.0\r\n\
             connection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        )
        .expect("it reads");
        let mut answer = String::new();
        std::io::Read::read_to_string(&mut stream, &mut answer).expect("it answers");
        answer
    };
    let refuses = |answer: &str, code: &str| assert!(answer.contains(code), "{answer}");
    refuses(&send(&Served::start(&["--engine", "desk"])), "-32003");
    let public = Served::start(&["--engine", "desk", "--webhooks", "public"]);
    refuses(&send(&public), "-32602");

    let receiver = thread::spawn(move || {
        let mut all = String::new();
        while !all.contains("TASK_STATE_COMPLETED") {
            let (mut stream, _) = listener.accept().expect("a delivery");
            let mut request = String::new();
            let mut reader = BufReader::new(stream.try_clone().expect("a socket"));
            let mut length = 0;
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a head");
                if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                    length = value.trim().parse().expect("a number");
                }
                request.push_str(&line);
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            std::io::Read::read_exact(&mut reader, &mut body).expect("a body");
            request.push_str(&text(&body));
            stream
                .write_all(b"HTTP/1.1 204 No Content\r\nconnection: close\r\n\r\n")
                .expect("an answer");
            all.push_str(&request);
        }
        all
    });
    let dir = TempDir::new().expect("a directory");
    let store = dir.path().join("store.db");
    let store = store.to_str().expect("text");
    let private = Served::start(&[
        "--engine",
        "desk",
        "--webhooks",
        "private",
        "--store",
        store,
    ]);
    let answer = send(&private);
    assert!(answer.contains("TASK_STATE_COMPLETED"), "{answer}");
    let got = receiver.join().expect("all of it came");
    assert!(got.contains("x-a2a-notification-token: tok"), "{got}");
    assert!(got.contains("TASK_STATE_WORKING"), "{got}");
}
