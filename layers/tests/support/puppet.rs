//! An agent that does the next thing when the test says so.
#![allow(dead_code, unreachable_pub, reason = "each test uses its part")]

use std::{
    collections::VecDeque,
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard},
    task::{Poll, Waker},
};

use portcullis::{
    AgentEvent, AgentExt, BoxAgent, Completed, Emitter, Failure, Inbox, Prompt, Scope, agent_fn,
};

/// What a puppet does next.
#[derive(Clone, Debug)]
pub enum Pull {
    Say(AgentEvent),
    /// Takes the inbox of its run.
    Take,
    /// Reads one prompt of it.
    Read,
    Complete(Completed),
    Fail(Failure),
    Panic,
}

/// Pulls the strings of all runs. Clones pull the same.
#[derive(Clone, Default)]
pub struct Puppet(Arc<Mutex<Strings>>);

#[derive(Default)]
pub struct Strings {
    pulls: VecDeque<Pull>,
    waker: Option<Waker>,
    /// The prompts with which runs have begun.
    pub begun: Vec<String>,
    /// What was read of inboxes.
    pub heard: Vec<String>,
    /// Runs that are not dropped.
    pub alive: usize,
}

impl Puppet {
    pub fn strings(&self) -> MutexGuard<'_, Strings> {
        self.0.lock().unwrap()
    }

    pub fn pull(&self, pull: Pull) {
        let waker = {
            let mut strings = self.strings();
            strings.pulls.push_back(pull);
            strings.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub fn say(&self, text: &str) {
        self.pull(Pull::Say(AgentEvent::text(text)));
    }

    pub fn complete(&self) {
        self.pull(Pull::Complete(Completed::new()));
    }

    /// Nothing that was said to do is left to do.
    pub fn forget(&self) {
        self.strings().pulls.clear();
    }

    pub fn agent(&self) -> BoxAgent {
        let puppet = self.clone();
        let agent = agent_fn(move |scope: Scope, prompt: Prompt, out: Emitter| {
            puppet.clone().run(scope, prompt, out)
        });
        agent.boxed()
    }

    async fn run(self, scope: Scope, prompt: Prompt, out: Emitter) -> Result<Completed, Failure> {
        let _alive = Alive::new(&self, &prompt);
        let mut inbox = None;
        loop {
            let pull = poll_fn(|cx| {
                let mut strings = self.strings();
                match strings.pulls.pop_front() {
                    Some(pull) => Poll::Ready(pull),
                    None => {
                        strings.waker = Some(cx.waker().clone());
                        Poll::Pending
                    }
                }
            });
            match pull.await {
                Pull::Say(event) => out.emit(event).await,
                Pull::Take => inbox = inbox.or_else(|| Inbox::take(&scope)),
                Pull::Read => {
                    if let Some(prompt) = inbox.as_mut().and_then(Inbox::try_next) {
                        self.strings().heard.push(prompt.as_text().to_owned());
                    }
                }
                Pull::Complete(completed) => return Ok(completed),
                Pull::Fail(failure) => return Err(failure),
                // `agent_fn` makes a failure of it.
                Pull::Panic => panic!("the strings are cut"),
            }
        }
    }
}

struct Alive(Puppet);

impl Alive {
    fn new(puppet: &Puppet, prompt: &Prompt) -> Self {
        let mut strings = puppet.strings();
        strings.begun.push(prompt.as_text().to_owned());
        strings.alive += 1;
        drop(strings);
        Self(puppet.clone())
    }
}

impl Drop for Alive {
    fn drop(&mut self) {
        self.0.strings().alive -= 1;
    }
}
