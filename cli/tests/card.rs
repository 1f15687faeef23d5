//! Cards as a person sees them: printed, judged, signed and verified.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

use serde_json::{Value, json};
use tempfile::TempDir;

fn portcullis() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_portcullis"));
    command.env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn card(arguments: &[&str]) -> Output {
    let done = portcullis().arg("card").args(arguments).output();
    done.expect("the program starts")
}

/// A server that ends with the test, and what it said of itself.
struct Served {
    child: Child,
    url: String,
    said: Vec<String>,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = portcullis()
            .args(["serve", "--listen", "127.0.0.1:0", "--engine", "exec"])
            .args(arguments)
            .args(["--", "cat"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let out = BufReader::new(child.stdout.take().expect("piped"));
        let mut said = Vec::new();
        for line in out.lines() {
            let line = line.expect("a text");
            let last = line.starts_with("try: ");
            said.push(line);
            if last {
                break;
            }
        }
        let url = said[0].rsplit(' ').next().expect("an address").to_owned();
        Self { child, url, said }
    }

    /// The public key that it says to verify with, in a file.
    fn key(&self, dir: &Path) -> PathBuf {
        let says = "card: signed; verify it with ";
        let jwk = self.said.iter().find_map(|line| line.strip_prefix(says));
        let file = dir.join("key.jwk");
        fs::write(&file, jwk.expect("a key")).expect("a file");
        file
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A private key of P-256 in a PEM file.
fn private_key(dir: &Path) -> PathBuf {
    let file = dir.join("key.pem");
    let key = rcgen::KeyPair::generate().expect("a key");
    fs::write(&file, key.serialize_pem()).expect("a file");
    file
}

fn path(path: &Path) -> &str {
    path.to_str().expect("a text")
}

#[test]
fn a_card_is_signed_and_verified() {
    let dir = TempDir::new().expect("a directory");
    let signs = private_key(dir.path());
    let served = Served::start(&["--sign-key", path(&signs), "--sign-key-id", "2026"]);
    let key = served.key(dir.path());
    let verify = ["--verify", "--key", path(&key)];

    let shown = card(&[&[&*served.url], &verify[..]].concat());
    let said = text(&shown.stdout);
    assert!(shown.status.success(), "{said}{}", text(&shown.stderr));
    for line in [
        "cat 0.",
        "Passes a message to cat and answers what that prints.",
        &format!("at {} (JSONRPC 1.0)", served.url.trim_end_matches('/')),
        "does streaming",
        "lets everybody in",
        "signed by 2026, which is trusted",
    ] {
        assert!(
            said.lines().any(|said| said.starts_with(line)),
            "no {line:?} in\n{said}"
        );
    }
    let unverified = card(&[&served.url]);
    assert!(text(&unverified.stdout).contains("signatures: 1, not verified"));

    // What was saved is verified as it is.
    let json = card(&[&served.url, "--json"]).stdout;
    let file = dir.path().join("card.json");
    fs::write(&file, &json).expect("a file");
    let of_file = card(&[&[path(&file)], &verify[..]].concat());
    assert!(
        text(&of_file.stdout).contains("signed by 2026"),
        "{}",
        text(&of_file.stderr)
    );
    let mut changed: Value = serde_json::from_slice(&json).expect("JSON");
    changed["supportedInterfaces"][0]["url"] = json!("https://evil.example/");
    fs::write(&file, changed.to_string()).expect("a file");
    let of_file = card(&[&[path(&file)], &verify[..]].concat());
    assert_eq!(of_file.status.code(), Some(1));
    let said = text(&of_file.stderr);
    assert!(
        said.contains("not to be believed: the card is not what the named key has signed"),
        "{said}"
    );
    assert_eq!(text(&of_file.stdout), "", "nothing of it is shown");
}

#[test]
fn a_card_of_another_key_is_not_believed() {
    let [ours, theirs] = [(); 2].map(|()| TempDir::new().expect("a directory"));
    let theirs_signs = private_key(theirs.path());
    let key = Served::start(&["--sign-key", path(&theirs_signs)]).key(theirs.path());
    let ours_signs = private_key(ours.path());
    for arguments in [&["--sign-key", path(&ours_signs)][..], &[]] {
        let served = Served::start(arguments);
        let done = card(&[&served.url, "--verify", "--key", path(&key)]);
        assert_eq!(done.status.code(), Some(1));
        let said = text(&done.stderr);
        assert!(said.contains("is not to be believed: "), "{said}");
        assert_eq!(text(&done.stdout), "");
    }
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("card.json");
    let wrong = json!({
        "name": "a\u{1b}[2Jb", "description": "d", "capabilities": {"streaming": true},
        "supportedInterfaces": [{"url": "http://h.example/", "protocolBinding": "jsonrpc", "protocolVersion": "1.0"}],
        "defaultInputModes": ["text"], "defaultOutputModes": ["text/plain"],
        "skills": [{"id": "a", "name": "a", "description": "d", "tags": ["t"]}, {"id": "a", "name": "a", "description": "d", "tags": ["t"]}],
        "securityRequirements": [{"schemes": {"bearer": {}}}],
    });
    fs::write(&file, wrong.to_string()).expect("a file");
    let done = card(&[path(&file)]);
    assert_eq!(done.status.code(), Some(1));
    let said = text(&done.stderr);
    let said: Vec<_> = said.lines().collect();
    assert_eq!(
        said,
        [
            "wrong: version: required",
            "wrong: defaultInputModes[0]: must be a media type, such as text/plain",
            "wrong: skills[1].id: is that of skills[0]",
            "wrong: supportedInterfaces[0].protocolBinding: must be written JSONRPC",
            "wrong: securityRequirements[0].schemes.bearer: is no scheme of securitySchemes",
            "portcullis: the card cannot be served: 5 of its members are wrong",
        ]
    );
    // What somebody else wrote does not speak to the terminal.
    let shown = text(&done.stdout);
    assert!(shown.starts_with("a\\u{1b}[2Jb \n"), "{shown}");
    assert!(shown.contains("lets in who has bearer\n"), "{shown}");

    for (file, why) in [
        ("no/such/file", "cannot read"),
        (env!("CARGO_MANIFEST_PATH"), "is no card"),
    ] {
        let said = text(&card(&[file]).stderr);
        assert!(said.contains(why), "{said}");
    }
    let said = text(&card(&["http://127.0.0.1:1/"]).stderr);
    assert!(said.contains("nobody listens"), "{said}");
}

#[test]
fn what_cannot_be_served_or_signed_is_told() {
    let dir = TempDir::new().expect("a directory");
    let file = dir.path().join("not.pem");
    fs::write(&file, "no key").expect("a file");
    for (arguments, why) in [
        (
            ["--public-url", "agents.example.com"],
            "supportedInterfaces[0].url: must be an absolute URL",
        ),
        (
            ["--public-url", "https://me:secret@h.example/"],
            "must not hold credentials",
        ),
        (["--sign-key", path(&file)], "no key to sign with in "),
        (
            ["--sign-key", "no/such/file"],
            "no key to sign with in no/such/file",
        ),
    ] {
        let done = portcullis()
            .args(["serve", "--listen", "127.0.0.1:0", "--engine", "exec"])
            .args(arguments)
            .args(["--", "cat"])
            .output()
            .expect("the program starts");
        assert_eq!(done.status.code(), Some(4), "{arguments:?}");
        let said = text(&done.stderr);
        assert!(said.contains(why), "{arguments:?}: {said}");
        assert!(!said.contains("secret"), "{said}");
    }
}
