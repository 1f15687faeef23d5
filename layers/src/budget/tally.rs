use std::{collections::HashMap, sync::Arc};

use portcullis::Usage;

use super::{
    Amounts, Meter,
    grant::GrantState,
    plan::{Plan, Unpriced},
};

/// How many calls of a turn are known by their id. Beyond it each report is a call of its
/// own: what a stranger sends is bounded, and nobody gets anything for nothing.
const MAX_CALLS: usize = 65_536;

/// What was reported of one turn: the latest record of each call, and their sum.
#[derive(Debug, Default)]
pub(super) struct Tally {
    records: HashMap<String, Usage>,
    sum: Amounts,
    /// Calls that have not given their last figures.
    open: usize,
    grants: Vec<Granted>,
    /// The provider and the model of the last call that named them.
    last: Option<Usage>,
    /// Somebody limits money.
    needs_prices: bool,
    /// A call is over whose price nobody knows.
    unpriced: bool,
}

#[derive(Debug)]
struct Granted {
    state: Arc<GrantState>,
    /// What the agent has reported of it itself.
    forwarded: Amounts,
}

impl Tally {
    pub(super) fn new(needs_prices: bool) -> Self {
        Self {
            needs_prices,
            ..Self::default()
        }
    }

    pub(super) fn record(&mut self, usage: &Usage, plan: &Plan) {
        let (before, was_open, merged) = match self.records.get_mut(usage.id()) {
            Some(record) => {
                let before = amounts(record, plan);
                let was_open = !record.is_final();
                record.replace_with(usage);
                (before, was_open, record.clone())
            }
            None => {
                if self.records.len() < MAX_CALLS {
                    self.records.insert(usage.id().to_owned(), usage.clone());
                }
                (Amounts::ZERO, false, usage.clone())
            }
        };
        let is_known = self.records.contains_key(merged.id());
        let is_open = is_known && !merged.is_final();
        self.open = self.open - usize::from(was_open) + usize::from(is_open);
        let after = amounts(&merged, plan);
        let sum = self.sum_of(merged.id());
        *sum = sum.minus(before).plus(after);
        if merged.model().is_some() {
            let mut last = Usage::new("");
            last.replace_with(&merged);
            self.last = Some(last);
        }
        let needs_price = self.needs_prices && plan.unpriced != Unpriced::Ignore;
        if needs_price && merged.is_final() && plan.price(&merged).is_none() {
            self.unpriced = true;
            plan.note_without_price(&merged);
        }
    }

    /// Where a call is counted: with the grant that it was paid from, or with the turn.
    fn sum_of(&mut self, id: &str) -> &mut Amounts {
        let mut grants = self.grants.iter_mut();
        // Layers in between may have numbered the run.
        let grant = grants.find(|grant| id.split('/').any(|part| part == grant.state.name()));
        match grant {
            Some(grant) => &mut grant.forwarded,
            None => &mut self.sum,
        }
    }

    pub(super) fn grant(&mut self, state: Arc<GrantState>) {
        self.grants.push(Granted {
            state,
            forwarded: Amounts::ZERO,
        });
    }

    pub(super) fn undo_grant(&mut self) {
        self.grants.pop();
    }

    pub(super) fn grants(&self) -> usize {
        self.grants.len()
    }

    /// What is known to be used, grants included.
    pub(super) fn total(&self) -> Amounts {
        let grants = self.grants.iter();
        grants.fold(self.sum, |sum, grant| {
            sum.plus(grant.state.cost(grant.forwarded))
        })
    }

    pub(super) fn calls(&self) -> u64 {
        self.sum.of(Meter::ModelCalls)
    }

    /// Whether every call has given its last figures.
    pub(super) const fn are_final(&self) -> bool {
        self.open == 0
    }

    pub(super) const fn is_unpriced(&self) -> bool {
        self.unpriced
    }

    /// What output costs that nobody measured, of the model that was called last. Zero where
    /// that is not known: whether it matters shows when the call is over.
    pub(super) fn price_estimate(&self, tokens: u64, plan: &Plan) -> u64 {
        if !self.needs_prices {
            return 0;
        }
        let usage = self.last.clone().unwrap_or_default();
        let mut estimate = Usage::new("estimate").with_input(0).with_output(tokens);
        if let Some(model) = usage.model() {
            estimate = estimate.with_model(model);
        }
        if let Some(provider) = usage.provider() {
            estimate = estimate.with_provider(provider);
        }
        plan.price(&estimate).unwrap_or(0)
    }
}

/// What one call used. Not said is not counted: that is what `Unmeasured` is for.
fn amounts(usage: &Usage, plan: &Plan) -> Amounts {
    let said = |count: Option<u64>| count.unwrap_or(0);
    Amounts::ZERO
        .with(Meter::InputTokens, said(usage.input()))
        .with(Meter::OutputTokens, said(usage.output()))
        .with(Meter::Tokens, said(usage.tokens()))
        .with(Meter::ModelCalls, 1)
        .with(Meter::Money, said(plan.price(usage)))
}
