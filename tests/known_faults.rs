//! `docs/known-faults.md` is complete and names tests that exist.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

/// How many faults of each class there are.
const CLASSES: [(&str, usize); 14] = [
    ("W", 13),
    ("J", 9),
    ("S", 10),
    ("L", 18),
    ("H", 7),
    ("P", 12),
    ("A", 6),
    ("D", 8),
    ("M", 7),
    ("C", 8),
    ("G", 6),
    ("V", 5),
    ("R", 5),
    ("B", 16),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rows() -> Vec<(String, String)> {
    let page = fs::read_to_string(root().join("docs/known-faults.md")).expect("the page is there");
    let rows = page
        .lines()
        .filter(|line| line.starts_with("| O-"))
        .map(|line| {
            let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 3, "a row has three cells: {line}");
            (cells[0].to_owned(), cells[2].to_owned())
        });
    rows.collect()
}

/// All Rust source below a folder.
fn read_source(folder: &Path, source: &mut String) {
    for entry in fs::read_dir(folder).expect("the folder can be read") {
        let path = entry.expect("the entry can be read").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .unwrap_or_default();
        if path.is_dir()
            && !name.starts_with('.')
            && !name.starts_with("target")
            && name != "node_modules"
        {
            read_source(&path, source);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            source.push_str(&fs::read_to_string(&path).expect("the file can be read"));
        }
    }
}

/// Whether a function of this name is marked as a test, or is a check of a suite that a macro
/// makes tests of. A helper of a test runs only if somebody calls it.
fn is_a_test(source: &str, name: &str) -> bool {
    let head = format!("fn {name}(");
    source.match_indices(&head).any(|(at, _)| {
        let above = source[..at].rsplit("\n\n").next().unwrap_or_default();
        let marked = ["#[test]", "#[tokio::test"]
            .iter()
            .any(|mark| above.contains(mark));
        let suites = [
            "open: impl Fn(Retention, Limits)",
            // A check of the ledger's suite has its ledger, and the options that it asks for.
            "ledger: USUAL",
            "ledger: SHORT",
        ];
        let arguments = &source[at + head.len()..];
        marked || suites.iter().any(|suite| arguments.starts_with(suite))
    })
}

#[test]
fn every_fault_has_a_row() {
    let expected: BTreeSet<String> = CLASSES
        .iter()
        .flat_map(|(class, count)| (1..=*count).map(move |n| format!("O-{class}{n:02}")))
        .collect();
    assert_eq!(expected.len(), 130);
    let found: BTreeSet<String> = rows().into_iter().map(|(id, _)| id).collect();
    assert_eq!(found, expected);
}

#[test]
fn every_row_names_a_test_that_exists_or_an_issue() {
    let mut source = String::new();
    read_source(&root(), &mut source);
    for (id, shown_by) in rows() {
        let tests: Vec<&str> = shown_by.split('`').skip(1).step_by(2).collect();
        let issue = shown_by.contains("issue ");
        assert!(
            issue || !tests.is_empty(),
            "{id}: neither a test nor an issue: {shown_by}"
        );
        for test in tests {
            let name = test.rsplit("::").next().expect("split gives at least one");
            assert!(is_a_test(&source, name), "{id}: there is no test {test}");
        }
    }
}

/// O-M07: what only runs in a debug build may have a side effect that a release build
/// misses.
#[test]
fn nothing_is_left_out_of_a_release_build() {
    let mut source = String::new();
    read_source(&root(), &mut source);
    for word in [concat!("debug_", "assert"), concat!("debug_", "assertions")] {
        assert!(!source.contains(word), "{word} is in the source");
    }
}

/// O-D06: an arm whose pattern may not fit is switched off by the first value that does not, and a loop
/// that relied on it listens no more. The one that there is waits for nothing else.
#[test]
fn no_arm_of_a_select_can_be_switched_off() {
    let mut source = String::new();
    for folder in ["src", "layers/src", "edges", "stores", "net/src", "cli/src"] {
        read_source(&root().join(folder), &mut source);
    }
    let word = concat!("select", "!");
    let mut loops = 0;
    let mut arms = Vec::new();
    for (at, _) in source.match_indices(&format!("{word} {{")) {
        loops += 1;
        let body = &source[at..];
        let mut depth = 0;
        for line in body.lines() {
            let of_select = depth == 1;
            depth += line.matches('{').count();
            depth -= line.matches('}').count();
            let arm = line.trim_start();
            let refutable = ["Ok(", "Err(", "Some(", "None", "true", "false"]
                .iter()
                .any(|pattern| arm.starts_with(pattern));
            if of_select && refutable {
                arms.push(arm.to_owned());
            }
            if depth == 0 {
                break;
            }
        }
    }
    assert!(
        loops > 5,
        "only {loops} were found: is this still how they are written?"
    );
    assert_eq!(arms, ["Some(_) = connections.join_next() => {}"]);
}
