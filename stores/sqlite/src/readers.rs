use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, Sender},
    },
    thread::JoinHandle,
};

use rusqlite::Connection;

type Job = Box<dyn FnOnce(&Connection) + Send>;

/// The threads that read, each with a connection of its own.
#[derive(Debug)]
pub(crate) struct Readers {
    queue: Option<Sender<Job>>,
    threads: Vec<JoinHandle<()>>,
}

impl Readers {
    pub(crate) fn start(connections: Vec<Connection>) -> std::io::Result<Self> {
        let (queue, jobs) = mpsc::channel::<Job>();
        let jobs = Arc::new(Mutex::new(jobs));
        let threads = connections
            .into_iter()
            .map(|connection| {
                let jobs = Arc::clone(&jobs);
                std::thread::Builder::new()
                    .name("sqlite-reader".to_owned())
                    .spawn(move || run(&connection, &jobs))
            })
            .collect::<Result<_, _>>()?;
        Ok(Self {
            queue: Some(queue),
            threads,
        })
    }

    /// Queues a job. If it never runs, because the threads have stopped, it is dropped.
    pub(crate) fn submit(&self, job: impl FnOnce(&Connection) + Send + 'static) {
        let queue = self.queue.as_ref().expect("open until dropped");
        if let Err(mpsc::SendError(job)) = queue.send(Box::new(job)) {
            drop(job);
        }
    }
}

impl Drop for Readers {
    fn drop(&mut self) {
        drop(self.queue.take());
        for thread in self.threads.drain(..) {
            // Its panics were caught where they happened.
            drop(thread.join());
        }
    }
}

fn run(connection: &Connection, jobs: &Mutex<Receiver<Job>>) {
    loop {
        let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
        let Ok(job) = job else { return };
        // Whoever waits for the answer is told by the sender that goes with the job.
        drop(catch_unwind(AssertUnwindSafe(|| job(connection))));
    }
}
