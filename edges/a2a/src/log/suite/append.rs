use std::sync::Arc;

use tokio::task::JoinSet;

use super::{
    Fixture,
    fixture::Open,
    sample::{artifact, key, message, more, moved, opened},
};
use crate::{
    log::{AppendError, Batch, Limits, Record, Retention, Seq, Update},
    model::{Role, TaskState},
};

/// A batch is stored whole or not at all, whatever is wrong with it, and wherever.
pub async fn batches_are_whole(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let key = key("t-1");
    let end = log
        .put(
            &key,
            0,
            vec![
                opened("t-1"),
                moved("t-1", TaskState::Working, 1),
                artifact("t-1", "a", "one"),
                more("t-1", "a", " two"),
            ],
        )
        .await;
    assert_eq!(end, Seq::new(4));

    let unknown = vec![
        artifact("t-1", "b", "fine"),
        more("t-1", "nothing", "an append to no artifact (O-L09)"),
    ];
    let error = log.append(&key, 4, unknown).await.unwrap_err();
    assert!(
        matches!(&error, AppendError::UnknownArtifact { artifact_id } if artifact_id == "nothing"),
        "{error:?}"
    );
    let past_the_end = vec![
        moved("t-1", TaskState::Completed, 2),
        artifact("t-1", "b", "too late"),
    ];
    let error = log.append(&key, 4, past_the_end).await.unwrap_err();
    assert!(matches!(error, AppendError::Finished), "{error:?}");
    let twice = vec![artifact("t-1", "b", "fine"), opened("t-1")];
    let error = log.append(&key, 4, twice).await.unwrap_err();
    assert!(matches!(error, AppendError::Misplaced), "{error:?}");

    let records = log.read(&key, 0, 100).await.unwrap();
    assert_eq!(records.len(), 4, "nothing of the refused batches is there");
    let snapshot = log.snapshot(&key).await.unwrap();
    assert_eq!(snapshot.seq(), Seq::new(4));
    assert_eq!(snapshot.task().status.state, TaskState::Working);
    assert_eq!(snapshot.task().artifacts.len(), 1);

    // An artifact that begins in the batch may go on in it.
    let together = vec![artifact("t-1", "b", "one"), more("t-1", "b", "two")];
    assert_eq!(log.put(&key, 4, together).await, Seq::new(6));
    // And in the very batch that opens the task.
    let all = vec![
        opened("t-2"),
        artifact("t-2", "a", "one"),
        more("t-2", "a", "two"),
        moved("t-2", TaskState::Completed, 1),
    ];
    assert_eq!(
        log.put(&super::sample::key("t-2"), 0, all).await,
        Seq::new(4)
    );
}

/// A batch goes where its writer believes the log to end, or nowhere.
pub async fn expected_seq_fences(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let key = key("t-1");
    let working = || vec![moved("t-1", TaskState::Working, 1)];

    let error = log.append(&key, 1, working()).await.unwrap_err();
    assert!(matches!(error, AppendError::NotFound), "{error:?}");
    let error = log.append(&key, 0, working()).await.unwrap_err();
    assert!(matches!(error, AppendError::Misplaced), "{error:?}");
    let error = log.append(&key, 0, Vec::new()).await.unwrap_err();
    assert!(matches!(error, AppendError::NotFound), "{error:?}");
    assert!(
        log.snapshot(&key).await.is_none(),
        "nothing was stored (O-L03)"
    );

    log.put(&key, 0, vec![opened("t-1")]).await;
    let error = log.append(&key, 0, vec![opened("t-1")]).await.unwrap_err();
    assert!(
        matches!(error, AppendError::Conflict { actual } if actual == Seq::new(1)),
        "{error:?}"
    );
    log.put(&key, 1, working()).await;
    for wrong in [0, 1, 3, 100] {
        let error = log.append(&key, wrong, working()).await.unwrap_err();
        assert!(
            matches!(error, AppendError::Conflict { actual } if actual == Seq::new(2)),
            "{error:?}"
        );
    }
    assert_eq!(log.read(&key, 0, 100).await.unwrap().len(), 2);
}

/// What is read is what was appended, numbered without a gap, from any place on.
pub async fn reading_goes_on_where_it_stopped(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let key = key("t-1");
    let updates = vec![
        opened("t-1"),
        moved("t-1", TaskState::Working, 1),
        artifact("t-1", "a", "line\nbreak \"quote\" \u{1f600}"),
        super::sample::joining("t-1", "a", "joined"),
        Update::from(message(Role::User, "m-2", "and then?")),
        moved("t-1", TaskState::Completed, 2),
    ];
    for (index, update) in updates.iter().enumerate() {
        log.put(&key, index as u64, vec![update.clone()]).await;
    }
    let all = log.read(&key, 0, 100).await.unwrap();
    assert_eq!(all, Record::encode_all(Seq::ZERO, &updates));
    for (index, record) in all.iter().enumerate() {
        assert_eq!(record.seq(), Seq::new(index as u64 + 1));
        assert_eq!(record.update().unwrap(), updates[index]);
    }
    for after in 0..=7 {
        for limit in 0..=7 {
            let some = log.read(&key, after, limit).await.unwrap();
            let rest = all.get(after as usize..).unwrap_or_default();
            assert_eq!(some, rest[..rest.len().min(limit)], "{after} {limit}");
        }
    }
    assert!(log.read(&super::sample::key("t-2"), 0, 1).await.is_none());
}

/// Of writers that append to the same place one wins, and everybody learns it.
pub async fn two_writers_race(open: impl Fn(Retention, Limits) -> Fixture) {
    const ROUNDS: u64 = 200;
    let fixture = open.fresh();
    let key = key("t-1");
    fixture.put(&key, 0, vec![opened("t-1")]).await;
    let mut writers = JoinSet::new();
    for name in ["left", "right"] {
        let log = Arc::clone(fixture.log());
        let key = key.clone();
        writers.spawn(async move {
            let mut won = 0;
            let mut seq = Seq::new(1);
            while seq.number() <= ROUNDS {
                let batch = Batch::new(key.clone(), seq).with(message(Role::Agent, name, "mine"));
                match log.append(batch).await {
                    Ok(end) => {
                        assert_eq!(end, seq.plus(1));
                        won += 1;
                        seq = end;
                    }
                    Err(AppendError::Conflict { actual }) => {
                        assert!(actual > seq, "{actual} is not behind {seq}");
                        seq = actual;
                    }
                    Err(other) => panic!("{other:?}"),
                }
                tokio::task::yield_now().await;
            }
            won
        });
    }
    let won: u64 = writers.join_all().await.into_iter().sum();
    let records = fixture.read(&key, 0, usize::MAX).await.unwrap();
    assert_eq!(won, ROUNDS);
    assert_eq!(records.len() as u64, ROUNDS + 1);
}
