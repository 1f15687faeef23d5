//! API keys as an operator uses them: made, served with, presented, taken back.

use std::{
    fs,
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Output, Stdio},
    thread,
    time::{Duration, Instant},
};

use tempfile::TempDir;

fn portcullis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command
        .env_remove("RUST_LOG")
        .env_remove("PORTCULLIS_KEY")
        .stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn make(file: &Path, words: &[&str]) -> Output {
    let mut command = portcullis();
    command.arg("key").arg(file).args(words);
    command.output().expect("the program starts")
}

/// A new key, as it is printed.
fn key(file: &Path, name: &str) -> String {
    let made = make(file, &[name]);
    assert!(made.status.success(), "{}", text(&made.stderr));
    text(&made.stdout).trim().to_owned()
}

/// A server with keys. What it logs goes into a file, all of it.
struct Served {
    child: Child,
    url: String,
    stack: String,
    _dir: TempDir,
    log: std::path::PathBuf,
}

impl Served {
    fn start(keys: &Path, more: &[&str]) -> Self {
        let dir = TempDir::new().expect("a directory");
        let log = dir.path().join("log");
        let mut child = portcullis()
            .env("RUST_LOG", "trace")
            .args([
                "serve",
                "--listen",
                "127.0.0.1:0",
                "--engine",
                "desk",
                "--dir",
            ])
            .arg(dir.path())
            .arg("--api-keys")
            .arg(keys)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(&log).expect("a file"))
            .spawn()
            .expect("the program starts");
        let mut out = BufReader::new(child.stdout.take().expect("piped"));
        let (mut first, mut stack) = (String::new(), String::new());
        out.read_line(&mut first).expect("where it is");
        out.read_line(&mut stack).expect("what is in front");
        let url = first
            .trim()
            .rsplit(' ')
            .next()
            .expect("an address")
            .to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{first}");
        Self {
            child,
            url,
            stack,
            _dir: dir,
            log,
        }
    }

    fn call(&self, key: Option<&str>) -> Output {
        let mut command = portcullis();
        if let Some(key) = key {
            command.env("PORTCULLIS_KEY", key);
        }
        command.args(["call", &self.url, "what is 12*34?"]);
        command.output().expect("the program starts")
    }

    fn answers(&self, key: &str) -> bool {
        let answered = self.call(Some(key));
        if answered.status.success() {
            assert!(
                text(&answered.stdout).contains("408"),
                "{}",
                text(&answered.stdout)
            );
        }
        answered.status.success()
    }

    fn soon(&self, key: &str, answers: bool) {
        let begun = Instant::now();
        while self.answers(key) != answers {
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "answers: {answers}"
            );
            thread::sleep(Duration::from_millis(200));
        }
    }

    /// One request, without a client of ours.
    fn get(&self, path: &str) -> String {
        let address = self.url.trim_start_matches("http://").trim_end_matches('/');
        let mut stream = TcpStream::connect(address).expect("it listens");
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n"
        )
        .expect("sent");
        let mut response = String::new();
        stream.read_to_string(&mut response).expect("a response");
        response
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn keys_are_made_presented_and_taken_back() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys");
    let alice = key(&file, "alice");
    let served = Served::start(&file, &[]);
    assert!(
        served.stack.contains("catch, auth (API keys), trace"),
        "{}",
        served.stack
    );
    // Without a key, and with a wrong one.
    let nobody = served.call(None);
    assert_eq!(nobody.status.code(), Some(1), "{nobody:?}");
    assert!(
        text(&nobody.stderr).contains("authentication is required"),
        "{nobody:?}"
    );
    let wrong = served.call(Some(&alice.replace("pck_", "pck_0")));
    assert_eq!(wrong.status.code(), Some(1));
    assert!(
        text(&wrong.stderr).contains("the key is not valid"),
        "{wrong:?}"
    );
    assert!(served.answers(&alice));
    // A key that is made while it serves, and one that is taken back.
    let bob = key(&file, "bob");
    served.soon(&bob, true);
    assert!(served.answers(&alice));
    let lines = fs::read_to_string(&file).expect("there");
    let without: String = lines
        .lines()
        .filter(|line| line.contains(" bob"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(file.with_extension("new"), without).expect("written");
    fs::rename(file.with_extension("new"), &file).expect("renamed");
    served.soon(&alice, false);
    assert!(served.answers(&bob));
    // Whatever is logged, no key is.
    let log = fs::read_to_string(&served.log).expect("a log");
    assert!(
        log.contains("refused") && log.contains("were read again"),
        "{log}"
    );
    for key in [&alice, &bob] {
        let secret = key.rsplit_once('_').expect("a secret").1;
        assert!(!log.contains(secret) && !lines.contains(secret));
    }
}

#[test]
fn the_card_says_how_to_present_a_key() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys");
    key(&file, "alice");
    let served = Served::start(&file, &[]);
    let card = served.get("/.well-known/agent-card.json");
    assert!(card.starts_with("HTTP/1.1 200"), "{card}");
    for part in [
        r#""bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}"#,
        r#""key":{"apiKeySecurityScheme":{"location":"header","name":"X-API-Key"}}"#,
        r#""securityRequirements":[{"schemes":{"bearer":{}}},{"schemes":{"key":{}}}]"#,
    ] {
        assert!(card.contains(part), "no {part} in {card}");
    }
    // A2A-RPC-35, A2A-REST-23.
    let refused = served.get("/").to_lowercase();
    assert!(refused.starts_with("http/1.1 401"), "{refused}");
    assert!(
        refused.contains("\r\nwww-authenticate: bearer realm=\"portcullis\"\r\n"),
        "{refused}"
    );
    assert!(refused.contains(r#""code":-32000"#), "{refused}");
    let refused = served.get("/rest/tasks");
    assert!(
        refused.contains(r#""status":"UNAUTHENTICATED""#) && refused.contains(r#""code":401"#),
        "{refused}"
    );
}

#[test]
fn a_key_without_the_scope_is_not_enough() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys");
    let reader = key(&file, "reader");
    let made = make(&file, &["writer", "write", "read"]);
    let writer = text(&made.stdout).trim().to_owned();
    let served = Served::start(
        &file,
        &["--require-scope", "read", "--require-scope", "write"],
    );
    let refused = served.call(Some(&reader));
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        text(&refused.stderr).contains("this takes the scopes: read write"),
        "{refused:?}"
    );
    assert!(served.answers(&writer));
}

/// A card may name any address; the key goes only to the one that was given.
#[test]
fn a_key_is_sent_to_nobody_else() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys");
    let alice = key(&file, "alice");
    let elsewhere = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", elsewhere.local_addr().expect("an address"));
    let served = Served::start(&file, &["--public-url", &url]);
    let stranger = thread::spawn(move || {
        let (mut stream, _) = elsewhere.accept().expect("a caller");
        let mut request = [0; 16 << 10];
        let read = stream.read(&mut request).expect("a request");
        write!(stream, "HTTP/1.1 500 x\r\ncontent-length: 0\r\n\r\n").expect("sent");
        text(&request[..read])
    });
    assert!(!served.answers(&alice));
    let request = stranger.join().expect("it listens");
    assert!(request.starts_with("POST / "), "{request}");
    let secret = alice.rsplit_once('_').expect("a secret").1;
    assert!(
        !request.contains(secret) && !request.to_lowercase().contains("authorization"),
        "{request}"
    );
}

