use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::timeout};

use super::{
    Fixture,
    fixture::Open,
    sample::{key, message, opened},
};
use crate::{
    log::{Limits, Retention, Seq},
    model::Role,
};

/// A reader that takes its bell, reads, and waits when there is nothing, sees every
/// update, whenever it came (O-L06). Bells are counted, and all are given back.
pub async fn bells_lose_no_stroke(open: impl Fn(Retention, Limits) -> Fixture) {
    const UPDATES: u64 = 500;
    let fixture = Arc::new(open.fresh());
    let key = key("t-1");
    fixture.put(&key, 0, vec![opened("t-1")]).await;
    let mut readers = JoinSet::new();
    for reader in 0..8_u64 {
        let fixture = Arc::clone(&fixture);
        let key = key.clone();
        readers.spawn(async move {
            // Each joins at another time.
            for _ in 0..reader * 7 {
                tokio::task::yield_now().await;
            }
            let mut bell = fixture.log().bell(&key);
            let mut seen = Seq::ZERO;
            while seen.number() < UPDATES {
                let records = fixture.read(&key, seen.number(), 16).await.unwrap();
                for record in &records {
                    assert_eq!(record.seq(), seen.plus(1));
                    seen = record.seq();
                }
                if records.is_empty() {
                    timeout(PATIENCE, bell.rung())
                        .await
                        .expect("a stroke was lost");
                }
            }
        });
    }
    for seq in 1..UPDATES {
        let update = message(Role::Agent, "m", "tick").into();
        fixture.put(&key, seq, vec![update]).await;
        if seq % 3 == 0 {
            tokio::task::yield_now().await;
        }
    }
    readers.join_all().await;
    assert_eq!(fixture.log().bells(), 0, "a bell was not given back");
}

/// A bell may be taken before the task is there. It makes no task, and giving it back
/// leaves nothing (O-M03).
pub async fn bells_of_nothing_leave_nothing(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    for number in 0..1_000 {
        let key = key(&format!("t-{number}"));
        let bell = log.log().bell(&key);
        assert_eq!(log.log().bells(), 1);
        assert!(log.snapshot(&key).await.is_none());
        drop(bell);
    }
    assert_eq!(log.log().bells(), 0);

    let key = key("t-1");
    let mut early = log.log().bell(&key);
    let mut other = log.log().bell(&super::sample::key("t-2"));
    log.put(&key, 0, vec![opened("t-1")]).await;
    timeout(PATIENCE, early.rung()).await.expect("it has rung");
    let waker = std::task::Waker::noop();
    let mut cx = std::task::Context::from_waker(waker);
    assert!(early.poll_rung(&mut cx).is_pending(), "once for one batch");
    assert!(other.poll_rung(&mut cx).is_pending(), "another task's bell");
}

/// Long enough on any machine: it only ends what would hang.
const PATIENCE: Duration = Duration::from_secs(60);
