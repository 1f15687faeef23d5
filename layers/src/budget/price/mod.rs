//! What calls cost.

mod list;
mod money;

use portcullis::Usage;

pub use self::{
    list::{PriceList, Rates},
    money::{Currency, Money, MoneyError},
};

/// Says what a call cost. Also implemented by closures.
///
/// It is asked with what is known of a call so far, each time that more is, while a turn is
/// counted: it must not block.
pub trait Pricing {
    /// The price, or `None` where nobody knows: that is a policy, never zero. A price in
    /// another currency than the layer's is one that nobody knows.
    fn price(&self, usage: &Usage) -> Option<Money>;
}

impl<F: Fn(&Usage) -> Option<Money>> Pricing for F {
    fn price(&self, usage: &Usage) -> Option<Money> {
        self(usage)
    }
}

/// What the record says itself: the default.
pub(super) fn reported(usage: &Usage) -> Option<Money> {
    let cost = usage.cost()?;
    match Money::from_cost(cost) {
        // It is a bill all the same, and no limit is as large.
        Err(MoneyError::TooMuch) => {
            let currency = cost.currency().parse().ok()?;
            Some(Money::from_nanos(u64::MAX, currency))
        }
        price => price.ok(),
    }
}
