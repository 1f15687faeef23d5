use std::{
    collections::{BTreeMap, HashMap},
    fmt,
    sync::{Mutex, PoisonError},
};

use futures_util::future::BoxFuture;

/// What a [`Contexts`] answers. An error is for the log.
pub type ContextReply<T> = BoxFuture<'static, Result<T, Box<dyn std::error::Error + Send + Sync>>>;

/// Where a session stands with a server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Context {
    /// The context id that the server gave.
    pub context_id: Option<String>,
    /// The task that waits for the next turn.
    pub task_id: Option<String>,
    /// How many artifacts that task has, so that they are not taken for new ones.
    pub artifacts: usize,
}

/// The port to where the contexts of sessions live.
///
/// With one over a store, any process can serve the next turn of a session (MUST 6).
/// Implementations bound what they keep: a session that is forgotten begins another context.
pub trait Contexts: Send + Sync + 'static {
    /// Where a session stands; nowhere if it is not known.
    fn load(&self, session: &str) -> ContextReply<Context>;

    /// Remembers it. Begins when it is called, whether or not the reply is awaited.
    fn store(&self, session: &str, context: Context) -> ContextReply<()>;
}

/// Contexts in memory: a bounded number, of which the one not used for longest goes first.
pub struct MemoryContexts {
    capacity: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    by_session: HashMap<String, (u64, Context)>,
    /// Which session was used when.
    by_use: BTreeMap<u64, String>,
    uses: u64,
}

impl MemoryContexts {
    /// Keeps at most so many, and at least one.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity: capacity.max(1),
            kept: Mutex::default(),
        }
    }

    fn with<R>(&self, f: impl FnOnce(&mut Kept) -> R) -> R {
        f(&mut self.kept.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for MemoryContexts {
    /// 65,536 of them.
    fn default() -> Self {
        Self::new(1 << 16)
    }
}

impl Kept {
    fn put(&mut self, session: &str, context: Context) {
        self.uses += 1;
        let entry = (self.uses, context);
        if let Some((before, _)) = self.by_session.insert(session.to_owned(), entry) {
            self.by_use.remove(&before);
        }
        self.by_use.insert(self.uses, session.to_owned());
    }
}

impl Contexts for MemoryContexts {
    fn load(&self, session: &str) -> ContextReply<Context> {
        let context = self.with(|kept| {
            let (_, context) = kept.by_session.get(session)?.clone();
            kept.put(session, context.clone());
            Some(context)
        });
        Box::pin(async { Ok(context.unwrap_or_default()) })
    }

    fn store(&self, session: &str, context: Context) -> ContextReply<()> {
        self.with(|kept| {
            kept.put(session, context);
            while kept.by_session.len() > self.capacity {
                let Some((_, oldest)) = kept.by_use.pop_first() else {
                    break;
                };
                kept.by_session.remove(&oldest);
            }
        });
        Box::pin(async { Ok(()) })
    }
}

impl fmt::Debug for MemoryContexts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.with(|kept| kept.by_session.len());
        f.debug_struct("MemoryContexts")
            .field("kept", &kept)
            .field("capacity", &self.capacity)
            .finish()
    }
}