#[test]
fn what_makes_no_sense_is_told() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("keys");
    let refused = make(&file, &["two words"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        text(&refused.stderr).contains("a subject is one word"),
        "{refused:?}"
    );
    assert!(!file.exists(), "nothing was written");
    let nowhere = make(&dir.path().join("none/keys"), &["alice"]);
    assert_eq!(nowhere.status.code(), Some(4));
    // A file without a line break at its end, and with scopes.
    fs::write(&file, "# ours").expect("written");
    let made = make(&file, &["alice", "read", "write"]);
    assert!(made.status.success(), "{made:?}");
    let lines = fs::read_to_string(&file).expect("there");
    assert!(
        lines.starts_with("# ours\n") && lines.ends_with(" alice read write\n"),
        "{lines}"
    );
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let fresh = dir.path().join("fresh");
        key(&fresh, "alice");
        let mode = fs::metadata(fresh).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    let serve = |keys: &Path| {
        let mut command = portcullis();
        command
            .args(["serve", "--engine", "desk", "--api-keys"])
            .arg(keys);
        command.output().expect("the program starts")
    };
    let missing = serve(&dir.path().join("missing"));
    assert_eq!(missing.status.code(), Some(4));
    assert!(
        text(&missing.stderr).contains("no API keys in"),
        "{missing:?}"
    );
    fs::write(&file, "rubbish").expect("written");
    let broken = serve(&file);
    assert_eq!(broken.status.code(), Some(4));
    assert!(
        text(&broken.stderr).contains("line 1 of the keys"),
        "{broken:?}"
    );
    let calling = portcullis()
        .env("PORTCULLIS_KEY", "a\nb")
        .args(["call", "http://127.0.0.1:1/", "x"])
        .output()
        .expect("the program starts");
    assert_eq!(calling.status.code(), Some(2), "{calling:?}");
}
