use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{self, Receiver, Sender},
    },
    thread::JoinHandle,
};

use rusqlite::{Connection, TransactionBehavior};

/// Something to write. It may run several times, if a transaction fails, but finishes
/// once.
pub(crate) trait Job: Send {
    /// Writes. What it learns it keeps for [`finish`](Self::finish).
    fn run(&mut self, connection: &Connection) -> rusqlite::Result<()>;

    /// After the commit, or after the failure.
    fn finish(self: Box<Self>, outcome: Result<(), Arc<rusqlite::Error>>);
}

/// The thread that writes.
#[derive(Debug)]
pub(crate) struct Writer {
    queue: Option<Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
}

impl Writer {
    pub(crate) fn start(connection: Connection) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel();
        let thread = std::thread::Builder::new()
            .name("sqlite-writer".to_owned())
            .spawn(move || run(connection, &jobs))?;
        Ok(Self {
            queue: Some(queue),
            thread: Some(thread),
        })
    }

    /// Where to queue jobs. The thread ends when the last of these is gone.
    pub(crate) fn queue(&self) -> Queue {
        Queue(self.queue.clone().expect("open until dropped"))
    }

    /// See [`Queue::submit`].
    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        let queue = self.queue.as_ref().expect("open until dropped");
        send(queue, job);
    }
}

/// The queue of a writer.
#[derive(Clone, Debug)]
pub(crate) struct Queue(Sender<Box<dyn Job>>);

impl Queue {
    /// Queues a job. The queue has no bound of its own: each job has a caller that waits
    /// for it, or may.
    pub(crate) fn submit(&self, job: Box<dyn Job>) {
        send(&self.0, job);
    }
}

fn send(queue: &Sender<Box<dyn Job>>, job: Box<dyn Job>) {
    if let Err(mpsc::SendError(job)) = queue.send(job) {
        job.finish(Err(Arc::new(stopped())));
    }
}

impl Drop for Writer {
    /// Writes what is queued, then joins the thread.
    fn drop(&mut self) {
        drop(self.queue.take());
        if let Some(thread) = self.thread.take() {
            // Its panics were caught and answered where they happened.
            drop(thread.join());
        }
    }
}

fn run(mut connection: Connection, jobs: &Receiver<Box<dyn Job>>) {
    let mut group = Vec::new();
    while let Ok(first) = jobs.recv() {
        group.push(first);
        // All that has come while the last transaction was synced is the next one.
        group.extend(jobs.try_iter().take(GROUP - 1));
        commit(&mut connection, &mut group);
    }
}

/// Commits the jobs together; if that fails, each by itself, so that none fails for
/// another one.
fn commit(connection: &mut Connection, group: &mut Vec<Box<dyn Job>>) {
    match transact(connection, group) {
        Err(_) if group.len() > 1 => {
            for job in group.drain(..) {
                commit(connection, &mut vec![job]);
            }
        }
        outcome => {
            let outcome = outcome.map_err(Arc::new);
            for job in group.drain(..) {
                job.finish(outcome.clone());
            }
        }
    }
}

fn transact(connection: &mut Connection, group: &mut [Box<dyn Job>]) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    for job in group {
        // A job that panics is one that fails: the thread serves the others.
        catch_unwind(AssertUnwindSafe(|| job.run(&transaction)))
            .unwrap_or_else(|_| Err(panicked()))?;
    }
    transaction.commit()
}

fn stopped() -> rusqlite::Error {
    failure("the writer has stopped")
}

fn panicked() -> rusqlite::Error {
    failure("a write panicked")
}

fn failure(message: &str) -> rusqlite::Error {
    rusqlite::Error::SqliteFailure(
        rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_MISUSE),
        Some(message.to_owned()),
    )
}

/// How many jobs one transaction takes at most.
const GROUP: usize = 1024;
