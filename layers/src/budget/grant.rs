use std::{
    fmt,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use portcullis::{Scope, Usage};

use super::{Amounts, Exceeded, Limits};

/// What is left for a turn, in its scope: an agent may hand parts of it on.
///
/// A budget layer puts it there. An agent that asks another agent gives it a
/// [`BudgetGrant`]: so much of its own budget is set aside, and what the other one has not
/// used comes back.
///
/// ```
/// use portcullis::{
///     AgentEvent, AgentExt, CollectError, Failure, Prompt, Scope, Usage, agent_fn, agent_fn_with,
///     collect,
/// };
/// use portcullis_layers::budget::{BudgetLayer, BudgetPurse, Limits, Meter};
/// use tower::ServiceBuilder;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// // A stack of its own, with limits of its own if it likes.
/// let helper = ServiceBuilder::new()
///     .layer(BudgetLayer::per_turn(Limits::of(Meter::Tokens, 1_000_000)))
///     .service(agent_fn(async |_scope, _prompt: Prompt, out| {
///         out.emit(Usage::new("call").with_input(900)).await;
///         Ok(())
///     }))
///     .boxed();
/// let engine = agent_fn_with(helper, async |helper, scope: Scope, _: Prompt, out| {
///     let purse = scope.extensions().get::<BudgetPurse>().expect("a budget layer is above");
///     let grant = purse.grant(Limits::of(Meter::Tokens, 600))?;
///     let mut child = Scope::new("helper");
///     grant.give(&mut child);
///     let answer = collect(helper.invoke(child, Prompt::text("help"))).await;
///     if let Err(CollectError::Failed(failure)) = answer {
///         out.emit(AgentEvent::text(failure.details())).await;
///     }
///     Ok::<_, Failure>(())
/// });
/// let agent = ServiceBuilder::new()
///     .layer(BudgetLayer::per_turn(Limits::of(Meter::Tokens, 1_000)))
///     .service(engine);
/// let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("hello"))).await;
/// assert_eq!(answer.expect("completed").text, "the budget of the grant is spent: 600 tokens");
/// # }
/// ```
#[derive(Clone)]
pub struct BudgetPurse(Arc<dyn Carve>);

/// What a turn's budget does for the purse in its scope.
pub(super) trait Carve: Send + Sync {
    fn carve(&self, limits: Limits) -> Result<BudgetGrant, Exceeded>;
}

impl BudgetPurse {
    pub(super) fn new(carve: Arc<dyn Carve>) -> Self {
        Self(carve)
    }

    /// Sets so much aside, for somebody else. A meter that is not named is not bounded for
    /// him, and what he uses of it is counted all the same.
    ///
    /// # Errors
    ///
    /// When not so much is left, of any limit that the turn has.
    pub fn grant(&self, limits: Limits) -> Result<BudgetGrant, Exceeded> {
        self.0.carve(limits)
    }
}

impl fmt::Debug for BudgetPurse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetPurse").finish_non_exhaustive()
    }
}

/// A part of a turn's budget, for another agent. See [`BudgetPurse`].
///
/// A value in the scope's typed map, so code alone can set it: nothing that comes over a wire
/// becomes one. The first budget layer of the other agent's stack takes it up, as one more limit.
/// When the last clone is dropped, the scope's included, what was not used is free again; at
/// the end of the turn that it comes from, a grant that is still out costs all of it.
///
/// An agent that hands on the other one's usage records puts the name of the grant before
/// their ids ([`forward`](Self::forward)): they are counted once.
#[derive(Clone)]
pub struct BudgetGrant(Arc<Handle>);

struct Handle {
    state: Arc<GrantState>,
    /// The same, of a budget layer further out.
    outer: Option<BudgetGrant>,
}

/// A grant as the turn sees it that it comes from.
#[derive(Debug)]
pub(super) struct GrantState {
    name: String,
    limits: Limits,
    spent: Mutex<Amounts>,
    open: AtomicBool,
    /// Wakes the interest of the turn that it comes from.
    news: Arc<AtomicBool>,
}

impl GrantState {
    pub(super) fn new(number: usize, limits: Limits, news: Arc<AtomicBool>) -> Self {
        Self {
            name: format!("grant:{number}"),
            limits,
            spent: Mutex::default(),
            open: AtomicBool::new(true),
            news,
        }
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn spent(&self) -> MutexGuard<'_, Amounts> {
        self.spent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What it costs the turn that it comes from: all of it, while it is out.
    pub(super) fn cost(&self, forwarded: Amounts) -> Amounts {
        let spent = self.spent().max(forwarded);
        if self.open.load(Ordering::Acquire) {
            spent.max(self.limits.amounts())
        } else {
            spent
        }
    }
}

impl BudgetGrant {
    pub(super) fn new(state: Arc<GrantState>, outer: Option<Self>) -> Self {
        Self(Arc::new(Handle { state, outer }))
    }

    /// Gives it to a scope. One that was there is replaced.
    pub fn give(self, scope: &mut Scope) {
        scope.extensions_mut().insert(self);
    }

    /// The name that goes before the ids of forwarded records.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.state.name()
    }

    /// Makes a usage record of the other agent one that the turn may report: it counts
    /// as part of the grant.
    pub fn forward(&self, usage: &mut Usage) {
        usage.set_id(format!("{}/{}", self.name(), usage.id()));
    }

    /// What it is good for.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.state.limits
    }

    /// What was used of it so far.
    #[must_use]
    pub fn used(&self) -> Amounts {
        *self.0.state.spent()
    }

    /// Replaces what one turn has used of it. The error is the limit that this passed: then
    /// it is booked, or, with `undo`, not.
    pub(super) fn replace(
        &self,
        before: Amounts,
        used: Amounts,
        undo: bool,
    ) -> Result<(), Exceeded> {
        let state = &self.0.state;
        let mut spent = state.spent();
        let sum = spent.minus(before).plus(used);
        let drawn = |meter| used.of(meter) > before.of(meter);
        let mut limits = state.limits.iter();
        let over = limits.find(|(meter, limit)| sum.of(*meter) > *limit && drawn(*meter));
        let result = match over {
            Some((meter, limit)) => Err(Exceeded::new("grant", meter, limit)),
            None => Ok(()),
        };
        if result.is_err() && undo {
            return result;
        }
        *spent = sum;
        drop(spent);
        state.news.store(true, Ordering::Release);
        if let Some(outer) = &self.0.outer {
            // Bounded by the same limits, so it says the same.
            let _ = outer.replace(before, used, false);
        }
        result
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.state.open.store(false, Ordering::Release);
        self.state.news.store(true, Ordering::Release);
    }
}

impl fmt::Debug for BudgetGrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BudgetGrant")
            .field("name", &self.name())
            .field("limits", self.limits())
            .finish_non_exhaustive()
    }
}
