use crate::json::Extra;

/// Money, as a decimal string: no float ever touches it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cost {
    pub(super) amount: String,
    pub(super) currency: String,
    pub(super) extra: Extra,
}

impl Cost {
    /// `amount` is a decimal number such as `0.0125`, `currency` an ISO 4217 code.
    ///
    /// Returns `None` when the amount is no plain, non-negative decimal number.
    #[must_use]
    pub fn new(amount: impl Into<String>, currency: impl Into<String>) -> Option<Self> {
        let amount = amount.into();
        let (whole, fraction) = amount.split_once('.').unwrap_or((&amount, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        (digits(whole) && digits(fraction)).then(|| Self {
            currency: currency.into(),
            amount,
            extra: Extra::new(),
        })
    }

    /// The decimal number.
    #[must_use]
    pub fn amount(&self) -> &str {
        &self.amount
    }

    /// The currency.
    #[must_use]
    pub fn currency(&self) -> &str {
        &self.currency
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }
}
