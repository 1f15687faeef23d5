//! A small world in which many clients live beside agents of every kind, and a judge who looks
//! at what was seen when all of it is over.
//!
//! Everything that happens follows from one number, as far as the order in which tasks of the
//! runtime run does.

mod agents;
mod book;
mod client;
mod dice;
mod hooks;
pub(crate) mod host;
mod journal;
mod judge;
mod plain;
mod script;
mod watcher;
pub(crate) mod wire;

use std::{
    collections::BTreeMap,
    env,
    ops::Range,
    sync::{Arc, Mutex},
    time::Duration,
};

use portcullis_a2a::{
    client::Binding,
    model::{
        CancelTaskRequest, GetTaskRequest, Message, Part, SendMessageConfiguration,
        SendMessageRequest, SendMessageResponse, TaskState,
    },
};
use tokio::{
    runtime::Handle,
    task::JoinSet,
    time::{sleep, timeout},
};

use self::{
    agents::Cast,
    book::Book,
    client::{Resident, Street},
    hooks::Receiver,
    host::{Character, Host, PATIENCE},
    journal::Journal,
    judge::Judge,
};
pub(crate) use self::{
    dice::Dice,
    host::Stores,
    wire::{Front, InProcess, Road},
};

/// How a run goes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Plan {
    pub(crate) seed: u64,
    pub(crate) clients: usize,
    /// How many things each client does.
    pub(crate) actions: usize,
    /// How long the unit of its time is.
    pub(crate) unit: Duration,
    /// Whether time stands still while something can be done, so that nothing is late.
    pub(crate) paused: bool,
    /// How often the server dies or is stopped, and another one goes on.
    pub(crate) restarts: usize,
}

/// The seeds to run: the one of `PORTCULLIS_LIFE_SEED` alone, else those that are always run and
/// a few that nobody has run before, `PORTCULLIS_LIFE_ROUNDS` of them.
pub(crate) fn seeds(fixed: Range<u64>, random: usize) -> Vec<u64> {
    if let Some(seed) = number(SEED) {
        return vec![seed];
    }
    let random = number("PORTCULLIS_LIFE_ROUNDS").unwrap_or(random as u64);
    fixed
        .chain((0..random).map(|_| fastrand::u64(1_000..)))
        .collect()
}

/// Whether only one seed is run.
pub(crate) fn is_repeated() -> bool {
    number(SEED).is_some()
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is no number")),
    )
}

const SEED: &str = "PORTCULLIS_LIFE_SEED";

/// How often what happened.
pub(crate) type Counts = BTreeMap<String, usize>;

pub(crate) struct World {
    plan: Plan,
    dice: Dice,
    book: Arc<Book>,
    journal: Arc<Journal>,
    receiver: Receiver,
    host: Arc<Host>,
    character: Character,
    /// How many tasks of the runtime there were before.
    before: usize,
}

impl World {
    pub(crate) fn new(plan: Plan, stores: impl Stores) -> Self {
        let mut dice = Dice::new(plan.seed);
        // What the server itself rolls on this thread.
        fastrand::seed(plan.seed);
        let book = Arc::new(Book::default());
        let journal = Arc::new(Journal::default());
        let receiver = Receiver::new(Arc::clone(&book), plan.unit, dice.branch());
        let cast = Cast {
            journal: Arc::clone(&journal),
            unit: plan.unit,
        };
        let character = Character {
            serves_agent: dice.percent(50),
            takes_messages: dice.percent(50),
            turns: 16,
        };
        let host = Arc::new(Host::new(stores, cast, receiver.clone(), character));
        Self {
            plan,
            dice,
            book,
            journal,
            receiver,
            host,
            character,
            before: alive_tasks(),
        }
    }

    /// The server as a service, whichever runs.
    pub(crate) fn front(&self) -> Front {
        Front(Arc::clone(&self.host))
    }

    /// Lets everybody live, and judges what they saw.
    /// Answers how often what happened.
    pub(crate) async fn live(mut self, road: impl Road) -> Counts {
        let _told = Told(self.plan);
        self.host.start().await;
        let street = Arc::new(Street {
            plan: self.plan,
            road: Box::new(road),
            book: Arc::clone(&self.book),
            journal: Arc::clone(&self.journal),
            watchers: Mutex::default(),
        });
        let mut residents = JoinSet::new();
        for number in 0..self.plan.clients {
            let resident = Resident {
                street: Arc::clone(&street),
                who: WHO[number % WHO.len()].to_owned(),
                name: number.to_string(),
                dice: self.dice.branch(),
                sent: 0,
            };
            residents.spawn(resident.live());
        }
        self.restart().await;
        while let Some(lived) = residents.join_next().await {
            settle_panic(lived);
        }
        self.settle(&street).await;
        self.judge().await;
        let counts = std::mem::take(&mut self.book.pages().counts);
        self.fill(&street).await;
        self.end(street).await;
        counts
    }

    /// The server dies, or is stopped, and another one goes on.
    async fn restart(&mut self) {
        for _ in 0..self.plan.restarts {
            let units = self.dice.between(5, 60);
            sleep(self.plan.unit * units).await;
            if self.dice.percent(50) {
                self.host.crash().await;
            } else {
                let grace = self.dice.below(20);
                self.host.stop(self.plan.unit * grace).await;
            }
            let units = self.dice.below(5);
            sleep(self.plan.unit * units).await;
            self.host.start().await;
        }
    }

