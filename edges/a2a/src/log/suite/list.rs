use std::collections::HashSet;

use super::{
    Fixture,
    fixture::Open,
    random::Random,
    sample::{CONTEXT, artifact, at, key, message, moved, opened, opened_in, said},
};
use crate::{
    log::{Cursor, Limits, ListPage, ListQuery, Owner, Retention},
    model::{Role, TaskState},
};

fn all(limit: usize) -> ListQuery {
    ListQuery::new(Owner::ANONYMOUS, limit)
}

fn ids(page: &ListPage) -> Vec<&str> {
    page.tasks().iter().map(|task| task.id.as_str()).collect()
}

/// Filters combine, the time is inclusive, no filter is no filter, and the total counts
/// what they let through, whatever the page (A2A-OP-78, A2A-OP-79, O-H05).
pub async fn lists_filter(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    for (id, context, seconds) in [
        ("t-1", "c-1", 10),
        ("t-2", "c-1", 20),
        ("t-3", "c-2", 20),
        ("t-4", "c-2", 30),
    ] {
        log.put(&key(id), 0, vec![opened_in(id, context, seconds)])
            .await;
    }
    // Its status is the newest now, and the context that its update names is not asked.
    log.put(&key("t-1"), 1, vec![moved("t-1", TaskState::Working, 40)])
        .await;

    let page = log.list(all(50)).await;
    assert_eq!(
        ids(&page),
        ["t-1", "t-4", "t-2", "t-3"],
        "newest first, then by id"
    );
    assert_eq!(page.total_size(), 4);
    assert!(page.next().is_none());

    let page = log.list(all(50).in_context("c-2")).await;
    assert_eq!(ids(&page), ["t-4", "t-3"]);
    let page = log.list(all(50).in_state(TaskState::Submitted)).await;
    assert_eq!(ids(&page), ["t-4", "t-2", "t-3"]);
    let page = log.list(all(50).changed_since(at(20))).await;
    assert_eq!(
        ids(&page),
        ["t-1", "t-4", "t-2", "t-3"],
        "the time is inclusive"
    );
    let page = log.list(all(50).changed_since(at(21))).await;
    assert_eq!(ids(&page), ["t-1", "t-4"]);
    let page = log
        .list(
            all(50)
                .in_context("c-2")
                .in_state(TaskState::Submitted)
                .changed_since(at(25)),
        )
        .await;
    assert_eq!(ids(&page), ["t-4"]);
    let page = log
        .list(all(50).in_context("c-2").in_state(TaskState::Working))
        .await;
    assert!(page.tasks().is_empty());
    assert_eq!(page.total_size(), 0);

    let page = log.list(all(1).in_state(TaskState::Submitted)).await;
    assert_eq!(ids(&page), ["t-4"]);
    assert_eq!(page.total_size(), 3, "counted before paging");
    let rest = all(50)
        .in_state(TaskState::Submitted)
        .after(page.next().unwrap().clone());
    let page = log.list(rest).await;
    assert_eq!(ids(&page), ["t-2", "t-3"]);
    assert_eq!(page.total_size(), 3);
}

/// Tasks are counted without showing one, those that are not finished as well, of one owner and in
/// one context.
pub async fn lists_count_what_is_not_finished(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    for (number, state) in TaskState::ALL.into_iter().enumerate() {
        for context in ["c-1", "c-2"] {
            let id = format!("t-{number}-{context}");
            let mut updates = vec![opened_in(&id, context, 1)];
            if state != TaskState::Submitted {
                updates.push(moved(&id, state, 2));
            }
            log.put(&key(&id), 0, updates).await;
        }
    }
    for (query, total) in [
        (all(0), 16),
        (all(0).unfinished(), 8),
        (all(0).unfinished().in_context("c-1"), 4),
        (all(0).unfinished().in_context("c-3"), 0),
        (all(0).unfinished().in_state(TaskState::Working), 2),
        (all(0).unfinished().in_state(TaskState::Failed), 0),
        (all(0).unfinished().changed_since(at(2)), 6),
        (
            ListQuery::new(Owner::from_parts("acme", ""), 0).unfinished(),
            0,
        ),
    ] {
        let page = log.list(query.clone()).await;
        assert_eq!(page.total_size(), total, "{query:?}");
        assert!(page.tasks().is_empty() && page.next().is_none());
    }
    let page = log.list(all(50).unfinished()).await;
    assert_eq!(page.tasks().len(), 8);
    assert!(
        page.tasks()
            .iter()
            .all(|task| !task.status.state.is_terminal())
    );
}

