use std::{
    pin::{Pin, pin},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    task::{JoinSet, yield_now},
    time::timeout,
};

use super::{NotAcquired, SessionLock};

/// The suite that every lock passes. Wants two handles to one lock, as two processes have
/// them, and tokio; the more threads the better.
///
/// # Panics
///
/// Where the lock breaks a promise of [`SessionLock`].
pub async fn assert_session_lock<L>(replicas: [L; 2])
where
    L: SessionLock<Acquire: Send, Held: Send + 'static> + Clone + Send + Sync + 'static,
{
    let [here, there] = &replicas;
    for (one, other) in [(here, here), (here, there), (there, here)] {
        has_one_holder(one, other).await;
        keeps_sessions_apart(one, other).await;
        bounds_the_queue(one, other).await;
        serves_in_order(one, other).await;
        lets_waiters_leave(one, other).await;
        passes_on_what_a_leaver_had(one, other).await;
        does_not_free_a_later_holder(one, other).await;
    }
    holds_under_load(&replicas).await;
}

/// Longer than a lock needs to pass a session on, shorter than anybody waits for a test.
const SOON: Duration = Duration::from_secs(5);
/// Long enough for a mistake to show.
const A_WHILE: Duration = Duration::from_millis(50);

async fn takes<L: SessionLock>(lock: &L, session: &str) -> L::Held {
    soon(lock.acquire(session, 0)).await
}

async fn soon<T>(acquire: impl Future<Output = Result<T, NotAcquired>>) -> T {
    match timeout(SOON, acquire).await {
        Ok(Ok(held)) => held,
        Ok(Err(error)) => panic!("a session that is free was not given: {error}"),
        Err(_) => panic!("a session that is free was not given in time"),
    }
}

async fn is_busy<L: SessionLock>(lock: &L, session: &str) -> bool {
    match timeout(SOON, lock.acquire(session, 0)).await {
        Ok(Ok(_)) => false,
        Ok(Err(NotAcquired::Busy)) => true,
        Ok(Err(error)) => panic!("the lock cannot be asked: {error}"),
        Err(_) => panic!("who may not wait was made to wait"),
    }
}

async fn waits<T>(mut acquire: Pin<&mut impl Future<Output = Result<T, NotAcquired>>>) {
    if let Ok(answer) = timeout(A_WHILE, acquire.as_mut()).await {
        match answer {
            Ok(_) => panic!("a session that is held was given to another"),
            Err(error) => panic!("who may wait was refused: {error}"),
        }
    }
}

async fn has_one_holder<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "one-holder").await;
    assert!(is_busy(other, "one-holder").await, "it has two holders");
    drop(held);
    drop(soon(other.acquire("one-holder", 1)).await);
}

async fn keeps_sessions_apart<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "apart-1").await;
    drop(takes(other, "apart-2").await);
    drop(held);
    drop(soon(one.acquire("apart-1", 1)).await);
}

async fn bounds_the_queue<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "bounded").await;
    let mut waiting = pin!(other.acquire("bounded", 1));
    waits(waiting.as_mut()).await;
    let refused = timeout(SOON, one.acquire("bounded", 1)).await;
    assert!(
        matches!(refused, Ok(Err(NotAcquired::Busy))),
        "more wait than may"
    );
    drop(held);
    drop(soon(waiting).await);
}

async fn serves_in_order<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "order").await;
    let mut first = pin!(other.acquire("order", 2));
    waits(first.as_mut()).await;
    let mut second = pin!(one.acquire("order", 2));
    waits(second.as_mut()).await;
    drop(held);
    // The second asks first, and has to let the other one go.
    waits(second.as_mut()).await;
    let held = soon(first).await;
    waits(second.as_mut()).await;
    drop(held);
    drop(soon(second).await);
}

async fn lets_waiters_leave<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "leave").await;
    let mut last = pin!(one.acquire("leave", 2));
    {
        let mut leaves = pin!(other.acquire("leave", 2));
        waits(leaves.as_mut()).await;
        waits(last.as_mut()).await;
    }
    drop(held);
    drop(soon(last).await);
}

async fn passes_on_what_a_leaver_had<L: SessionLock>(one: &L, other: &L) {
    let held = takes(one, "pass-on").await;
    let mut last = pin!(one.acquire("pass-on", 2));
    {
        let mut called_up = pin!(other.acquire("pass-on", 2));
        waits(called_up.as_mut()).await;
        waits(last.as_mut()).await;
        drop(held);
        // It is called up now, does not look, and leaves.
    }
    drop(soon(last).await);
}

async fn does_not_free_a_later_holder<L: SessionLock>(one: &L, other: &L) {
    let first = takes(one, "later").await;
    let mut next = pin!(other.acquire("later", 1));
    waits(next.as_mut()).await;
    drop(first);
    let second = soon(next).await;
    tokio::time::sleep(A_WHILE).await;
    assert!(
        is_busy(one, "later").await,
        "the end of one holder freed what the next one holds"
    );
    drop(second);
    drop(soon(one.acquire("later", 1)).await);
}

async fn holds_under_load<L>(replicas: &[L; 2])
where
    L: SessionLock<Acquire: Send, Held: Send + 'static> + Clone + Send + Sync + 'static,
{
    const TURNS: usize = 200;
    let holders: Arc<[AtomicUsize; 3]> = Arc::default();
    let mut turns = JoinSet::new();
    for turn in 0..TURNS {
        let (lock, holders) = (replicas[turn % 2].clone(), Arc::clone(&holders));
        turns.spawn(async move {
            let session = turn % 3;
            let acquire = lock.acquire(["load-0", "load-1", "load-2"][session], TURNS);
            if turn % 7 == 0 {
                // Leaves at some time, perhaps while it holds.
                let _left = timeout(Duration::from_millis(turn as u64 % 5), acquire).await;
                return;
            }
            let held = acquire.await.expect("all of them may wait");
            let before = holders[session].fetch_add(1, Ordering::SeqCst);
            assert_eq!(before, 0, "two hold one session");
            yield_now().await;
            holders[session].fetch_sub(1, Ordering::SeqCst);
            drop(held);
        });
    }
    let all = async {
        while turns
            .join_next()
            .await
            .transpose()
            .expect("no panic")
            .is_some()
        {}
    };
    timeout(SOON * 12, all).await.expect("a wake-up was lost");
}
