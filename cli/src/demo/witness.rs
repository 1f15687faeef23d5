use std::{
    collections::VecDeque,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::sync::Notify;
use tracing::{
    Event, Subscriber,
    field::{Field, Visit},
};
use tracing_subscriber::layer::{Context, Layer};

/// Hears what the layer `trace` records at the end of each turn.
#[derive(Clone, Debug, Default)]
pub(super) struct Witness(Arc<Heard>);

/// The record of a turn that has ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TurnEnded {
    pub(super) outcome: String,
    pub(super) error: Option<String>,
    events: u64,
    duration_ms: f64,
}

impl fmt::Display for TurnEnded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.outcome)?;
        if let Some(error) = &self.error
            && *error != self.outcome
        {
            write!(f, " ({error})")?;
        }
        write!(f, ", {} events in {:.1} ms", self.events, self.duration_ms)
    }
}

impl Witness {
    pub(super) fn new() -> Self {
        Self::default()
    }

    /// The next turn that has ended, or ends soon.
    pub(super) async fn next(&self) -> Option<TurnEnded> {
        let ended = async {
            loop {
                // Before the look: what is recorded after it is told.
                let told = self.0.told.notified();
                if let Some(turn) = self.0.turns().pop_front() {
                    return turn;
                }
                told.await;
            }
        };
        tokio::time::timeout(SOON, ended).await.ok()
    }
}

/// A turn ends before its last frame is sent, so there is hardly anything to wait for.
const SOON: Duration = Duration::from_secs(2);

#[derive(Debug, Default)]
struct Heard {
    turns: Mutex<VecDeque<TurnEnded>>,
    told: Notify,
}

impl Heard {
    fn turns(&self) -> MutexGuard<'_, VecDeque<TurnEnded>> {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Subscriber> Layer<S> for Witness {
    fn on_event(&self, event: &Event<'_>, _context: Context<'_, S>) {
        let mut turn = Fields::default();
        event.record(&mut turn);
        if turn.message == "turn ended" {
            self.0.turns().push_back(turn.ended);
            self.0.told.notify_one();
        }
    }
}

#[derive(Default)]
struct Fields {
    message: String,
    ended: TurnEnded,
}

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.message = format!("{value:?}");
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "outcome" => value.clone_into(&mut self.ended.outcome),
            "error" => self.ended.error = Some(value.to_owned()),
            _ => {}
        }
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        if field.name() == "events" {
            self.ended.events = value;
        }
    }

    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "duration_ms" {
            self.ended.duration_ms = value;
        }
    }
}
