use std::{
    future::pending,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use tokio::{
    sync::{mpsc, watch},
    task::JoinHandle,
    time::timeout,
};

/// What is left to do after turns were dropped: one task, which this value owns.
pub(super) struct Cleanup {
    worker: Mutex<Option<Worker>>,
    /// How many jobs are not done.
    open: watch::Sender<usize>,
    limit: Duration,
}

struct Worker {
    jobs: mpsc::Sender<Job>,
    task: JoinHandle<()>,
}

/// Something to do that may take a while. Counted as long as it is there.
struct Job {
    work: BoxFuture<'static, ()>,
    open: watch::Sender<usize>,
}

impl Drop for Job {
    fn drop(&mut self) {
        self.open.send_modify(|open| *open -= 1);
    }
}

impl Cleanup {
    /// Each job may take so long.
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            worker: Mutex::default(),
            open: watch::Sender::new(0),
            limit,
        }
    }

    /// Makes sure that jobs will be done. In the runtime that the turns run on.
    pub(super) fn begin(&self) {
        let mut worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        if worker
            .as_ref()
            .is_some_and(|worker| !worker.task.is_finished())
        {
            return;
        }
        let (jobs, queue) = mpsc::channel(WAITING);
        #[expect(
            clippy::disallowed_methods,
            reason = "aborted when this value is dropped"
        )]
        let task = tokio::spawn(work(queue, self.limit));
        *worker = Some(Worker { jobs, task });
    }

    /// Takes over a job. With too many it is given up.
    pub(super) fn take(&self, work: BoxFuture<'static, ()>) {
        self.open.send_modify(|open| *open += 1);
        let job = Job {
            work,
            open: self.open.clone(),
        };
        let worker = self.worker.lock().unwrap_or_else(PoisonError::into_inner);
        let taken = worker
            .as_ref()
            .is_some_and(|worker| worker.jobs.try_send(job).is_ok());
        if !taken {
            tracing::warn!("a remote task is left: too many wait to be cancelled");
        }
    }

    /// Waits until there is nothing to do.
    pub(super) async fn settle(&self) {
        let mut open = self.open.subscribe();
        // The sender is here, so it does not fail.
        let _settled = open.wait_for(|open| *open == 0).await;
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        let worker = self
            .worker
            .get_mut()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(worker) = worker {
            worker.task.abort();
        }
    }
}

async fn work(mut queue: mpsc::Receiver<Job>, limit: Duration) {
    let mut running = FuturesUnordered::new();
    loop {
        let is_free = running.len() < AT_ONCE;
        tokio::select! {
            () = done(&mut running) => {}
            job = take(&mut queue, is_free) => match job {
                Some(job) => running.push(finish(job, limit)),
                None => break,
            },
        }
    }
}

/// One of them is done; never, while there is none.
async fn done(running: &mut FuturesUnordered<impl Future<Output = ()>>) {
    if running.next().await.is_none() {
        pending().await
    }
}

async fn take(queue: &mut mpsc::Receiver<Job>, is_free: bool) -> Option<Job> {
    if is_free {
        queue.recv().await
    } else {
        pending().await
    }
}

async fn finish(mut job: Job, limit: Duration) {
    if timeout(limit, &mut job.work).await.is_err() {
        tracing::warn!("a remote task is left: its server did not answer in time");
    }
}

const WAITING: usize = 1 << 12;
const AT_ONCE: usize = 64;
