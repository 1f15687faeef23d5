use std::{
    collections::HashMap,
    hash::{BuildHasher, RandomState},
    sync::{Arc, Mutex, MutexGuard},
};

use super::{
    group::{Group, Place},
    store::lock,
};
use crate::{
    log::{ListQuery, Owner, TaskKey},
    model::TaskState,
};

/// Where the tasks of each owner stand in a list, so that a page of one owner's costs nothing of
/// the others' (A2A-SEC-7), and of that owner's little more than what it shows.
///
/// Its locks are taken with that of a task held, never the other way round.
#[derive(Debug)]
pub(super) struct Index {
    shards: Box<[Mutex<HashMap<Owner, Shelf>>]>,
    hasher: RandomState,
}

/// The tasks of one owner.
#[derive(Debug)]
struct Shelf {
    all: Group,
    contexts: HashMap<Arc<str>, Group>,
}

/// What a list sorts and filters by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) state: TaskState,
    /// The time of the status.
    pub(super) millis: i64,
}

impl Index {
    pub(super) fn new(shards: usize) -> Self {
        Self {
            shards: (0..shards).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// A task is new, is elsewhere now, or is gone.
    pub(super) fn update(
        &self,
        key: &TaskKey,
        context: &Arc<str>,
        was: Option<Standing>,
        is: Option<Standing>,
    ) {
        if was == is {
            return;
        }
        let mut shard = self.shard(key.owner());
        let shelf = shard.entry(key.owner().clone()).or_insert_with(Shelf::new);
        let group = shelf
            .contexts
            .entry(Arc::clone(context))
            .or_insert_with(Group::new);
        let place = |standing: Standing| Place {
            millis: standing.millis,
            id: key.shared_id(),
        };
        for group in [&mut shelf.all, &mut *group] {
            if let Some(was) = was {
                group.remove(was.state, &place(was));
            }
            if let Some(is) = is {
                group.insert(is.state, place(is));
            }
        }
        if group.is_empty() {
            shelf.contexts.remove(context);
        }
        if shelf.all.is_empty() {
            shard.remove(key.owner());
        }
    }

    /// The first places of a query, one more than it asks for, and how many there are in all.
    pub(super) fn page(&self, query: &ListQuery) -> (Vec<Place>, usize) {
        let shard = self.shard(query.owner());
        let group = shard
            .get(query.owner())
            .and_then(|shelf| match query.context_id() {
                Some(context) => shelf.contexts.get(context),
                None => Some(&shelf.all),
            });
        group.map_or_else(Default::default, |group| group.page(query))
    }

    fn shard(&self, owner: &Owner) -> MutexGuard<'_, HashMap<Owner, Shelf>> {
        let hash = self.hasher.hash_one(owner) as usize;
        lock(&self.shards[hash % self.shards.len()])
    }
}

impl Shelf {
    fn new() -> Self {
        Self {
            all: Group::new(),
            contexts: HashMap::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cmp::Reverse;

    use proptest::prelude::*;

    use super::super::looks;
    use super::*;
    use crate::{log::Cursor, model::Timestamp};

    fn owner(name: &str) -> Owner {
        Owner::from_parts("", name)
    }

    fn standing(state: TaskState, millis: i64) -> Option<Standing> {
        Some(Standing { state, millis })
    }

    /// Puts so many tasks of an owner there, in ten contexts and all states.
    fn fill(index: &Index, name: &str, count: i64) {
        for number in 0..count {
            let key = TaskKey::new(owner(name), format!("{name}-{number}"));
            let context = format!("c-{}", number % 10).into();
            let state = TaskState::ALL[number as usize % 8];
            index.update(&key, &context, None, standing(state, number));
        }
    }

    /// The cost of a page does not grow with what others have, not by one look, and hardly with
    /// what is behind the page.
    #[test]
    fn a_page_costs_what_it_shows() {
        let queries = || {
            let me = ListQuery::new(owner("me"), 10);
            [
                me.clone(),
                me.clone().in_context("c-3"),
                me.clone().in_state(TaskState::Working),
                me.clone().after(Cursor::new(1_000, "me-1000")),
                me.clone().in_context("c-3").in_state(TaskState::Working),
            ]
        };
        let cost = |index: &Index| {
            queries().map(|query| {
                looks::reset();
                let (page, _) = index.page(&query);
                assert_eq!(page.len(), 11);
                looks::so_far()
            })
        };
        let alone = Index::new(4);
        fill(&alone, "me", 2_000);
        let crowded = Index::new(4);
        fill(&crowded, "me", 2_000);
        for other in 0..20 {
            fill(&crowded, &format!("other-{other}"), 500);
        }
        assert_eq!(cost(&alone), cost(&crowded));

        let rich = Index::new(4);
        fill(&rich, "me", 200_000);
        for (poor, rich) in cost(&alone).into_iter().zip(cost(&rich)) {
            assert!(rich < 2 * poor, "{rich} looks instead of {poor}");
        }
    }

    /// Nothing is left of tasks that are gone, and reading leaves nothing (O-M03).
    #[test]
    fn nothing_is_left_of_what_is_gone() {
        let index = Index::new(2);
        let size = |index: &Index| -> usize { index.shards.iter().map(|it| lock(it).len()).sum() };
        index.page(&ListQuery::new(owner("nobody"), 5).in_context("c"));
        assert_eq!(size(&index), 0);
        let (key, context) = (TaskKey::new(owner("me"), "t-1"), "c-1".into());
        let working = standing(TaskState::Working, 1);
        index.update(&key, &context, None, working);
        assert_eq!(size(&index), 1);
        index.update(&key, &context, working, None);
        assert_eq!(size(&index), 0);
    }

    prop_compose! {
        fn step()(
            owner in 0..2_usize,
            task in 0..60_usize,
            state in prop::sample::select(&TaskState::ALL[..]),
            millis in 0..8_i64,
            stays in prop::bool::weighted(0.8),
        ) -> (usize, usize, Option<Standing>) {
            (owner, task, stays.then_some(Standing { state, millis }))
        }
    }

    prop_compose! {
        fn asking()(
            context in prop::option::of(0..3_usize),
            state in prop::option::of(prop::sample::select(&TaskState::ALL[..])),
            unfinished in any::<bool>(),
            since in prop::option::of(0..9_i64),
            cursor in prop::option::of((0..9_i64, 0..60_usize)),
            limit in 0..12_usize,
        ) -> ListQuery {
            let mut query = ListQuery::new(owner("0"), limit);
            if let Some(context) = context {
                query = query.in_context(format!("c-{context}"));
            }
            if let Some(state) = state {
                query = query.in_state(state);
            }
            if unfinished {
                query = query.unfinished();
            }
            if let Some(since) = since {
                query = query.changed_since(Timestamp::from_unix_millis(since));
            }
            if let Some((millis, task)) = cursor {
                query = query.after(Cursor::new(millis, format!("t-{task}")));
            }
            query
        }
    }

    proptest! {
        /// It answers as looking through all tasks does.
        #[test]
        fn it_equals_a_scan(
            steps in prop::collection::vec(step(), 0..200),
            query in asking(),
        ) {
            let index = Index::new(1);
            let mut model: HashMap<(usize, usize), Standing> = HashMap::new();
            for (who, task, is) in steps {
                let key = TaskKey::new(owner(&who.to_string()), format!("t-{task}"));
                let context = format!("c-{}", task % 3).into();
                let was = match is {
                    Some(is) => model.insert((who, task), is),
                    None => model.remove(&(who, task)),
                };
                index.update(&key, &context, was, is);
            }
            let since = query.since().map_or(i64::MIN, |since| since.unix_millis());
            let mut all: Vec<(Reverse<i64>, String)> = model
                .iter()
                .filter(|((who, task), is)| {
                    let context = format!("c-{}", task % 3);
                    *who == 0
                        && query.context_id().is_none_or(|asked| asked == context)
                        && query.wants_state(is.state)
                        && is.millis >= since
                })
                .map(|((_, task), is)| (Reverse(is.millis), format!("t-{task}")))
                .collect();
            all.sort();
            let (page, total) = index.page(&query);
            prop_assert_eq!(total, all.len());
            let cursor = query.cursor().map(|at| (Reverse(at.millis()), at.id().to_owned()));
            let expected: Vec<_> = all
                .into_iter()
                .filter(|place| cursor.as_ref().is_none_or(|cursor| place > cursor))
                .take(query.limit() + 1)
                .collect();
            let page: Vec<_> = page
                .into_iter()
                .map(|place| (Reverse(place.millis), place.id.to_string()))
                .collect();
            prop_assert_eq!(page, expected);
        }
    }
}
