//! What is there after the process is not.

use std::{path::Path, time::Duration};

use portcullis_layers::budget::{
    Account, Amounts, Claim, Denied, Ledger, Limits, Meter, Reservation, Window,
};
use portcullis_sqlite::{Database, OpenError, SqliteLedger, SqliteOptions};

fn tokens(count: u64) -> Amounts {
    Amounts::ZERO.with(Meter::Tokens, count)
}

fn claim(account: &Account, limit: u64, slice: u64) -> Claim {
    Claim::new(
        account.clone(),
        Limits::of(Meter::Tokens, limit),
        tokens(slice),
    )
}

async fn used(ledger: &SqliteLedger, account: &Account) -> u64 {
    ledger.used(account).await.unwrap().of(Meter::Tokens)
}

fn open(file: &Path) -> SqliteLedger {
    SqliteLedger::open(file).unwrap()
}

/// What was acknowledged is there, and so are limits that were used up, debts and parts of
/// units. A settlement from a drop was queued, and is there as well.
#[tokio::test(start_paused = true)]
async fn balances_survive() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let life = Account::new("session", "s");
    let day = Account::new("session", "s").per(Window::DAY);
    let ledger = open(&file);
    let claims = vec![claim(&life, 10, 1), claim(&day, 20, 1)];
    let mut turn = ledger.reserve(claims).await.unwrap();
    turn.charge(&tokens(12)).unwrap_err();
    turn.settle(&tokens(12));
    drop(ledger);

    let ledger = open(&file);
    assert_eq!(used(&ledger, &life).await, 12);
    // A few microseconds may lie between, which is no token a day.
    assert!((11..=12).contains(&used(&ledger, &day).await));
    let refused = ledger.reserve(vec![claim(&life, 10, 1)]).await;
    assert!(matches!(refused, Err(Denied::Exceeded(_))));
    let granted = ledger.reserve(vec![claim(&day, 20, 8)]).await.unwrap();
    granted.settle(&Amounts::ZERO);
    // Its own clock goes on.
    tokio::time::advance(Duration::from_secs(86_400 / 2)).await;
    assert!((1..=2).contains(&used(&ledger, &day).await));
    assert_eq!(used(&ledger, &life).await, 12);
}

/// A lease whose process is gone counts until it runs out, and is charged then: what was
/// written of its use, and at least what it reserved.
#[tokio::test]
async fn leases_of_the_dead_are_charged() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let (one, other) = (Account::new("a", "1"), Account::new("a", "2"));
    let database = Database::open(&file).unwrap();
    let ledger = SqliteLedger::new(database).unwrap();
    let ledger = ledger.lease(Duration::from_millis(400));
    let idle = ledger.reserve(vec![claim(&one, 10, 4)]).await.unwrap();
    let mut busy = ledger.reserve(vec![claim(&other, 10, 1)]).await.unwrap();
    busy.charge(&tokens(7)).unwrap();
    // As if the process were gone: nobody settles, nobody drops.
    let mut another = ledger.reserve(vec![claim(&one, 10, 0)]).await.unwrap();
    std::future::poll_fn(|cx| another.poll_settle(&Amounts::ZERO, cx)).await;
    std::mem::forget((idle, busy));
    let copy = directory.path().join("copy.db");
    let connection = rusqlite::Connection::open(&file).unwrap();
    connection
        .execute("VACUUM INTO ?1", [copy.to_str().unwrap()])
        .unwrap();

    let ledger = open(&copy);
    assert_eq!(
        (used(&ledger, &one).await, used(&ledger, &other).await),
        (0, 7)
    );
    assert_eq!(ledger.reservations(), 2);
    let refused = ledger.reserve(vec![claim(&one, 10, 7)]).await;
    assert!(
        matches!(refused, Err(Denied::Exceeded(_))),
        "it still holds four"
    );
    tokio::time::sleep(Duration::from_millis(600)).await;
    assert_eq!(
        (used(&ledger, &one).await, used(&ledger, &other).await),
        (4, 7)
    );
    assert_eq!(ledger.reservations(), 0);
    drop(ledger);
    let ledger = open(&copy);
    assert_eq!(
        (used(&ledger, &one).await, used(&ledger, &other).await),
        (4, 7)
    );
}

