use std::{
    convert::Infallible,
    error::Error,
    fmt,
    future::{Ready, ready},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    task::{Context, Poll},
};

use portcullis::{Agent, Invoke, Prompt, Scope, TurnStream};
use tower_service::Service;

use super::Place;

/// One agent made of many. See the [module docs](super).
///
/// Clones share the counts.
#[derive(Clone, Debug)]
pub struct Balance<S> {
    replicas: Arc<[Replica<S>]>,
}

#[derive(Debug)]
struct Replica<S> {
    agent: S,
    running: Arc<AtomicUsize>,
}

impl<S> Replica<S> {
    fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }
}

impl<S> Balance<S> {
    /// Balances over these agents.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(agents: impl IntoIterator<Item = S>) -> Result<Self, NoAgents> {
        let replicas = agents.into_iter().map(|agent| Replica {
            agent,
            running: Arc::default(),
        });
        let replicas: Arc<[_]> = replicas.collect();
        if replicas.is_empty() {
            return Err(NoAgents(()));
        }
        Ok(Self { replicas })
    }

    /// How many turns run at each agent.
    #[must_use]
    pub fn running(&self) -> Vec<usize> {
        self.replicas.iter().map(Replica::running).collect()
    }

    /// The less busy one of two that are picked at random.
    fn pick(&self) -> &Replica<S> {
        let count = self.replicas.len();
        let one = fastrand::usize(..count);
        // Another one, each as likely, if there is another.
        let other = (one + fastrand::usize(1..count.max(2))) % count;
        let (one, other) = (&self.replicas[one], &self.replicas[other]);
        if other.running() < one.running() {
            other
        } else {
            one
        }
    }
}

impl<S: Agent + Clone> Service<(Scope, Prompt)> for Balance<S> {
    type Response = TurnStream<Invoke<S>, Place>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let replica = self.pick();
        let place = Place::take(&replica.running);
        let run = Invoke::new(replica.agent.clone(), scope, prompt);
        ready(Ok(TurnStream::new(run, place)))
    }
}

/// There is no agent to balance over.
#[derive(Debug)]
pub struct NoAgents(());

impl fmt::Display for NoAgents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no agent to balance over")
    }
}

impl Error for NoAgents {}
