//! A layer of one's own: it counts the words of an answer, and cuts it at a limit.

use portcullis::{AgentEvent, Failure, Flow, MakeTurn, Outbox, Prompt, Scope, Turn, Watched};
use tower_layer::Layer;

/// Lets so many words of an answer through.
#[derive(Clone, Copy, Debug)]
pub struct WordLimit(pub usize);

impl<S> Layer<S> for WordLimit {
    type Service = Watched<S, Self>;

    fn layer(&self, inner: S) -> Self::Service {
        Watched::new(inner, *self)
    }
}

impl MakeTurn for WordLimit {
    type Turn = Words;

    fn make_turn(&self, _scope: &mut Scope, _prompt: &mut Prompt) -> Words {
        Words {
            limit: self.0,
            used: 0,
            within: false,
        }
    }
}

/// Counts the words of one turn.
#[derive(Debug)]
pub struct Words {
    limit: usize,
    used: usize,
    /// The last piece ended within a word.
    within: bool,
}

impl Turn for Words {
    fn on_event(&mut self, event: &mut AgentEvent, out: &mut Outbox) -> Flow {
        if let AgentEvent::Text(text) = event {
            for letter in text.delta().chars() {
                let within = !letter.is_whitespace();
                self.used += usize::from(within && !self.within);
                self.within = within;
            }
            if self.used > self.limit {
                out.fail(Failure::new(format!("more than {} words", self.limit)));
                return Flow::Skip;
            }
        }
        Flow::Forward
    }
}
