use std::{error::Error, fmt, str::FromStr};

use portcullis::Cost;

/// A currency: three capital letters, as in ISO 4217.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Currency([u8; 3]);

impl Currency {
    /// The euro.
    pub const EUR: Self = Self(*b"EUR");
    /// The dollar of the United States.
    pub const USD: Self = Self(*b"USD");

    /// The code.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // Three capital letters always are.
        std::str::from_utf8(&self.0).unwrap_or("XXX")
    }
}

impl FromStr for Currency {
    type Err = MoneyError;

    fn from_str(code: &str) -> Result<Self, MoneyError> {
        match <[u8; 3]>::try_from(code.as_bytes()) {
            Ok(code) if code.iter().all(u8::is_ascii_uppercase) => Ok(Self(code)),
            _ => Err(MoneyError::Currency),
        }
    }
}

impl fmt::Display for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for Currency {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An amount of money, to a billionth of its currency. No float ever touches it.
///
/// ```
/// use portcullis_layers::budget::{Currency, Limits, Meter, Money};
///
/// let five = Money::parse("5.00", Currency::USD)?;
/// assert_eq!((five.nanos(), five.to_string()), (5_000_000_000, "5 USD".to_owned()));
/// let limits = Limits::of(Meter::Money, five.nanos());
/// # let _ = limits;
/// # Ok::<_, portcullis_layers::budget::MoneyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Money {
    nanos: u64,
    currency: Currency,
}

impl Money {
    /// So many billionths.
    #[must_use]
    pub const fn from_nanos(nanos: u64, currency: Currency) -> Self {
        Self { nanos, currency }
    }

    /// Reads a plain decimal number. What lies beyond the ninth place is rounded up, so that
    /// nothing is ever free.
    ///
    /// # Errors
    /// When it is no plain, non-negative decimal number, or more than 18,446,744,073.
    pub fn parse(amount: &str, currency: Currency) -> Result<Self, MoneyError> {
        let nanos = decimal(amount, 9).ok_or(MoneyError::Amount)?;
        let nanos = u64::try_from(nanos).map_err(|_| MoneyError::TooMuch)?;
        Ok(Self { nanos, currency })
    }

    /// What a usage record says.
    ///
    /// # Errors
    /// As [`parse`](Self::parse), or when its currency is none.
    pub fn from_cost(cost: &Cost) -> Result<Self, MoneyError> {
        Self::parse(cost.amount(), cost.currency().parse()?)
    }

    /// In billionths.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.nanos
    }

    /// The currency.
    #[must_use]
    pub const fn currency(self) -> Currency {
        self.currency
    }
}

/// A decimal number times ten to the power of `places`, rounded up. `None` if it is none,
/// `u128::MAX` if it does not fit.
pub(super) fn decimal(text: &str, places: usize) -> Option<u128> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    if !digits(whole) || !digits(fraction) {
        return None;
    }
    let mut value = 0_u128;
    let kept = fraction.bytes().chain(std::iter::repeat(b'0')).take(places);
    for digit in whole.bytes().chain(kept) {
        value = value
            .saturating_mul(10)
            .saturating_add(u128::from(digit - b'0'));
    }
    let more = fraction.bytes().skip(places).any(|digit| digit != b'0');
    Some(value.saturating_add(u128::from(more)))
}

impl fmt::Display for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, rest) = (self.nanos / 1_000_000_000, self.nanos % 1_000_000_000);
        if rest == 0 {
            return write!(f, "{whole} {}", self.currency);
        }
        let fraction = format!("{rest:09}");
        write!(
            f,
            "{whole}.{} {}",
            fraction.trim_end_matches('0'),
            self.currency
        )
    }
}

impl fmt::Debug for Money {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Why something is no amount of money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MoneyError {
    /// It is no plain, non-negative decimal number.
    Amount,
    /// It is more than can be counted in billionths.
    TooMuch,
    /// The currency is no code of three capital letters.
    Currency,
}

impl fmt::Display for MoneyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Amount => "not a plain, non-negative decimal number",
            Self::TooMuch => "more money than can be counted",
            Self::Currency => "not a currency of three capital letters",
        })
    }
}

impl Error for MoneyError {}
