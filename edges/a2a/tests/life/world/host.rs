use std::{
    sync::{Arc, Mutex, Weak},
    time::Duration,
};

use portcullis::agent_fn;
use portcullis_a2a::{
    binding::{Layout, OnePort},
    log::{ListQuery, Owner, TaskKey, TaskLog},
    model::{AgentCard, Task},
    server::{
        IdKind, IdSource, Limits, SequentialIds, Server, executor_fn,
        push::{Push, PushStore},
    },
};
use tokio::{
    sync::watch,
    time::{Instant, sleep},
};

use super::{agents::Cast, hooks::Receiver, wire::principal};

/// Where a host keeps its tasks and webhooks.
pub(crate) trait Stores: Send + Sync + 'static {
    /// What an earlier process has left, whose handles are gone.
    fn open(&self) -> (Arc<dyn TaskLog>, Arc<dyn PushStore>);
}

/// What kind of server a host runs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Character {
    pub(crate) serves_agent: bool,
    pub(crate) takes_messages: bool,
    pub(crate) turns: usize,
}

/// Runs a server, and another one when that has died.
pub(crate) struct Host {
    stores: Box<dyn Stores>,
    cast: Cast,
    receiver: Receiver,
    character: Character,
    ids: Arc<SequentialIds>,
    present: Mutex<Option<Present>>,
}

/// The server that runs now.
#[derive(Clone)]
struct Present {
    server: Server,
    service: OnePort,
    cut: Arc<watch::Sender<bool>>,
    log: Arc<dyn TaskLog>,
    webhooks: Arc<dyn PushStore>,
}

impl Host {
    pub(crate) fn new(
        stores: impl Stores,
        cast: Cast,
        receiver: Receiver,
        character: Character,
    ) -> Self {
        Self {
            stores: Box::new(stores),
            cast,
            receiver,
            character,
            ids: Arc::default(),
            present: Mutex::default(),
        }
    }

    /// The service, and what tells that it has died.
    pub(super) fn service(&self) -> Option<(OnePort, watch::Receiver<bool>)> {
        let present = self.present.lock().expect("not poisoned");
        let present = present.as_ref()?;
        Some((present.service.clone(), present.cut.subscribe()))
    }

    /// Starts a server over what is there, and lets it take up what was left.
    pub(crate) async fn start(&self) {
        let (log, webhooks) = self.stores.open();
        let unit = self.cast.unit;
        let layout = Layout::new();
        let card = AgentCard::of_interfaces("n", "d", layout.interfaces("http://in.process"));
        let (journalled, answering) = (self.cast.clone(), self.cast.clone());
        let mut builder = if self.character.serves_agent {
            let agent = agent_fn(move |scope, prompt, out| {
                let cast = answering.clone();
                cast.answer(scope, prompt, out)
            });
            Server::agent_builder(agent, card)
        } else {
            let executor = executor_fn(move |cx, out| journalled.clone().execute(cx, out));
            Server::builder(executor, card)
        };
        if self.character.takes_messages {
            builder = builder.takes_messages_while_working();
        }
        let push = Push::new(self.receiver.clone()).store(Arc::clone(&webhooks));
        let server = builder
            .ids(SharedIds(Arc::clone(&self.ids)))
            .limits(limits(unit, self.character.turns))
            .log(Arc::clone(&log))
            .push(push)
            .build();
        server.recover().await.expect("the log works");
        let service = OnePort::with_layout(server.clone(), &layout);
        *self.present.lock().expect("not poisoned") = Some(Present {
            server,
            service,
            cut: Arc::new(watch::Sender::new(false)),
            log,
            webhooks,
        });
    }

    /// The server dies with all that it is doing.
    pub(crate) async fn crash(&self) {
        let present = self.present.lock().expect("not poisoned").take();
        let present = present.expect("a server runs");
        present.cut.send_replace(true);
        let log = Arc::downgrade(&present.log);
        drop(present);
        self.gone(&log).await;
    }

    /// The server ends as it should, within a time.
    pub(crate) async fn stop(&self, grace: Duration) {
        let present = self.present().clone();
        let began = Instant::now();
        present.server.shut_down(grace).await;
        let took = began.elapsed();
        // Turns get the grace and two seconds for their last words, webhooks the grace.
        let bound = grace * 2 + Duration::from_secs(2) + self.cast.unit * 20;
        assert!(took <= bound, "the shutdown took {took:?}, not {bound:?}");
        assert_eq!(self.cast.journal.alive(), 0, "turns outlive the shutdown");
        // Streams have ended, as soon as their readers have come so far (O-D04).
        let mut patience = PATIENCE;
        while present.log.bells() > 0 {
            patience -= 1;
            assert_ne!(
                patience,
                0,
                "{} streams outlive the shutdown",
                present.log.bells()
            );
            sleep(self.cast.unit).await;
        }
        drop(present);
        self.crash().await;
    }

    /// Waits until nothing of a server is left, and says so if something stays.
    async fn gone(&self, log: &Weak<dyn TaskLog>) {
        for _ in 0..PATIENCE {
            if self.cast.journal.alive() == 0 && log.strong_count() == 0 {
                return;
            }
            sleep(self.cast.unit).await;
        }
        let (turns, holders) = (self.cast.journal.alive(), log.strong_count());
        panic!("a dropped server keeps {turns} turns and {holders} handles of its log");
    }

    fn present(&self) -> Present {
        let present = self.present.lock().expect("not poisoned");
        present.clone().expect("a server runs")
    }

    pub(crate) fn log(&self) -> Arc<dyn TaskLog> {
        self.present().log
    }

    /// How many webhooks have something to come.
    pub(crate) async fn active_webhooks(&self) -> usize {
        let active = self.present().webhooks.active(None, usize::MAX >> 1);
        active.await.expect("the store works").len()
    }

    /// All tasks of somebody, as the log has them.
    pub(crate) async fn tasks_of(&self, who: &str) -> Vec<(TaskKey, Task)> {
        let owner = Owner::new(None, Some(&principal(who)));
        let query = ListQuery::new(owner.clone(), 100_000);
        let page = self.log().list(query).await.expect("the log works");
        let named = |task: Task| (TaskKey::new(owner.clone(), task.id.as_str()), task);
        page.into_tasks().into_iter().map(named).collect()
    }
}

fn limits(unit: Duration, turns: usize) -> Limits {
    let mut limits = Limits::default();
    limits.running_turns = turns;
    limits.blocking_wait = unit * BLOCKING_WAIT;
    limits.inactivity = Some(unit * INACTIVITY);
    limits.cancel_wait = unit * 10;
    // Small, so that batches and reads have borders.
    limits.batch = 4;
    limits.read_ahead = 3;
    limits.lease = LEASE;
    limits.push.attempt = unit * 4;
    limits.push.first_pause = unit;
    limits.push.longest_pause = unit * 4;
    // No webhook is given up, however often it fails.
    limits.push.failures = u32::MAX;
    limits
}

/// Ids that go on where those of an earlier process ended.
struct SharedIds(Arc<SequentialIds>);

impl IdSource for SharedIds {
    fn next(&self, kind: IdKind) -> String {
        self.0.next(kind)
    }
}

/// In units: how long a blocking call waits.
pub(crate) const BLOCKING_WAIT: u32 = 30;
/// In units: how long a turn may be silent.
pub(crate) const INACTIVITY: u32 = 60;
/// How long the next process has to leave a dead one's tasks alone.
pub(crate) const LEASE: Duration = Duration::from_millis(20);
/// In units: how long something may take to go away.
pub(crate) const PATIENCE: u32 = 2_000;
