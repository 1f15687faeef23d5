use tokio::task::JoinSet;

use super::{Account, Claim, Denied, Ledger, Reservation};
use crate::budget::{Amounts, Limits, Meter};

/// The suite that every ledger passes. Wants an empty ledger, and tokio; the more
/// threads the better.
///
/// # Panics
///
/// Where the ledger breaks a promise of [`Ledger`].
pub async fn assert_ledger<L>(ledger: L)
where
    L: Ledger<Reserve: Send, Reservation: Send + 'static> + Clone + Send + Sync + 'static,
{
    refuses_what_is_not_there(&ledger).await;
    reserves_all_or_nothing(&ledger).await;
    draws_beyond_the_slice(&ledger).await;
    books_or_does_not(&ledger).await;
    replaces_what_was_charged(&ledger).await;
    gives_back_what_was_not_used(&ledger).await;
    charges_what_was_dropped(&ledger).await;
    stops_only_who_draws_more(&ledger).await;
    keeps_accounts_apart(&ledger).await;
    never_admits_too_many(&ledger).await;
}

fn calls(calls: u64) -> Amounts {
    Amounts::ZERO.with(Meter::ModelCalls, calls)
}

fn claim(id: &str, limit: u64, slice: u64) -> Claim {
    Claim::new(
        Account::new("suite", id),
        Limits::of(Meter::ModelCalls, limit),
        calls(slice),
    )
}

async fn reserve<L: Ledger>(ledger: &L, claims: Vec<Claim>) -> Option<L::Reservation> {
    match ledger.reserve(claims).await {
        Ok(reservation) => Some(reservation),
        Err(Denied::Exceeded(_)) => None,
        Err(Denied::Unavailable(error)) => panic!("the ledger is unavailable: {error}"),
    }
}

/// How much of an account is left: the most that can be reserved.
async fn left<L: Ledger>(ledger: &L, id: &str, limit: u64) -> u64 {
    let mut left = 0;
    while let Some(probe) = reserve(ledger, vec![claim(id, limit, left + 1)]).await {
        probe.settle(&Amounts::ZERO);
        left += 1;
    }
    left
}

async fn refuses_what_is_not_there<L: Ledger>(ledger: &L) {
    assert!(
        reserve(ledger, vec![claim("zero", 0, 1)]).await.is_none(),
        "a limit of zero is a limit"
    );
    let all = reserve(ledger, vec![claim("full", 2, 2)]).await;
    let all = all.expect("an empty account has what its limit says");
    assert!(
        reserve(ledger, vec![claim("full", 2, 1)]).await.is_none(),
        "what is reserved cannot be reserved again"
    );
    all.settle(&calls(2));
    assert!(
        reserve(ledger, vec![claim("full", 2, 1)]).await.is_none(),
        "what is used cannot be reserved again"
    );
}

async fn reserves_all_or_nothing<L: Ledger>(ledger: &L) {
    let claims = vec![claim("both-a", 5, 1), claim("both-b", 0, 1)];
    assert!(
        reserve(ledger, claims).await.is_none(),
        "one claim is refused"
    );
    assert_eq!(
        left(ledger, "both-a", 5).await,
        5,
        "then the other reserves nothing"
    );
}

async fn draws_beyond_the_slice<L: Ledger>(ledger: &L) {
    let mut turn = reserve(ledger, vec![claim("draw", 3, 1)])
        .await
        .expect("there is enough");
    turn.charge(&calls(3)).expect("up to the limit");
    assert!(
        reserve(ledger, vec![claim("draw", 3, 1)]).await.is_none(),
        "what is drawn is gone for others while the turn runs"
    );
    let over = turn.charge(&calls(4)).expect_err("over the limit");
    assert_eq!((over.meter(), over.limit()), (Meter::ModelCalls, 3));
    assert_eq!(
        turn.used(0).of(Meter::ModelCalls),
        4,
        "it is booked all the same"
    );
    turn.settle(&calls(4));
}

async fn books_or_does_not<L: Ledger>(ledger: &L) {
    let mut turn = reserve(ledger, vec![claim("try", 2, 1)])
        .await
        .expect("there is enough");
    turn.try_charge(&calls(2)).expect("up to the limit");
    turn.try_charge(&calls(3)).expect_err("over the limit");
    assert_eq!(turn.used(0).of(Meter::ModelCalls), 2, "nothing was booked");
    turn.settle(&calls(2));
}

async fn replaces_what_was_charged<L: Ledger>(ledger: &L) {
    let mut turn = reserve(ledger, vec![claim("replace", 9, 1)])
        .await
        .expect("there is enough");
    for used in [2, 3, 3] {
        turn.charge(&calls(used)).expect("within the limit");
    }
    assert_eq!(turn.used(0).of(Meter::ModelCalls), 3, "totals, not sums");
    turn.settle(&calls(4));
    assert_eq!(
        left(ledger, "replace", 9).await,
        5,
        "the settlement is what counts"
    );
}

async fn gives_back_what_was_not_used<L: Ledger>(ledger: &L) {
    let turn = reserve(ledger, vec![claim("back", 4, 4)])
        .await
        .expect("there is enough");
    turn.settle(&calls(1));
    assert_eq!(left(ledger, "back", 4).await, 3, "the rest is free again");
}

async fn charges_what_was_dropped<L: Ledger>(ledger: &L) {
    let turn = reserve(ledger, vec![claim("dropped", 4, 3)]).await;
    drop(turn.expect("there is enough"));
    assert_eq!(
        left(ledger, "dropped", 4).await,
        1,
        "a loop of crashes is not free"
    );
}

async fn stops_only_who_draws_more<L: Ledger>(ledger: &L) {
    let claims = || vec![claim("two", 3, 1)];
    let mut modest = reserve(ledger, claims()).await.expect("there is enough");
    let mut greedy = reserve(ledger, claims()).await.expect("there is enough");
    greedy
        .charge(&calls(3))
        .expect_err("one of the three is reserved");
    modest
        .charge(&calls(1))
        .expect("what it reserved is its own");
    modest.settle(&calls(1));
    greedy.settle(&calls(3));
}

async fn keeps_accounts_apart<L: Ledger>(ledger: &L) {
    let turn = reserve(ledger, vec![claim("mine", 1, 1)])
        .await
        .expect("there is enough");
    assert_eq!(left(ledger, "yours", 1).await, 1);
    turn.settle(&calls(1));
    assert_eq!(left(ledger, "yours", 1).await, 1);
}

/// O-B01.
async fn never_admits_too_many<L>(ledger: &L)
where
    L: Ledger<Reserve: Send, Reservation: Send + 'static> + Clone + Send + Sync + 'static,
{
    for round in 0..20 {
        let id = format!("race-{round}");
        let mut turns = JoinSet::new();
        for _ in 0..50 {
            let (ledger, id) = (ledger.clone(), id.clone());
            turns.spawn(async move {
                let turn = reserve(&ledger, vec![claim(&id, 10, 1)]).await?;
                tokio::task::yield_now().await;
                turn.settle(&calls(1));
                Some(())
            });
        }
        let admitted = turns.join_all().await.into_iter().flatten().count();
        assert_eq!(admitted, 10, "exactly as many as there is room for");
    }
}
