use super::{Cost, Usage};

/// The records of a turn, the latest of each call.
///
/// ```
/// use portcullis::{Usage, UsageTally};
///
/// let mut tally = UsageTally::new();
/// tally.record(&Usage::new("call-1").with_input(25).with_output(1));
/// tally.record(&Usage::new("call-1").with_output(40));
/// assert_eq!((tally.input(), tally.output()), (Some(25), Some(40)));
/// assert_eq!(tally.calls(), 1);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UsageTally {
    records: Vec<Usage>,
}

impl UsageTally {
    /// No record yet.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            records: Vec::new(),
        }
    }

    /// Adds a record, or replaces the earlier one of the same call.
    pub fn record(&mut self, usage: &Usage) {
        match self.records.iter_mut().find(|record| record.id == usage.id) {
            Some(record) => record.replace_with(usage),
            None => self.records.push(usage.clone()),
        }
    }

    /// The latest record of each call, in the order of their first ones.
    #[must_use]
    pub fn records(&self) -> &[Usage] {
        &self.records
    }

    /// How many calls there were.
    #[must_use]
    pub const fn calls(&self) -> usize {
        self.records.len()
    }

    /// One counter over all calls that have it, `Usage::cache_read` for instance.
    #[must_use]
    pub fn sum(&self, counter: impl Fn(&Usage) -> Option<u64>) -> Option<u64> {
        self.records
            .iter()
            .filter_map(counter)
            .reduce(u64::saturating_add)
    }

    /// Tokens in, over all calls that say so.
    #[must_use]
    pub fn input(&self) -> Option<u64> {
        self.sum(Usage::input)
    }

    /// Tokens out, over all calls that say so.
    #[must_use]
    pub fn output(&self) -> Option<u64> {
        self.sum(Usage::output)
    }

    /// All tokens, over all calls that say so.
    #[must_use]
    pub fn tokens(&self) -> Option<u64> {
        self.sum(Usage::tokens)
    }

    /// What the calls cost that say so, one sum for each currency, in the order of their
    /// first ones. Empty means unpriced, never free.
    #[must_use]
    pub fn costs(&self) -> Vec<Cost> {
        let mut sums: Vec<Cost> = Vec::new();
        for cost in self.records.iter().filter_map(Usage::cost) {
            let added = sums
                .iter_mut()
                .find_map(|sum| sum.plus(cost).map(|both| *sum = both));
            if added.is_none() {
                sums.push(cost.clone());
            }
        }
        sums
    }
}
