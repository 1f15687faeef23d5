//! What was acknowledged is there after the process was killed, and what its turns held is
//! charged.

use std::{
    collections::HashMap,
    env,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use portcullis_layers::budget::{Account, Amounts, Claim, Ledger, Limits, Meter, Reservation};
use portcullis_sqlite::SqliteLedger;
use tokio::task::JoinSet;

const CHILD: &str = "PORTCULLIS_LEDGER_CHILD";
const ROUNDS: &str = "PORTCULLIS_CRASH_ROUNDS";
const WRITERS: u64 = 32;
const SLICE: u64 = 5;
const LEASE: Duration = Duration::from_millis(300);

fn tokens(count: u64) -> Amounts {
    Amounts::ZERO.with(Meter::Tokens, count)
}

fn account(writer: u64) -> Account {
    Account::new("writer", writer.to_string())
}

fn say(line: &str) {
    // One write, so that a line is there or is not.
    io::stdout().lock().write_all(line.as_bytes()).unwrap();
}

/// Not a test of its own: the process that is killed. Each writer settles turns of three tokens,
/// one after the other, and tells of each when the ledger has it.
#[tokio::test(flavor = "multi_thread")]
async fn child() {
    let Some(file) = env::var_os(CHILD) else {
        return;
    };
    let ledger = SqliteLedger::open(Path::new(&file)).unwrap().lease(LEASE);
    let mut writers = JoinSet::new();
    for writer in 0..WRITERS {
        let ledger = ledger.clone();
        writers.spawn(async move {
            loop {
                let limits = Limits::of(Meter::Tokens, u64::MAX);
                let claim = Claim::new(account(writer), limits, tokens(SLICE));
                let mut turn = ledger.reserve(vec![claim]).await.unwrap();
                say(&format!("held {writer}\n"));
                turn.charge(&tokens(3)).unwrap();
                std::future::poll_fn(|cx| turn.poll_settle(&tokens(3), cx)).await;
                say(&format!("settled {writer}\n"));
            }
        });
    }
    writers.join_all().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_process_is_charged() {
    let rounds: u64 = match env::var(ROUNDS) {
        Ok(rounds) => rounds.parse().expect("a number of rounds"),
        Err(_) => 12,
    };
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let mut before: HashMap<u64, u64> = HashMap::new();
    let mut charged = 0;
    for round in 0..rounds {
        // At another moment each time.
        let told = killed(&file, 50 + round * 37 % 450);
        let ledger = SqliteLedger::open(&file).unwrap();
        // So that their time is over.
        tokio::time::sleep(LEASE + Duration::from_millis(50)).await;
        for writer in 0..WRITERS {
            let used = ledger
                .used(&account(writer))
                .await
                .unwrap()
                .of(Meter::Tokens);
            let since = used - before.insert(writer, used).unwrap_or(0);
            let (held, settled) = told.get(&writer).copied().unwrap_or_default();
            // One turn may be on its way: not told of, or held and charged.
            let least = settled * 3 + if held > settled { 3 } else { 0 };
            let most = settled * 3 + 3 + SLICE;
            assert!(
                (least..=most).contains(&since),
                "round {round}, writer {writer}: {since} for {settled} settled of {held}"
            );
            charged += u64::from(!since.is_multiple_of(3));
        }
        assert_eq!(ledger.reservations(), 0, "round {round}");
    }
    assert!(charged > 0, "no lease was ever charged");
}

/// How many turns of each writer were held, and settled, by what the child said.
fn killed(file: &Path, lines: u64) -> HashMap<u64, (u64, u64)> {
    let mut child = Command::new(env::current_exe().unwrap())
        .args(["kill::child", "--exact", "--nocapture", "--test-threads=1"])
        .env(CHILD, file)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told: HashMap<u64, (u64, u64)> = HashMap::new();
    let mut take = |line: &str| {
        for (word, place) in [("held ", 0), ("settled ", 1)] {
            if let Some((_, writer)) = line.split_once(word) {
                let told = told.entry(writer.parse().unwrap()).or_default();
                *if place == 0 { &mut told.0 } else { &mut told.1 } += 1;
                return 1;
            }
        }
        0
    };
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut seen = 0;
    while seen < lines {
        seen += take(
            &output
                .next()
                .expect("it writes until it is killed")
                .unwrap(),
        );
    }
    child.kill().unwrap();
    for line in output {
        take(&line.unwrap());
    }
    child.wait().unwrap();
    told
}
