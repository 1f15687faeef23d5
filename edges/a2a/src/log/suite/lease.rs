use std::time::{Duration, SystemTime};

use super::{
    Fixture,
    fixture::Open,
    sample::{key, message, moved, opened},
};
use crate::{
    log::{
        AppendError, Batch, Holder, Limits, ListQuery, Orphan, Owner, Retention, Seq, TaskKey,
        Update,
    },
    model::{Role, TaskState},
};

/// A task has one holder at a time: from the batch that says so to the one that releases
/// it or finishes it.
pub async fn holders_exclude_each_other(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let key = key("t-1");
    let (ann, bob) = (Holder::new("ann"), Holder::new("bob"));
    let batch = |seq, update: Update| Batch::new(key.clone(), Seq::new(seq)).with(update);
    let working = || moved("t-1", TaskState::Working, 1);
    let append = |batch: Batch| log.log().append(batch);

    append(batch(0, opened("t-1")).held_by(ann.clone()))
        .await
        .unwrap();
    let error = append(batch(1, working()).held_by(bob.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, AppendError::Held), "{error:?}");
    append(batch(1, working()).held_by(ann.clone()))
        .await
        .unwrap();
    // Whoever does not say who it is, as a cancel, is only fenced by the number.
    append(batch(2, working())).await.unwrap();
    let error = append(batch(3, working()).held_by(bob.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, AppendError::Held), "still ann's: {error:?}");

    append(batch(3, working()).held_by(ann.clone()).releasing())
        .await
        .unwrap();
    // A batch of nothing takes the task.
    let take = Batch::new(key.clone(), Seq::new(4)).held_by(bob.clone());
    assert_eq!(append(take).await.unwrap(), Seq::new(4));
    let error = append(batch(4, working()).held_by(ann.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, AppendError::Held), "{error:?}");
    // While it waits for its user it is nobody's, so that another process may go on.
    append(batch(4, moved("t-1", TaskState::InputRequired, 2)).held_by(bob.clone()))
        .await
        .unwrap();
    append(batch(5, message(Role::User, "m-2", "this one").into()).held_by(ann.clone()))
        .await
        .unwrap();
    let error = append(batch(6, working()).held_by(bob.clone()))
        .await
        .unwrap_err();
    assert!(matches!(error, AppendError::Held), "{error:?}");
    append(batch(6, working()).held_by(ann.clone()).releasing())
        .await
        .unwrap();
    append(batch(7, moved("t-1", TaskState::Completed, 2)).held_by(bob))
        .await
        .unwrap();
    let error = append(batch(8, working()).held_by(ann)).await.unwrap_err();
    assert!(matches!(error, AppendError::Finished), "{error:?}");
}

