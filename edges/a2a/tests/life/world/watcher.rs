use std::sync::Arc;

use futures_util::StreamExt;
use portcullis_a2a::{
    client::{Binding, CallError, EventStream},
    model::{ErrorKind, StreamResponse, SubscribeToTaskRequest, TaskState},
};
use tokio::time::{sleep, timeout};

use super::{
    Dice,
    book::{End, Sighting, Watching},
    client::Street,
    plain,
};

/// How somebody watches.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Habit {
    /// To the end, however long that takes.
    Stays,
    /// Leaves after so many events.
    Leaves(u32),
    /// Leaves when nothing has come for so many units.
    LosesPatience(u32),
    /// Takes so many units for each event.
    IsSlow(u32),
}

impl Habit {
    pub(crate) fn roll(dice: &mut Dice) -> Self {
        match dice.below(8) {
            0..4 => Self::Stays,
            4 => Self::Leaves(dice.below(8)),
            5 => Self::LosesPatience(dice.below(15)),
            _ => Self::IsSlow(dice.between(1, 4)),
        }
    }
}

/// Somebody who watches a task, and comes back when that ended too early.
pub(crate) struct Watcher {
    pub(crate) street: Arc<Street>,
    pub(crate) who: String,
    pub(crate) watching: Watching,
    pub(crate) habit: Habit,
    pub(crate) dice: Dice,
    /// The webhook that came with the message.
    pub(crate) webhook: Option<usize>,
}

impl Watcher {
    pub(crate) async fn follow(mut self, mut stream: EventStream) {
        for _ in 0..RETURNS {
            let (task, place) = self.read(stream).await;
            let Some(task) = task else { return };
            let over = self.street.book.pages().tasks[&task].over.is_some();
            if over || self.dice.percent(40) {
                return;
            }
            let units = self.dice.below(10);
            sleep(self.street.units(units)).await;
            match self.come_back(&task, place).await {
                Some(again) => stream = again,
                None => return,
            }
        }
    }

    /// Reads to an end. Answers which task it was and how far it has come.
    async fn read(&mut self, mut stream: EventStream) -> (Option<String>, Option<u64>) {
        let (mut task, mut place, mut count) = (None, None, 0);
        let end = loop {
            let next = match self.habit {
                Habit::Leaves(events) if count >= events => break End::Left,
                Habit::LosesPatience(units) => {
                    match timeout(self.street.units(units), stream.next()).await {
                        Ok(next) => next,
                        Err(_) => break End::Left,
                    }
                }
                Habit::IsSlow(units) => {
                    sleep(self.street.units(units)).await;
                    stream.next().await
                }
                Habit::Stays | Habit::Leaves(_) => stream.next().await,
            };
            count += 1;
            match next {
                None => break End::Ended,
                Some(Ok(event)) => {
                    let id = event.id.as_deref().map(|id| id.parse().expect("a number"));
                    let about = match &event.response {
                        StreamResponse::Message(_) => None,
                        StreamResponse::Task(it) => Some((&it.id, Some(it.status.state))),
                        StreamResponse::StatusUpdate(it) => {
                            Some((&it.task_id, Some(it.status.state)))
                        }
                        StreamResponse::ArtifactUpdate(it) => Some((&it.task_id, None)),
                        _ => unreachable!("four kinds"),
                    };
                    if let Some((name, state)) = about {
                        self.street
                            .meet(&self.who, name, state.unwrap_or(TaskState::Unknown));
                        if task.is_none() {
                            task = Some(name.clone());
                            self.street.has_webhook(self.webhook.take(), name);
                        }
                        if let Some(known) = self.street.book.pages().tasks.get_mut(name) {
                            known.places.extend(id);
                        }
                    }
                    place = id.or(place);
                    self.watching.saw(id, plain::response(event.response));
                }
                Some(Err(error @ (CallError::Cut { .. } | CallError::Transport(_)))) => {
                    self.street.bears("watch", &error, &[]);
                    break End::Cut;
                }
                Some(Err(error)) => panic!("a stream of {task:?} ended with {error:?}"),
            }
        };
        self.street.book.count(format!("watch: {end:?}"));
        self.watching.ends(end);
        (task, place)
    }

    /// Goes on behind what was seen.
    async fn come_back(&mut self, task: &str, place: Option<u64>) -> Option<EventStream> {
        let binding = self.dice.pick(Binding::ALL).expect("there are some");
        let client = self.street.client(binding, &self.who);
        let book = &self.street.book;
        let sighting = Sighting {
            binding,
            sent: false,
            resumed_after: place,
            begun: book.tick(),
            events: Vec::new(),
            end: End::Left,
        };
        self.watching = Watching::new(Arc::clone(book), sighting);
        let place = place.map(|place| place.to_string());
        let request = SubscribeToTaskRequest::new(task);
        match client.subscribe_to_task(&request, place.as_deref()).await {
            Ok(stream) => {
                book.count("watch: came back");
                Some(stream)
            }
            Err(error) => {
                let kinds = &[ErrorKind::UnsupportedOperation];
                self.street.bears("come back", &error, kinds);
                None
            }
        }
    }
}

/// How often somebody comes back.
const RETURNS: usize = 5;
