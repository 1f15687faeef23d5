//! Tries a server of the protocol with this project's client, over every binding that its card
//! names, and as an agent. The server has to do what the prefixes of message ids say, as the
//! official conformance suite has it.
//!
//! ```sh
//! cargo run --bin try_server -- http://127.0.0.1:9000 [--fails 'GRPC cancel']…
//! ```
//!
//! A line for each check. `--fails` names a check that is known to fail by a fault of the server;
//! one that does not fail is an error too. The exit code is 1 if anything is not as expected.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "what it prints is what it is for"
)]

mod agent;
mod checks;
mod peer;

use std::{collections::BTreeSet, process::ExitCode, time::Duration};

use portcullis_a2a::client::{Binding, fetch_card};
use tokio::time::timeout;

use self::peer::{Http, Peer};

/// Long enough for a server on a busy machine, and for the longest check.
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(base) = arguments.next() else {
        eprintln!("usage: try_server URL [--fails 'BINDING check']…");
        return ExitCode::from(2);
    };
    let mut known = BTreeSet::new();
    while let Some(option) = arguments.next() {
        match (option.as_str(), arguments.next()) {
            ("--fails", Some(check)) => known.insert(check),
            _ => {
                eprintln!("what is {option}?");
                return ExitCode::from(2);
            }
        };
    }
    let card = match fetch_card(&Http::new(), &base).await {
        Ok(card) => card,
        Err(error) => {
            eprintln!("no card at {base}: {error}");
            return ExitCode::from(2);
        }
    };
    let (mut passed, mut wrong) = (0, 0);
    for &binding in Binding::ALL {
        let Some(peer) = Peer::of(&card, binding) else {
            continue;
        };
        for (name, check) in checks::ALL.iter().chain(agent::ALL) {
            let line = format!("{binding} {name}");
            let outcome = match timeout(PATIENCE, check(peer.clone())).await {
                Ok(outcome) => outcome,
                Err(_) => Err(format!("not over after {PATIENCE:?}")),
            };
            match (outcome, known.remove(&line)) {
                (Ok(()), false) => {
                    passed += 1;
                    println!("PASS {line}");
                }
                (Err(why), true) => println!("KNOWN {line}: {why}"),
                (Ok(()), true) => {
                    wrong += 1;
                    println!("FAIL {line}: was to fail, and does not");
                }
                (Err(why), false) => {
                    wrong += 1;
                    println!("FAIL {line}: {why}");
                }
            }
        }
    }
    for check in &known {
        wrong += 1;
        println!("FAIL {check}: there is no such check");
    }
    println!("{}: {passed} passed, {wrong} not as expected", card.name);
    ExitCode::from(u8::from(wrong > 0 || passed == 0))
}
