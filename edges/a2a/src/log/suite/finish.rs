use super::{
    Fixture,
    fixture::Open,
    sample::{artifact, key, message, moved, opened, said},
};
use crate::{
    log::{AppendError, Limits, Retention, Seq, Update},
    model::{Role, TaskState},
};

/// Nothing leaves a terminal state, and nothing is added to it (A2A-OP-116, O-L10).
pub async fn finished_tasks_refuse(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    for state in TaskState::ALL
        .into_iter()
        .filter(|state| state.is_terminal())
    {
        let id = state.as_str();
        let key = key(id);
        log.put(&key, 0, vec![opened(id)]).await;
        log.put(&key, 1, vec![moved(id, state, 1)]).await;
        let before = log.snapshot(&key).await.unwrap();
        let late: [Vec<Update>; 5] = [
            vec![moved(id, TaskState::Working, 2)],
            vec![moved(id, state, 2)],
            vec![artifact(id, "a", "late")],
            vec![message(Role::User, "m-2", "late").into()],
            Vec::new(),
        ];
        for batch in late {
            for expected in [1, 2, 3] {
                let error = log.append(&key, expected, batch.clone()).await.unwrap_err();
                assert!(matches!(error, AppendError::Finished), "{error:?}");
            }
        }
        assert_eq!(log.snapshot(&key).await.unwrap(), before);
        assert_eq!(log.read(&key, 0, 10).await.unwrap().len(), 2);
    }
}

/// The log of a task is bounded, and a task whose log is full can still be failed.
pub async fn full_logs_can_still_fail(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open(Retention::default(), Limits::new(5, 4_096));
    for (id, text) in [("t-1", String::new()), ("t-2", "x".repeat(1_500))] {
        let key = key(id);
        let mut seq = log.put(&key, 0, vec![opened(id)]).await;
        let refused = loop {
            let update = message(Role::Agent, "m", &text).into();
            match log.append(&key, seq.number(), vec![update]).await {
                Ok(end) => seq = end,
                Err(error) => break error,
            }
            assert!(seq <= Seq::new(5));
        };
        assert!(matches!(refused, AppendError::Full), "{refused:?}");
        assert!(seq > Seq::new(1));
        assert_eq!(
            log.read(&key, 0, 10).await.unwrap().len() as u64,
            seq.number()
        );
        let note = message(Role::Agent, "m-last", "the task has become too long");
        let failed = vec![said(id, TaskState::Failed, 1, note)];
        assert_eq!(log.put(&key, seq.number(), failed).await, seq.plus(1));
    }
}
