use std::sync::Arc;

use portcullis::{AgentEvent, Failure, Scripted};
use tower_layer::Layer;

use super::target::{Target, Targets};
use crate::commit::{Rule, blames_the_turn, is_visible};

/// Asks another agent when the first one fails. See the [module docs](super).
#[derive(Clone, Debug)]
pub struct FallbackLayer<B> {
    pub(super) others: Arc<[Target<B>]>,
    pub(super) classify: Rule<Failure>,
    pub(super) visible: Rule<AgentEvent>,
    /// Bytes.
    pub(super) buffer: Option<usize>,
}

/// An agent with others to fall back to. See the [module docs](super).
pub type Fallback<S, B> = Scripted<Targets<S, B>, FallbackLayer<B>>;

impl<B: Clone> FallbackLayer<B> {
    /// Falls back to `agent`. Callers are told its name.
    #[must_use]
    pub fn new(name: impl Into<String>, agent: B) -> Self {
        Self {
            others: Arc::new([Target {
                name: name.into(),
                agent,
            }]),
            classify: Rule::new(|failure| !blames_the_turn(failure)),
            visible: Rule::new(is_visible),
            buffer: None,
        }
    }

    /// And then to this one, if that fails as well. Agents of different types go in as
    /// [`BoxAgent`](portcullis::BoxAgent)s, or each as a layer of its own.
    #[must_use]
    pub fn then(mut self, name: impl Into<String>, agent: B) -> Self {
        let mut others = self.others.to_vec();
        others.push(Target {
            name: name.into(),
            agent,
        });
        self.others = others.into();
        self
    }
}

impl<B> FallbackLayer<B> {
    /// Says after which failures another agent is asked, instead of after all but those that
    /// are about the turn and not about the agent.
    #[must_use]
    pub fn classify(mut self, worth_it: impl Fn(&Failure) -> bool + Send + Sync + 'static) -> Self {
        self.classify = Rule::new(worth_it);
        self
    }

    /// Says which events are visible, so that no other agent is asked after them. The default
    /// is [`AgentEvent::is_visible`] without the extension event `context`.
    #[must_use]
    pub fn visible(
        mut self,
        visible: impl Fn(&AgentEvent) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visible = Rule::new(visible);
        self
    }

    /// Holds visible events back until a run has completed, so that another agent can be asked
    /// after them too: for calls whose caller waits for the whole answer anyway. What goes
    /// beyond so many `bytes` of memory is shown, and ends that.
    ///
    /// `usage` and other advisory events go through at once, before what is held back.
    #[must_use]
    pub const fn buffered(mut self, bytes: usize) -> Self {
        self.buffer = Some(bytes);
        self
    }
}

impl<S, B: Clone> Layer<S> for FallbackLayer<B> {
    type Service = Fallback<S, B>;

    fn layer(&self, inner: S) -> Fallback<S, B> {
        Scripted::new(Targets::new(inner, Arc::clone(&self.others)), self.clone())
    }
}
