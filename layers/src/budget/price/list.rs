use std::collections::HashMap;

use portcullis::Usage;

use super::{Currency, Money, MoneyError, Pricing, money::decimal};

/// What tokens cost, for each model.
///
/// ```
/// use portcullis::Usage;
/// use portcullis_layers::budget::{Currency, PriceList, Pricing, Rates};
///
/// let prices = PriceList::new(Currency::USD)
///     .model("small", Rates::per_million("0.25", "2")?.cached("0.025")?);
/// let usage = Usage::new("call").with_model("small").with_input(1_000).with_output(100);
/// assert_eq!(prices.price(&usage).expect("it is on the list").to_string(), "0.00045 USD");
/// assert_eq!(prices.price(&usage.with_model("other")), None);
/// # Ok::<_, portcullis_layers::budget::MoneyError>(())
/// ```
#[derive(Clone, Debug)]
pub struct PriceList {
    currency: Currency,
    models: HashMap<String, Rates>,
}

impl PriceList {
    /// A list without models.
    #[must_use]
    pub fn new(currency: Currency) -> Self {
        Self {
            currency,
            models: HashMap::new(),
        }
    }

    /// What a model costs, by the name that its records have.
    #[must_use]
    pub fn model(mut self, name: impl Into<String>, rates: Rates) -> Self {
        self.models.insert(name.into(), rates);
        self
    }
}

impl Pricing for PriceList {
    /// `None` without a model on the list, or without both counts: half a bill is none.
    fn price(&self, usage: &Usage) -> Option<Money> {
        let rates = self.models.get(usage.model()?)?;
        let (input, output) = (usage.input()?, usage.output()?);
        let cached = usage.cache_read().unwrap_or(0).min(input);
        let bill = [
            (input - cached, rates.input),
            (cached, rates.cached),
            (output, rates.output),
        ];
        let femtos = bill.into_iter().fold(0_u128, |sum, (tokens, rate)| {
            sum.saturating_add(u128::from(tokens).saturating_mul(u128::from(rate)))
        });
        // Too much to be counted is too much for every limit.
        let nanos = u64::try_from(femtos.div_ceil(1_000_000)).unwrap_or(u64::MAX);
        Some(Money::from_nanos(nanos, self.currency))
    }
}

/// What a million tokens cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rates {
    /// In billionths for a million tokens.
    input: u64,
    output: u64,
    cached: u64,
}

impl Rates {
    /// What a million tokens cost that go in, and that come out, as decimal numbers.
    ///
    /// # Errors
    /// As [`Money::parse`].
    pub fn per_million(input: &str, output: &str) -> Result<Self, MoneyError> {
        let input = rate(input)?;
        Ok(Self {
            input,
            output: rate(output)?,
            cached: input,
        })
    }

    /// What a million tokens cost that a cache serves. Without it, as others that go in.
    ///
    /// # Errors
    /// As [`Money::parse`].
    pub fn cached(mut self, cached: &str) -> Result<Self, MoneyError> {
        self.cached = rate(cached)?;
        Ok(self)
    }
}

fn rate(text: &str) -> Result<u64, MoneyError> {
    let nanos = decimal(text, 9).ok_or(MoneyError::Amount)?;
    u64::try_from(nanos).map_err(|_| MoneyError::TooMuch)
}
