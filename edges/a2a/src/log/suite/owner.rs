use portcullis::Principal;

use super::{
    Fixture,
    fixture::Open,
    sample::{moved, opened, opened_in},
};
use crate::{
    log::{AppendError, Limits, ListQuery, Owner, Retention, Seq, TaskKey},
    model::TaskState,
};

/// Who does not own a task finds what one finds of an id that never existed, and an id
/// may be in use by every owner at once (O-A01, O-A02, O-A06, A2A-OP-72).
pub async fn strangers_find_nothing(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let ann = Principal::new("user", "issuer", "ann");
    let bob = Principal::new("user", "issuer", "bob");
    // The same letters, cut elsewhere.
    let cut = Principal::new("user", "issue", "rann");
    let owners = [
        Owner::ANONYMOUS,
        Owner::new(Some("a"), None),
        Owner::new(Some("b"), None),
        Owner::new(None, Some(&ann)),
        Owner::new(Some("a"), Some(&ann)),
        Owner::new(Some("a"), Some(&bob)),
        Owner::new(Some("a"), Some(&cut)),
    ];
    let context = |index: usize| format!("c-{index}");
    for (index, owner) in owners.iter().enumerate() {
        let stranger = TaskKey::new(owner.clone(), "t-1");
        let nobody = TaskKey::new(owner.clone(), "t-never");
        for key in [&stranger, &nobody] {
            assert!(log.snapshot(key).await.is_none());
            assert!(log.read(key, 0, 10).await.is_none());
            for expected in 0..3 {
                let working = vec![moved("t-1", TaskState::Working, 1)];
                let error = log.append(key, expected, working).await.unwrap_err();
                let same = match expected {
                    0 => matches!(error, AppendError::Misplaced),
                    _ => matches!(error, AppendError::NotFound),
                };
                assert!(same, "{error:?}");
            }
        }
        let page = log.list(ListQuery::new(owner.clone(), 10)).await;
        assert!(page.tasks().is_empty());
        assert_eq!(page.total_size(), 0);

        // The id is free for this owner.
        let end = log
            .put(&stranger, 0, vec![opened_in("t-1", &context(index), 0)])
            .await;
        assert_eq!(end, Seq::new(1));
    }
    // What one does to its task the others do not see.
    for (index, owner) in owners.iter().enumerate() {
        let key = TaskKey::new(owner.clone(), "t-1");
        log.put(
            &key,
            1,
            vec![moved("t-1", TaskState::Completed, index as i64)],
        )
        .await;
        for (other, owner) in owners.iter().enumerate() {
            let key = TaskKey::new(owner.clone(), "t-1");
            let snapshot = log.snapshot(&key).await.unwrap();
            assert_eq!(snapshot.task().context_id, context(other));
            let done = snapshot.task().status.state == TaskState::Completed;
            assert_eq!(done, other <= index);
            let page = log.list(ListQuery::new(owner.clone(), 10)).await;
            assert_eq!(page.total_size(), 1);
            assert_eq!(page.tasks()[0].context_id, context(other));
            let foreign = ListQuery::new(owner.clone(), 10).in_context(context(other + 1));
            assert_eq!(log.list(foreign).await.total_size(), 0);
        }
    }
    // A task of an owner opened a second time is a conflict only there.
    let key = TaskKey::new(owners[1].clone(), "t-2");
    log.put(&key, 0, vec![opened("t-2")]).await;
    let key = TaskKey::new(owners[2].clone(), "t-2");
    log.put(&key, 0, vec![opened("t-2")]).await;
}