/// What a dead holder leaves behind goes to whoever asks, once; what waits for its user
/// stays, and so does what a living holder has (A2A-OP-117).
pub async fn orphans_are_taken_over_once(open: impl Fn(Retention, Limits) -> Fixture) {
    let fixture = open.fresh();
    let log = fixture.log();
    let (dead, alive, heir) = (
        Holder::new("dead"),
        Holder::new("alive"),
        Holder::new("heir"),
    );
    let start = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
    let after = |seconds| start + Duration::from_secs(seconds);
    for holder in [&dead, &alive, &heir] {
        log.renew(holder, after(30)).await.unwrap();
    }
    let open = async |id: &str, holder: Option<&Holder>, states: &[TaskState]| {
        let mut batch = Batch::new(key(id), Seq::ZERO).with(opened(id));
        for state in states {
            batch = batch.with(moved(id, *state, 1));
        }
        if let Some(holder) = holder {
            batch = batch.held_by(holder.clone());
        }
        log.append(batch).await.unwrap();
    };
    use TaskState::{AuthRequired, Completed, InputRequired, Working};
    open("untouched", Some(&dead), &[]).await;
    open("working", Some(&dead), &[Working]).await;
    open(
        "in need of a credential",
        Some(&dead),
        &[Working, AuthRequired],
    )
    .await;
    open("waiting", Some(&dead), &[Working, InputRequired]).await;
    open("answered", Some(&dead), &[Working, InputRequired]).await;
    let answer = message(Role::User, "m-2", "this one");
    let answer = Batch::new(key("answered"), Seq::new(3)).with(answer);
    log.append(answer.held_by(dead.clone())).await.unwrap();
    open("done", Some(&dead), &[Working, Completed]).await;
    open("run elsewhere", Some(&alive), &[Working]).await;
    open("nobody's", None, &[Working]).await;
    open("nobody's, waiting", None, &[Working, InputRequired]).await;
    open("nobody's, in need of a credential", None, &[AuthRequired]).await;

    let take = async |now, limit| {
        let orphans = log.orphans(&heir, now, limit).await.unwrap();
        let mut found: Vec<_> = orphans
            .iter()
            .map(|orphan| orphan.key().id().to_owned())
            .collect();
        found.sort();
        (orphans, found)
    };
    let (_, found) = take(after(10), 100).await;
    assert_eq!(found, ["nobody's"], "the others have a holder that lives");

    log.renew(&alive, after(90)).await.unwrap();
    log.renew(&heir, after(90)).await.unwrap();
    let (_, first) = take(after(60), 2).await;
    assert_eq!(first.len(), 2, "as many as asked for");
    let (_, rest) = take(after(60), 100).await;
    let mut all = [first, rest].concat();
    all.sort();
    assert_eq!(
        all,
        [
            "answered",
            "in need of a credential",
            "untouched",
            "working"
        ]
    );
    assert!(take(after(60), 100).await.1.is_empty(), "taken over once");

    // The one who was only asleep is fenced, whatever it believes.
    log.renew(&dead, after(90)).await.unwrap();
    let late = Batch::new(key("untouched"), Seq::new(1))
        .with(moved("untouched", Working, 2))
        .held_by(dead.clone());
    let error = log.append(late).await.unwrap_err();
    assert!(matches!(error, AppendError::Held), "{error:?}");

    // The heir dies as well.
    let last = Holder::new("last");
    log.renew(&last, after(200)).await.unwrap();
    let orphans = log.orphans(&last, after(150), 100).await.unwrap();
    assert_eq!(orphans.len(), 6);
    let find = |id: &str| -> &Orphan {
        let key: TaskKey = key(id);
        orphans.iter().find(|orphan| *orphan.key() == key).unwrap()
    };
    assert!(find("untouched").is_untouched(), "it may be run again");
    assert_eq!(find("untouched").state(), TaskState::Submitted);
    assert!(!find("working").is_untouched());
    assert_eq!(find("working").seq(), Seq::new(2));
    assert_eq!(find("run elsewhere").state(), Working);
    for orphan in orphans {
        let id = orphan.key().id().to_owned();
        let failed = Batch::new(orphan.key().clone(), orphan.seq())
            .with(moved(&id, TaskState::Failed, 9))
            .held_by(last.clone());
        log.append(failed).await.unwrap();
    }
    assert!(
        log.orphans(&last, after(1_000), 100)
            .await
            .unwrap()
            .is_empty()
    );
}

/// Of several servers that share a log, none takes over what is another's, nor finds it.
pub async fn namespaces_are_apart(open: impl Fn(Retention, Limits) -> Fixture) {
    let fixture = open.fresh();
    let log = fixture.log();
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_780_000_000);
    let owner = Owner::new(Some("acme"), None);
    let names = ["", "desk", "desk2"];
    let key = |name: &str| TaskKey::new(owner.in_namespace(name), "t-1");
    for name in names {
        assert_eq!(owner.in_namespace(name).tenant_in_namespace(), "acme");
        let batch = Batch::new(key(name), Seq::ZERO).with(opened("t-1"));
        let dead = Holder::new(format!("dead {name}")).in_namespace(name);
        log.append(batch.held_by(dead)).await.unwrap();
        if name == "desk" {
            let working = Batch::new(key(name), Seq::new(1));
            let working = working.with(moved("t-1", TaskState::Working, 1));
            log.append(working).await.unwrap();
        }
    }
    let state = async |name| {
        let found = log.snapshot(&key(name)).await.unwrap();
        found.unwrap().task().status.state
    };
    assert_eq!(state("").await, TaskState::Submitted);
    assert_eq!(state("desk").await, TaskState::Working);
    assert_eq!(state("desk2").await, TaskState::Submitted);
    assert!(log.snapshot(&key("other")).await.unwrap().is_none());
    for name in names {
        let listed = ListQuery::new(owner.in_namespace(name), 9);
        assert_eq!(log.list(listed).await.unwrap().total_size(), 1, "{name:?}");
        let heir = Holder::new(format!("heir {name}")).in_namespace(name);
        let orphans = log.orphans(&heir, now, 9).await.unwrap();
        let keys: Vec<_> = orphans.iter().map(Orphan::key).collect();
        assert_eq!(keys, [&key(name)], "{name:?}");
    }
}
