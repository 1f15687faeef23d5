use std::{
    error::Error,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use tokio::{sync::Semaphore, task::JoinHandle};

use super::{files::FileError, gauge::Gauge};

/// Threads for blocking file work: a bounded number at once, and each one stops soon
/// after the turn that asked is dropped.
#[derive(Clone, Debug)]
pub(crate) struct Workers {
    places: Arc<Semaphore>,
    gauge: Gauge,
}

/// Tells a running job that nobody waits any more. Jobs look between two chunks of a
/// file, so what they do after a drop is bounded.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

/// A job broke: an error in this program.
#[derive(Debug)]
pub(crate) struct JobError(tokio::task::JoinError);

impl Workers {
    pub(crate) fn new(places: usize, gauge: Gauge) -> Self {
        Self {
            places: Arc::new(Semaphore::new(places)),
            gauge,
        }
    }

    /// Runs a job on a thread where it may block.
    ///
    /// # Cancel safety
    /// Dropping the future sets the flag of the job. A job that has not begun never does.
    pub(crate) async fn run<T, F>(&self, job: F) -> Result<T, JobError>
    where
        T: Send + 'static,
        F: FnOnce(&Stop) -> T + Send + 'static,
    {
        let place = Arc::clone(&self.places)
            .acquire_owned()
            .await
            .expect("the semaphore is never closed");
        let stop = Stop::default();
        let job = {
            let (stop, running) = (stop.clone(), self.gauge.enter());
            // The place and the mark go with the thread, not with who waits for it.
            move || {
                let result = job(&stop);
                drop((running, place));
                result
            }
        };
        let mut guard = StopOnDrop {
            stop,
            handle: tokio::task::spawn_blocking(job),
        };
        (&mut guard.handle).await.map_err(JobError)
    }
}

impl Stop {
    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error when nobody waits any more.
    pub(crate) fn check(&self) -> Result<(), FileError> {
        if self.is_set() {
            Err(FileError::Stopped)
        } else {
            Ok(())
        }
    }
}

struct StopOnDrop<T> {
    stop: Stop,
    handle: JoinHandle<T>,
}

impl<T> Drop for StopOnDrop<T> {
    fn drop(&mut self) {
        self.stop.set();
        self.handle.abort();
    }
}

impl fmt::Display for JobError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a job on files broke")
    }
}

impl Error for JobError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.0)
    }
}