    /// Waits until all is over that ends by itself, and ends the rest.
    async fn settle(&mut self, street: &Arc<Street>) {
        let log = self.host.log();
        self.until("tasks that nobody works on are over", async || {
            let open = self.open().await;
            self.journal.alive() == 0 && open.iter().all(|(.., state)| state.is_interrupted())
        })
        .await;
        for (who, id, _) in self.open().await {
            let binding = self.dice.pick(Binding::ALL).expect("there are some");
            if let Some(known) = self.book.pages().tasks.get_mut(&id) {
                known.cancel_asked = true;
            }
            let client = street.client(binding, who);
            let canceled = client.cancel_task(&CancelTaskRequest::new(&*id)).await;
            let canceled = canceled.unwrap_or_else(|error| panic!("{id}: {error:?}"));
            assert_eq!(canceled.status.state, TaskState::Canceled, "{id}");
        }
        // Whoever watches learns of the end.
        let watchers = std::mem::take(&mut *street.watchers.lock().expect("not poisoned"));
        let ended = timeout(self.plan.unit * PATIENCE, async {
            let mut watchers = watchers;
            while let Some(watched) = watchers.join_next().await {
                settle_panic(watched);
            }
        });
        assert!(ended.await.is_ok(), "watchers wait for tasks that are over");
        self.until("webhooks have all", async || {
            self.host.active_webhooks().await == 0
        })
        .await;
        self.until("nobody watches", async || log.bells() == 0)
            .await;
        self.until("no turn lives", async || self.journal.alive() == 0)
            .await;
    }

    /// Tasks that are not over.
    async fn open(&self) -> Vec<(&'static str, String, TaskState)> {
        let mut open = Vec::new();
        for who in WHO {
            for (key, task) in self.host.tasks_of(who).await {
                if !task.status.state.is_terminal() {
                    open.push((who, key.id().to_owned(), task.status.state));
                }
            }
        }
        open
    }

    async fn judge(&self) {
        let turns = self.journal.by_task();
        let posted = self.receiver.posted();
        let mut judge = Judge::new(&self.plan, &self.book, &turns, posted, self.character);
        for who in WHO {
            for (key, task) in self.host.tasks_of(who).await {
                judge.hear(&self.host.log(), &key, &task).await;
            }
        }
        judge.judge();
    }

    /// As many turns as there may be find a place at once, and no more: no earlier one has kept
    /// its own.
    async fn fill(&mut self, street: &Street) {
        let send = async |number: usize| {
            let binding = Binding::ALL[number % Binding::ALL.len()];
            let client = street.client(binding, WHO[0]);
            let message = Message::user(format!("m-fill-{number}"), [Part::text("sign hang")]);
            let mut wishes = SendMessageConfiguration::new();
            wishes.return_immediately = true;
            let request = SendMessageRequest::new(message).with_configuration(wishes);
            client.send_message(&request).await
        };
        let mut full = Vec::new();
        for number in 0..self.character.turns {
            match send(number).await {
                Ok(SendMessageResponse::Task(task)) => full.push(task.id),
                other => panic!(
                    "turn {number} of {} has no place: {other:?}",
                    self.character.turns
                ),
            }
        }
        let more = send(self.character.turns).await;
        assert!(more.is_err(), "more turns than there may be: {more:?}");
        // One of them ends by a cancel and makes room; the others by the shutdown.
        let client = street.client(Binding::JsonRpc, WHO[0]);
        let canceled = client.cancel_task(&CancelTaskRequest::new(&*full[0])).await;
        assert_eq!(
            canceled.expect("it can be").status.state,
            TaskState::Canceled
        );
        let again = send(self.character.turns + 1).await;
        assert!(again.is_ok(), "no place after a cancel: {again:?}");
        let task = client.get_task(&GetTaskRequest::new(&*full[1])).await;
        assert!(!task.expect("it is there").status.state.is_terminal());
    }

    /// The server is stopped while turns run, and nothing of it is left.
    async fn end(self, street: Arc<Street>) {
        assert_eq!(self.journal.alive(), self.character.turns);
        self.host.stop(self.plan.unit * 10).await;
        let street = Arc::into_inner(street).expect("everybody has left");
        street.road.close().await;
        let before = self.before;
        self.until("no task of the runtime is left", async || {
            alive_tasks() == before
        })
        .await;
    }

    async fn until(&self, what: &str, is_so: impl AsyncFn() -> bool) {
        for _ in 0..PATIENCE {
            if is_so().await {
                return;
            }
            sleep(self.plan.unit).await;
        }
        panic!("it never becomes true that {what}");
    }
}

fn alive_tasks() -> usize {
    Handle::current().metrics().num_alive_tasks()
}

/// The panic of whoever lived is that of the world.
fn settle_panic(lived: Result<(), tokio::task::JoinError>) {
    if let Err(error) = lived {
        std::panic::resume_unwind(error.into_panic());
    }
}

/// Says how to repeat a run that fails.
struct Told(Plan);

impl Drop for Told {
    #[expect(clippy::print_stderr, reason = "for whoever reads the failure")]
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "{:?}; again with PORTCULLIS_LIFE_SEED={}",
                self.0, self.0.seed
            );
        }
    }
}

/// The owners.
const WHO: [&str; 3] = ["ann", "ben", "eve"];