/// The clock on the wall moved back while nobody looked: nothing comes back twice, and what
/// comes back goes on doing so.
#[tokio::test(start_paused = true)]
async fn a_clock_that_was_moved_does_no_harm() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let hour = Account::new("a", "1").per(Window::HOUR);
    let ledger = open(&file);
    let turn = ledger.reserve(vec![claim(&hour, 3_600, 1)]).await.unwrap();
    turn.settle(&tokens(3_600));
    drop(ledger);
    // The last write came from a clock that was an hour ahead.
    let ahead = "UPDATE ledger_accounts SET at = at + 3600000000, forget = forget + 3600000000";
    rusqlite::Connection::open(&file)
        .unwrap()
        .execute(ahead, [])
        .unwrap();

    let ledger = open(&file);
    assert_eq!(used(&ledger, &hour).await, 3_600);
    tokio::time::advance(Duration::from_secs(10)).await;
    assert_eq!(used(&ledger, &hour).await, 3_590);
}

/// O-M03: what all came back of is not kept, and what counts is.
#[tokio::test(start_paused = true)]
async fn accounts_are_forgotten_when_all_has_come_back() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let rows = || {
        let connection = rusqlite::Connection::open(&file).unwrap();
        let count = "SELECT count(*) FROM ledger_accounts";
        connection
            .query_row(count, [], |row| row.get::<_, i64>(0))
            .unwrap()
    };
    let ledger = open(&file).max_accounts(20);
    let life = Account::new("a", "life");
    ledger
        .reserve(vec![claim(&life, 10, 1)])
        .await
        .unwrap()
        .settle(&tokens(1));
    for number in 0..19 {
        let account = Account::new("a", number.to_string()).per(Window::MINUTE);
        let turn = ledger.reserve(vec![claim(&account, 10, 1)]).await.unwrap();
        turn.settle(&tokens(10));
    }
    let new = Account::new("a", "new").per(Window::MINUTE);
    let refused = ledger.reserve(vec![claim(&new, 10, 1)]).await;
    assert!(
        matches!(refused, Err(Denied::Unavailable(_))),
        "{refused:?}"
    );
    tokio::time::advance(Duration::from_secs(61)).await;
    let turn = ledger.reserve(vec![claim(&new, 10, 1)]).await.unwrap();
    turn.settle(&tokens(10));
    assert_eq!(used(&ledger, &life).await, 1);
    drop(ledger);
    assert_eq!(rows(), 2, "the new one and the one without a window");
}

/// A full disk is no spent budget; what was settled meanwhile is written when there is room.
#[tokio::test]
async fn a_write_that_fails_is_written_later() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ledger.db");
    let options = SqliteOptions::new().max_size(256 << 10);
    let database = Database::open_with(&file, &options).unwrap();
    let ledger = SqliteLedger::new(database.clone()).unwrap();
    let account = Account::new("a", "1");
    let mut turn = ledger
        .reserve(vec![claim(&account, 1_000, 1)])
        .await
        .unwrap();
    let mut fill = 0;
    let error = loop {
        let id = format!("{fill:01000}");
        match ledger
            .reserve(vec![claim(&Account::new("fill", id), 10, 1)])
            .await
        {
            Ok(turn) => turn.settle(&tokens(1)),
            Err(error) => break error,
        }
        fill += 1;
        assert!(fill < 1_000, "it never became full");
    };
    assert!(matches!(error, Denied::Unavailable(_)), "{error:?}");
    // The books go on: the turn is cut where its limit is.
    turn.charge(&tokens(999)).unwrap();
    turn.charge(&tokens(1_001)).unwrap_err();
    turn.settle(&tokens(1_001));
    assert_eq!(used(&ledger, &account).await, 1_001);
    let taken = SqliteLedger::new(database).unwrap_err();
    assert!(
        matches!(taken, OpenError::Taken { part: "ledger", .. }),
        "{taken:?}"
    );
    drop(ledger);
}