/// Artifacts and history only on request (A2A-OP-80, A2A-OP-81, O-H06), and otherwise the
/// task that a snapshot shows.
pub async fn lists_show_what_is_asked_for(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let note = message(Role::Agent, "m-2", "working on it");
    log.put(
        &key("t-1"),
        0,
        vec![
            opened("t-1"),
            said("t-1", TaskState::Working, 1, note.clone()),
            artifact("t-1", "a", "one"),
            moved("t-1", TaskState::Working, 2),
        ],
    )
    .await;
    let whole = log.snapshot(&key("t-1")).await.unwrap().into_task();
    assert_eq!(whole.history.len(), 2);
    for (artifacts, history) in [(false, false), (true, false), (false, true), (true, true)] {
        let query = all(50).with_artifacts(artifacts).with_history(history);
        let page = log.list(query).await;
        let mut expected = whole.clone();
        if !artifacts {
            expected.artifacts.clear();
        }
        if !history {
            expected.history.clear();
        }
        assert_eq!(page.tasks(), [expected]);
    }
    assert_eq!(whole.context_id, CONTEXT);
}

/// Pages show each task that stays as it is exactly once, in order, while others arrive and
/// change (A2A-OP-73, A2A-OP-74).
pub async fn cursors_hold_while_tasks_arrive(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let mut random = Random::new(7);
    for number in 0..100 {
        let id = format!("old-{number:03}");
        // Many share a time, so that the id has to break ties.
        let seconds = i64::try_from(random.below(10)).expect("small");
        log.put(&key(&id), 0, vec![opened_in(&id, CONTEXT, seconds)])
            .await;
    }
    for size in [1, 7, 50, 100, 101] {
        let mut shown = Vec::new();
        let mut next = None;
        let mut pages = 0_i64;
        loop {
            let query = match next.take() {
                Some(cursor) => all(size).after(cursor),
                None => all(size),
            };
            let page = log.list(query).await;
            assert!(page.tasks().len() <= size);
            let places: Vec<Cursor> = page.tasks().iter().map(Cursor::of).collect();
            assert!(places.is_sorted(), "{places:?}");
            shown.extend(ids(&page).into_iter().map(str::to_owned));
            pages += 1;
            next = page.next().cloned();
            if next.is_none() {
                break;
            }
            assert_eq!(page.tasks().len(), size, "only the last page is short");
            // One arrives, and one that arrived changes; both come before every cursor.
            let id = format!("new-{size}-{pages}");
            log.put(&key(&id), 0, vec![opened_in(&id, CONTEXT, 1_000)])
                .await;
            log.put(
                &key(&id),
                1,
                vec![moved(&id, TaskState::Working, 1_000 + pages)],
            )
            .await;
        }
        let old: Vec<_> = shown.iter().filter(|id| id.starts_with("old")).collect();
        let unique: HashSet<_> = old.iter().collect();
        assert_eq!(old.len(), 100, "pages of {size}");
        assert_eq!(unique.len(), 100, "pages of {size}");
        // The next round begins without the newcomers.
        let newcomers: Vec<_> = (1..pages)
            .map(|page| format!("new-{size}-{page}"))
            .collect();
        for id in newcomers {
            log.put(&key(&id), 2, vec![moved(&id, TaskState::Completed, 2_000)])
                .await;
        }
    }
}
