use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, MutexGuard,
        atomic::{AtomicU64, Ordering},
    },
};

use portcullis_a2a::{
    client::Binding,
    model::{StreamResponse, Task},
};

use super::Counts;

/// What all clients have seen, in the order of one clock.
#[derive(Default)]
pub(crate) struct Book {
    clock: AtomicU64,
    pages: Mutex<Pages>,
}

#[derive(Default)]
pub(crate) struct Pages {
    pub(crate) tasks: BTreeMap<String, Known>,
    pub(crate) looks: Vec<Look>,
    pub(crate) sightings: Vec<Sighting>,
    pub(crate) webhooks: Vec<Webhook>,
    /// Tasks that were said to be over otherwise when somebody cancelled them.
    pub(crate) not_cancelable: Vec<String>,
    /// How often things went one way or the other, to see that all of them happen.
    pub(crate) counts: Counts,
}

/// A task that somebody has seen.
#[derive(Clone, Debug)]
pub(crate) struct Known {
    pub(crate) who: String,
    /// Whether somebody has asked to cancel it.
    pub(crate) cancel_asked: bool,
    /// When it was first seen to be over.
    pub(crate) over: Option<u64>,
    /// Places in its log that streams have told.
    pub(crate) places: Vec<u64>,
}

/// A task as a call has shown it.
#[derive(Clone, Debug)]
pub(crate) struct Look {
    pub(crate) task: Task,
    pub(crate) how: &'static str,
    pub(crate) begun: u64,
    pub(crate) ended: u64,
}

/// What one watcher has seen.
#[derive(Clone, Debug)]
pub(crate) struct Sighting {
    pub(crate) binding: Binding,
    /// Whether the stream came with a message, which ends at a question too.
    pub(crate) sent: bool,
    pub(crate) resumed_after: Option<u64>,
    pub(crate) begun: u64,
    pub(crate) events: Vec<Seen>,
    pub(crate) end: End,
}

/// One event, and when it came.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) at: u64,
    pub(crate) id: Option<u64>,
    pub(crate) response: StreamResponse,
}

/// How watching ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    /// The watcher left.
    Left,
    /// The stream ended as streams do.
    Ended,
    /// It broke off.
    Cut,
}

/// A webhook that somebody has left.
#[derive(Clone, Debug)]
pub(crate) struct Webhook {
    pub(crate) url: String,
    /// Known when the call that brought it was answered.
    pub(crate) task: Option<String>,
    pub(crate) id: Option<String>,
    /// It came with the message that opened the task.
    pub(crate) inline: bool,
    /// When it was there for certain.
    pub(crate) since: Option<u64>,
    /// When somebody began to remove it, and when it was gone for certain.
    pub(crate) removing: Option<u64>,
    pub(crate) gone: Option<u64>,
}

impl Book {
    /// One more moment.
    pub(crate) fn tick(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn pages(&self) -> MutexGuard<'_, Pages> {
        self.pages.lock().expect("not poisoned")
    }

    pub(crate) fn count(&self, what: impl Into<String>) {
        *self.pages().counts.entry(what.into()).or_default() += 1;
    }

    /// A task has been seen by its owner.
    pub(crate) fn meet(&self, who: &str, task: &str, over: bool) {
        let now = self.tick();
        let mut pages = self.pages();
        let known = pages.tasks.entry(task.to_owned()).or_insert_with(|| Known {
            who: who.to_owned(),
            cancel_asked: false,
            over: None,
            places: Vec::new(),
        });
        assert_eq!(known.who, who, "{task} was seen by two");
        if over {
            known.over.get_or_insert(now);
        }
    }

    /// The tasks of somebody, as far as they were seen.
    pub(crate) fn of(&self, who: &str) -> Vec<String> {
        let pages = self.pages();
        let of_them = pages.tasks.iter().filter(|(_, known)| known.who == who);
        of_them.map(|(task, _)| task.clone()).collect()
    }

    /// The tasks of others.
    pub(crate) fn not_of(&self, who: &str) -> Vec<String> {
        let pages = self.pages();
        let of_others = pages.tasks.iter().filter(|(_, known)| known.who != who);
        of_others.map(|(task, _)| task.clone()).collect()
    }

    /// Which of somebody's tasks were over by now.
    pub(crate) fn over_of(&self, who: &str) -> Vec<String> {
        let pages = self.pages();
        let over = |known: &Known| known.who == who && known.over.is_some();
        let of_them = pages.tasks.iter().filter(|(_, known)| over(known));
        of_them.map(|(task, _)| task.clone()).collect()
    }
}

/// A sighting in the making. It stands in the book however it ends.
pub(crate) struct Watching {
    book: Arc<Book>,
    sighting: Option<Sighting>,
}

impl Watching {
    pub(crate) fn new(book: Arc<Book>, sighting: Sighting) -> Self {
        Self {
            book,
            sighting: Some(sighting),
        }
    }

    pub(crate) fn saw(&mut self, id: Option<u64>, response: StreamResponse) {
        let at = self.book.tick();
        let sighting = self.sighting.as_mut().expect("there until it is dropped");
        sighting.events.push(Seen { at, id, response });
    }

    pub(crate) fn ends(&mut self, end: End) {
        let mut sighting = self.sighting.take().expect("it ends once");
        sighting.end = end;
        self.book.pages().sightings.push(sighting);
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        if self.sighting.is_some() {
            self.ends(End::Left);
        }
    }
}
