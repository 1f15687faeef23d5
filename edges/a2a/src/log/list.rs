use std::cmp::{Ordering, Reverse};

use super::Owner;
use crate::model::{Task, TaskState, Timestamp};

/// Which tasks to list: those of one owner, newest status first (A2A-OP-72..81).
#[derive(Clone, Debug)]
#[must_use]
pub struct ListQuery {
    owner: Owner,
    context_id: Option<String>,
    state: Option<TaskState>,
    unfinished: bool,
    changed_since: Option<Timestamp>,
    after: Option<Cursor>,
    limit: usize,
    with_artifacts: bool,
    with_history: bool,
}

impl ListQuery {
    /// The first `limit` tasks of an owner, without artifacts and history. With none at all the
    /// tasks are only counted.
    pub const fn new(owner: Owner, limit: usize) -> Self {
        Self {
            owner,
            context_id: None,
            state: None,
            unfinished: false,
            changed_since: None,
            after: None,
            limit,
            with_artifacts: false,
            with_history: false,
        }
    }

    /// Only tasks of this context.
    pub fn in_context(mut self, context_id: impl Into<String>) -> Self {
        self.context_id = Some(context_id.into());
        self
    }

    /// Only tasks that are in this state now.
    pub const fn in_state(mut self, state: TaskState) -> Self {
        self.state = Some(state);
        self
    }

    /// Only tasks that are not finished.
    pub const fn unfinished(mut self) -> Self {
        self.unfinished = true;
        self
    }

    /// Only tasks whose status has this time or a later one (A2A-OP-79).
    pub const fn changed_since(mut self, time: Timestamp) -> Self {
        self.changed_since = Some(time);
        self
    }

    /// Only what comes after this place.
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.after = Some(cursor);
        self
    }

    /// The artifacts too.
    pub const fn with_artifacts(mut self, yes: bool) -> Self {
        self.with_artifacts = yes;
        self
    }

    /// The history too.
    pub const fn with_history(mut self, yes: bool) -> Self {
        self.with_history = yes;
        self
    }

    /// Whose tasks.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// In which context.
    #[must_use]
    pub fn context_id(&self) -> Option<&str> {
        self.context_id.as_deref()
    }

    /// In which state.
    #[must_use]
    pub const fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// Whether only tasks are asked for that are not finished.
    #[must_use]
    pub const fn wants_unfinished(&self) -> bool {
        self.unfinished
    }

    /// Whether a task in this state is asked for.
    #[must_use]
    pub fn wants_state(&self, state: TaskState) -> bool {
        self.state.is_none_or(|asked| asked == state) && !(self.unfinished && state.is_terminal())
    }

    /// With a status not older than this.
    #[must_use]
    pub const fn since(&self) -> Option<Timestamp> {
        self.changed_since
    }

    /// After which place.
    #[must_use]
    pub const fn cursor(&self) -> Option<&Cursor> {
        self.after.as_ref()
    }

    /// How many at most.
    #[must_use]
    pub const fn limit(&self) -> usize {
        self.limit
    }

    /// Whether artifacts are asked for.
    #[must_use]
    pub const fn wants_artifacts(&self) -> bool {
        self.with_artifacts
    }

    /// Whether the history is asked for.
    #[must_use]
    pub const fn wants_history(&self) -> bool {
        self.with_history
    }
}

/// A place in the order of a list: the time of a status, then the id.
///
/// It names the last task of a page, not a number of tasks, so it holds while tasks
/// arrive and change: no task that stays as it is comes twice or is passed over.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cursor {
    millis: i64,
    id: Box<str>,
}

impl Cursor {
    /// The place of a status time, in milliseconds since 1970, and an id.
    #[must_use]
    pub fn new(millis: i64, id: impl Into<Box<str>>) -> Self {
        Self {
            millis,
            id: id.into(),
        }
    }

    /// The place of a task. One without a time is last (A2A-OP-74).
    #[must_use]
    pub fn of(task: &Task) -> Self {
        Self::new(status_millis(task.status.timestamp), task.id.as_str())
    }

    /// The time of the status, in milliseconds since 1970.
    #[must_use]
    pub const fn millis(&self) -> i64 {
        self.millis
    }

    /// The id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl Ord for Cursor {
    fn cmp(&self, other: &Self) -> Ordering {
        let rank = |cursor: &Self| Reverse(cursor.millis);
        rank(self)
            .cmp(&rank(other))
            .then_with(|| self.id.cmp(&other.id))
    }
}

impl PartialOrd for Cursor {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListPage {
    tasks: Vec<Task>,
    next: Option<Cursor>,
    total_size: usize,
}

impl ListPage {
    /// What a backend found.
    #[must_use]
    pub const fn new(tasks: Vec<Task>, next: Option<Cursor>, total_size: usize) -> Self {
        Self {
            tasks,
            next,
            total_size,
        }
    }

    /// The tasks, newest status first.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The tasks, newest status first.
    #[must_use]
    pub fn into_tasks(self) -> Vec<Task> {
        self.tasks
    }

    /// Where the next page begins. `None` on the last page.
    #[must_use]
    pub const fn next(&self) -> Option<&Cursor> {
        self.next.as_ref()
    }

    /// How many tasks the filters let through, whatever the page (A2A-OP-78).
    #[must_use]
    pub const fn total_size(&self) -> usize {
        self.total_size
    }
}

/// The sort key of a status: milliseconds, and the least value without a time.
#[must_use]
pub fn status_millis(timestamp: Option<Timestamp>) -> i64 {
    timestamp.map_or(i64::MIN, |timestamp| timestamp.unix_millis())
}
