use std::{
    fmt,
    future::poll_fn,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll, Waker},
};

use super::{TaskKey, hash::TaskMap};

/// Rings when the log of a task has grown, or the task is gone.
///
/// It only says that reading again is worth while: what it rang for stands in the log.
/// Nothing is lost between reading and waiting, because a ring that came after
/// [`TaskLog::bell`](super::TaskLog::bell) is remembered until the next wait takes it.
/// Take the bell first, then read, then wait.
pub struct Bell {
    house: Arc<House>,
    key: TaskKey,
    rope: Arc<Rope>,
    /// The strokes that this bell has told of.
    heard: u64,
    place: usize,
}

impl Bell {
    /// Waits for the next stroke, or for one that has not been told yet.
    ///
    /// # Cancel safety
    /// A stroke is told only by returning, so a dropped future loses none.
    pub async fn rung(&mut self) {
        poll_fn(|cx| self.poll_rung(cx)).await;
    }

    /// Like [`rung`](Self::rung), for those who poll.
    pub fn poll_rung(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut strokes = self.rope.lock();
        if strokes.count != self.heard {
            self.heard = strokes.count;
            return Poll::Ready(());
        }
        let waker = &mut strokes.waiting[self.place];
        match waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        self.house.hang_up(&self.key, &self.rope, self.place);
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bell").field("key", &self.key).finish()
    }
}

/// The bells of one log in one process; what a backend rings.
///
/// Cloning shares them. A task has an entry only while somebody holds a bell of it.
#[derive(Clone)]
pub struct Bells(Arc<House>);

struct House {
    shards: Box<[Shard]>,
    count: AtomicUsize,
}

type Shard = Mutex<TaskMap<Arc<Rope>>>;

/// One task's bells.
#[derive(Default)]
struct Rope {
    strokes: Mutex<Strokes>,
}

#[derive(Default)]
struct Strokes {
    count: u64,
    waiting: Vec<Option<Waker>>,
    /// Places in `waiting` that nobody has.
    free: Vec<usize>,
}

impl Bells {
    /// No bells yet.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(House {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            count: AtomicUsize::new(0),
        }))
    }

    /// A bell of a task, whether or not there is such a task.
    #[must_use]
    pub fn bell(&self, key: &TaskKey) -> Bell {
        // Counted before a reader can read, so that `ring` may trust the count.
        self.0.count.fetch_add(1, Ordering::SeqCst);
        let mut shard = lock(self.0.shard(key));
        let rope = Arc::clone(shard.entry(key.clone()).or_default());
        // Still under the shard's lock, so that the last one to hang up cannot take the
        // rope out of the map meanwhile.
        let mut strokes = rope.lock();
        let place = strokes.free.pop().unwrap_or_else(|| {
            strokes.waiting.push(None);
            strokes.waiting.len() - 1
        });
        let heard = strokes.count;
        drop(strokes);
        drop(shard);
        Bell {
            house: Arc::clone(&self.0),
            key: key.clone(),
            rope,
            heard,
            place,
        }
    }

    /// Wakes everybody who waits for this task. To be called after what they will read
    /// has been stored.
    pub fn ring(&self, key: &TaskKey) {
        if self.is_empty() {
            return;
        }
        let rope = lock(self.0.shard(key)).get(key).cloned();
        if let Some(rope) = rope {
            rope.ring();
        }
    }

    /// Wakes everybody, when one cannot say which tasks have changed.
    pub fn ring_all(&self) {
        for shard in &self.0.shards {
            let ropes: Vec<_> = lock(shard).values().cloned().collect();
            for rope in ropes {
                rope.ring();
            }
        }
    }

    /// How many bells are held: the number of readers that wait or may wait.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.count.load(Ordering::SeqCst)
    }

    /// Whether nobody holds a bell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Default for Bells {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Bells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bells").field("len", &self.len()).finish()
    }
}

impl House {
    fn shard(&self, key: &TaskKey) -> &Shard {
        &self.shards[key.shard(self.shards.len())]
    }

    fn hang_up(&self, key: &TaskKey, rope: &Arc<Rope>, place: usize) {
        let mut shard = lock(self.shard(key));
        let mut strokes = rope.lock();
        strokes.waiting[place] = None;
        strokes.free.push(place);
        if strokes.free.len() == strokes.waiting.len() {
            shard.remove(key);
        }
        drop(strokes);
        drop(shard);
        self.count.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Rope {
    fn lock(&self) -> MutexGuard<'_, Strokes> {
        lock(&self.strokes)
    }

    fn ring(&self) {
        let mut strokes = self.lock();
        strokes.count += 1;
        // One watcher is the rule: no allocation for it.
        let first = strokes.waiting.iter_mut().find_map(Option::take);
        let others: Vec<Waker> = strokes
            .waiting
            .iter_mut()
            .filter_map(Option::take)
            .collect();
        drop(strokes);
        // Outside the lock: waking may run code that polls a bell.
        first.into_iter().chain(others).for_each(Waker::wake);
    }
}

/// A panic while the lock was held cannot leave half a change behind.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

const SHARDS: usize = 32;
