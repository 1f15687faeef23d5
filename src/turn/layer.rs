use tower_layer::Layer;

use super::{Turn, Watched};
use crate::{Prompt, Scope};

/// Makes the [`Turn`] of each turn. Also implemented by closures.
pub trait MakeTurn {
    /// What watches.
    type Turn: Turn;

    /// A turn begins: the agent is called next. May edit what it is asked.
    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) -> Self::Turn;
}

impl<F, T> MakeTurn for F
where
    F: Fn(&mut Scope, &mut Prompt) -> T,
    T: Turn,
{
    type Turn = T;

    fn make_turn(&self, scope: &mut Scope, prompt: &mut Prompt) -> T {
        self(scope, prompt)
    }
}

/// The layer of a [`MakeTurn`].
///
/// It calls at once, so its service forwards readiness.
#[derive(Clone, Debug)]
pub struct TurnLayer<M> {
    make: M,
}

impl<M> TurnLayer<M> {
    /// The layer of `make`. A closure names its types: `|_: &mut Scope, _: &mut Prompt| …`.
    pub const fn new(make: M) -> Self {
        Self { make }
    }
}

impl<S, M: Clone> Layer<S> for TurnLayer<M> {
    type Service = Watched<S, M>;

    fn layer(&self, inner: S) -> Watched<S, M> {
        Watched::new(inner, self.make.clone())
    }
}
