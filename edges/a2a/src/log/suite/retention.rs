use std::time::{Duration, SystemTime};

use tokio::time::timeout;

use super::{
    Fixture,
    sample::{at, key, message, moved, opened, opened_in},
};
use crate::{
    log::{Limits, ListQuery, Owner, Retention},
    model::{Role, TaskState},
};

/// Only so many finished tasks are kept, the latest ones, without being asked
/// (A2A-OP-118, O-M03).
pub async fn finished_tasks_go_by_number(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open(Retention::count(5), Limits::default());
    for number in 0..20 {
        let id = format!("t-{number}");
        log.put(&key(&id), 0, vec![opened_in(&id, "c-1", number)])
            .await;
        log.put(&key(&id), 1, vec![moved(&id, TaskState::Completed, number)])
            .await;
    }
    let page = log.list(ListQuery::new(Owner::ANONYMOUS, 100)).await;
    assert_eq!(page.total_size(), 5);
    for number in 0..20 {
        let id = format!("t-{number}");
        let kept = number >= 15;
        assert_eq!(log.snapshot(&key(&id)).await.is_some(), kept, "{id}");
        assert_eq!(log.read(&key(&id), 0, 10).await.is_some(), kept, "{id}");
    }
    // Who is gone was never there: the id is free.
    log.put(&key("t-0"), 0, vec![opened("t-0")]).await;
}

/// Finished tasks go when they are old, and who waits for one is woken.
pub async fn finished_tasks_go_by_age(open: impl Fn(Retention, Limits) -> Fixture) {
    let hour = Duration::from_secs(3_600);
    let fixture = open(Retention::count(100).with_max_age(hour), Limits::default());
    let log = fixture.log();
    for (id, seconds) in [("old", 0), ("new", 3_000)] {
        fixture
            .put(&key(id), 0, vec![opened_in(id, "c-1", seconds)])
            .await;
        fixture
            .put(&key(id), 1, vec![moved(id, TaskState::Failed, seconds)])
            .await;
    }
    fixture
        .put(&key("live"), 0, vec![opened_in("live", "c-1", 0)])
        .await;
    let start = SystemTime::UNIX_EPOCH
        + Duration::from_millis(at(0).unix_millis().try_into().expect("after 1970"));
    assert_eq!(log.retain(start + hour).await.unwrap(), 0, "not yet");
    let mut bell = log.bell(&key("old"));
    let later = start + hour + Duration::from_secs(1);
    assert_eq!(log.retain(later).await.unwrap(), 1);
    timeout(Duration::from_secs(60), bell.rung())
        .await
        .expect("who waits is told");
    assert!(fixture.snapshot(&key("old")).await.is_none());
    assert!(fixture.snapshot(&key("new")).await.is_some());
    assert!(
        fixture.snapshot(&key("live")).await.is_some(),
        "however old"
    );
    assert_eq!(log.retain(later).await.unwrap(), 0);
}

/// Whatever the retention, a task that is not finished keeps every update.
pub async fn live_tasks_stay(open: impl Fn(Retention, Limits) -> Fixture) {
    let retention = Retention::count(0).with_max_age(Duration::ZERO);
    let log = open(retention, Limits::default());
    for state in TaskState::ALL
        .into_iter()
        .filter(|state| !state.is_terminal())
    {
        let id = state.as_str();
        log.put(&key(id), 0, vec![opened(id), moved(id, state, 1)])
            .await;
        for seq in 2..50 {
            log.put(
                &key(id),
                seq,
                vec![message(Role::Agent, "m", "tick").into()],
            )
            .await;
        }
    }
    log.put(
        &key("t-1"),
        0,
        vec![opened("t-1"), moved("t-1", TaskState::Completed, 1)],
    )
    .await;
    let far = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    log.log().retain(far).await.unwrap();
    assert!(log.snapshot(&key("t-1")).await.is_none());
    for state in TaskState::ALL
        .into_iter()
        .filter(|state| !state.is_terminal())
    {
        let records = log.read(&key(state.as_str()), 0, 100).await.unwrap();
        assert_eq!(records.len(), 50);
    }
}
