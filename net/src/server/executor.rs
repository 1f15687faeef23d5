use std::{
    future::Future,
    sync::{Arc, Mutex, PoisonError},
};

use hyper::rt::Executor;
use tokio::task::JoinSet;

/// Runs the streams of one HTTP/2 connection. They end with the connection that owns this: a
/// `JoinSet` aborts what it holds when it is dropped, so nothing is detached.
#[derive(Clone, Debug, Default)]
pub(super) struct OwnedExecutor {
    tasks: Arc<Mutex<JoinSet<()>>>,
}

impl<F> Executor<F> for OwnedExecutor
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        // The set keeps what has finished until somebody asks; a long connection has many streams.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(future);
    }
}
