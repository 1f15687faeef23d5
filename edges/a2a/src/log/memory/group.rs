use std::{
    cmp::{Ordering, Reverse},
    collections::{BTreeMap, BTreeSet},
    ops::Bound,
    sync::Arc,
};

use crate::{
    log::{Cursor, ListQuery, status_millis},
    model::TaskState,
};

/// The place of a task in a list: the newest status first, then by id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) millis: i64,
    pub(super) id: Arc<str>,
}

impl Place {
    fn of(cursor: &Cursor) -> Self {
        Self {
            millis: cursor.millis(),
            id: cursor.id().into(),
        }
    }
}

impl Ord for Place {
    fn cmp(&self, other: &Self) -> Ordering {
        #[cfg(test)]
        super::looks::count();
        let rank = |place: &Self| Reverse(place.millis);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Place {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Some tasks, by state and then in the order of a list: a page, with or without that filter, is
/// the beginning of a range.
#[derive(Debug)]
pub(super) enum Group {
    /// As most contexts are, in a fifth of the room.
    Few(Vec<(TaskState, Place)>),
    /// More than [`FEW`].
    Many(BTreeMap<TaskState, BTreeSet<Place>>),
}

impl Group {
    pub(super) const fn new() -> Self {
        Self::Few(Vec::new())
    }

    pub(super) fn insert(&mut self, state: TaskState, place: Place) {
        match self {
            Self::Few(few) if few.len() < FEW => few.push((state, place)),
            Self::Few(few) => {
                let mut many = BTreeMap::<_, BTreeSet<_>>::new();
                for (state, place) in few.drain(..).chain([(state, place)]) {
                    many.entry(state).or_default().insert(place);
                }
                *self = Self::Many(many);
            }
            Self::Many(many) => {
                many.entry(state).or_default().insert(place);
            }
        }
    }

    pub(super) fn remove(&mut self, state: TaskState, place: &Place) {
        match self {
            Self::Few(few) => few.retain(|(_, known)| known != place),
            Self::Many(many) => {
                if let Some(places) = many.get_mut(&state) {
                    places.remove(place);
                    if places.is_empty() {
                        many.remove(&state);
                    }
                }
            }
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        match self {
            Self::Few(few) => few.is_empty(),
            Self::Many(many) => many.is_empty(),
        }
    }

    /// The first places of a query, one more than it asks for, and how many there are in all.
    pub(super) fn page(&self, query: &ListQuery) -> (Vec<Place>, usize) {
        let wanted = query.limit().saturating_add(1);
        let since = query.since().map(|time| status_millis(Some(time)));
        let recent = |place: &Place| since.is_none_or(|since| place.millis >= since);
        let cursor = query.cursor().map(Place::of);
        let mut page = Vec::new();
        let mut total = 0;
        match self {
            Self::Few(few) => {
                for (_, place) in few.iter().filter(|(state, _)| query.wants_state(*state)) {
                    if recent(place) {
                        total += 1;
                        if cursor.as_ref().is_none_or(|cursor| place > cursor) {
                            page.push(place.clone());
                        }
                    }
                }
            }
            Self::Many(many) => {
                let from = cursor.map_or(Bound::Unbounded, Bound::Excluded);
                for (_, places) in many.iter().filter(|(state, _)| query.wants_state(**state)) {
                    total += match since {
                        None => places.len(),
                        // The newest come first. These are walked; nothing counts ranges.
                        Some(_) => looked(places).take_while(|place| recent(place)).count(),
                    };
                    let rest = looked(places.range((from.clone(), Bound::Unbounded)));
                    page.extend(rest.take_while(|place| recent(place)).take(wanted).cloned());
                }
            }
        }
        page.sort_unstable();
        page.truncate(wanted);
        (page, total)
    }
}

/// What is walked over, for tests that count it.
fn looked<'a>(places: impl IntoIterator<Item = &'a Place>) -> impl Iterator<Item = &'a Place> {
    places.into_iter().inspect(|_| {
        #[cfg(test)]
        super::looks::count();
    })
}

/// How many tasks are not worth a set.
const FEW: usize = 16;
