use std::{
    collections::HashSet,
    convert::Infallible,
    error::Error,
    fmt,
    future::{Ready, ready},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use portcullis::{Agent, Failure, FailureCode, Invoke, Prompt, Scope};
use tower_service::Service;

use super::{
    BalanceStream, Place,
    replica::{Replica, home_of, less_busy},
};
use crate::{
    breaker::{BreakerLayer, Judged},
    commit::Rule,
};

/// One agent made of many. See the [module docs](super).
///
/// Clones share the counts.
pub struct Balance<S> {
    replicas: Arc<[Replica<S>]>,
    breaker: Option<BreakerLayer<Arc<str>>>,
    sticky: Option<Rule<Scope, Option<String>>>,
}

impl<S> Balance<S> {
    /// Balances over these agents. Their names are their numbers: `0`, `1`, and so on.
    ///
    /// # Errors
    /// When there is none.
    pub fn new(agents: impl IntoIterator<Item = S>) -> Result<Self, InvalidBalance> {
        let agents = agents.into_iter().enumerate();
        Self::named(agents.map(|(number, agent)| (number.to_string(), agent)))
    }

    /// Balances over these agents, by name. Processes that give the same names send a
    /// [session](Self::sticky_by) to the same one, in whatever order they have them.
    ///
    /// # Errors
    /// When there is none, or two have one name.
    pub fn named<N: Into<Arc<str>>>(
        agents: impl IntoIterator<Item = (N, S)>,
    ) -> Result<Self, InvalidBalance> {
        let agents = agents.into_iter();
        let replicas: Arc<[_]> = agents
            .map(|(name, agent)| Replica::new(name.into(), agent))
            .collect();
        if replicas.is_empty() {
            return Err(InvalidBalance("there is no agent to balance over"));
        }
        let names: HashSet<_> = replicas.iter().map(|replica| &replica.name).collect();
        if names.len() < replicas.len() {
            return Err(InvalidBalance("two agents to balance over have one name"));
        }
        Ok(Self {
            replicas,
            breaker: None,
            sticky: None,
        })
    }

    /// Sends no turn to a replica that fails, until a probe has shown that it is back: each has
    /// a breaker of its own, by its name. One that serves other balances too shares what it
    /// knows of names that they share.
    #[must_use]
    pub fn ejecting(mut self, breaker: BreakerLayer<Arc<str>>) -> Self {
        self.breaker = Some(breaker);
        self
    }

    /// Sends turns of one key to one replica: the same one, as long as that takes turns, and in
    /// every process. Where there is no key, load decides.
    ///
    /// Nothing is remembered: the replica follows from key and names alone.
    #[must_use]
    pub fn sticky_by(
        mut self,
        key: impl Fn(&Scope) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        self.sticky = Some(Rule::new(key));
        self
    }

    /// How many turns run at each agent.
    #[must_use]
    pub fn running(&self) -> Vec<usize> {
        self.replicas.iter().map(Replica::running).collect()
    }

    /// A place at a replica, or how long to wait until one may take turns again.
    fn place(&self, scope: &Scope) -> Result<(&Replica<S>, Place), Duration> {
        let key = self.sticky.as_ref().and_then(|sticky| sticky.ask(scope));
        let mut left: Vec<_> = self.replicas.iter().collect();
        let mut soonest = Duration::MAX;
        while !left.is_empty() {
            let chosen = match &key {
                Some(key) => home_of(&left, key),
                None => less_busy(&left),
            };
            let replica = left.swap_remove(chosen);
            match self.admit(replica) {
                Ok(judged) => return Ok((replica, Place::take(&replica.running, judged))),
                Err(remaining) => soonest = soonest.min(remaining),
            }
        }
        Err(soonest)
    }

    fn admit(&self, replica: &Replica<S>) -> Result<Option<Judged<Arc<str>>>, Duration> {
        let breaker = self.breaker.as_ref();
        breaker
            .map(|breaker| breaker.judge(&replica.name))
            .transpose()
    }
}

impl<S: Agent + Clone> Service<(Scope, Prompt)> for Balance<S> {
    type Response = BalanceStream<S>;
    type Error = Infallible;
    type Future = Ready<Result<Self::Response, Infallible>>;

    fn poll_ready(&mut self, _cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        ready(Ok(match self.place(&scope) {
            Ok((replica, place)) => {
                let run = Invoke::new(replica.agent.clone(), scope, prompt);
                BalanceStream::running(run, place)
            }
            Err(remaining) => {
                let text = "every replica fails too often and is left alone for a while";
                let failure = Failure::with_code(FailureCode::UNAVAILABLE, text);
                BalanceStream::refused(failure.retryable(true).retry_after(remaining))
            }
        }))
    }
}

impl<S> Clone for Balance<S> {
    fn clone(&self) -> Self {
        Self {
            replicas: Arc::clone(&self.replicas),
            breaker: self.breaker.clone(),
            sticky: self.sticky.clone(),
        }
    }
}

impl<S> fmt::Debug for Balance<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let running = self
            .replicas
            .iter()
            .map(|replica| (&*replica.name, replica.running()));
        f.debug_struct("Balance")
            .field("running", &running.collect::<Vec<_>>())
            .field("ejects", &self.breaker.is_some())
            .field("sticky", &self.sticky.is_some())
            .finish()
    }
}

/// Agents that cannot be balanced over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidBalance(&'static str);

impl fmt::Display for InvalidBalance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for InvalidBalance {}
