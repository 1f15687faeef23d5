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

    /// Both together, exact to the last digit, whatever the size. `None` if the currencies
    /// differ.
    ///
    /// ```
    /// use portcullis::Cost;
    ///
    /// let cost = |amount| Cost::new(amount, "USD").expect("a decimal number");
    /// let sum = cost("0.1").plus(&cost("0.25")).expect("one currency");
    /// assert_eq!(sum.amount(), "0.35");
    /// ```
    #[must_use]
    pub fn plus(&self, other: &Self) -> Option<Self> {
        (self.currency == other.currency).then(|| Self {
            amount: sum(&self.amount, &other.amount),
            currency: self.currency.clone(),
            extra: Extra::new(),
        })
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }
}

/// The sum of two plain decimal numbers, digit by digit from the right.
fn sum(one: &str, other: &str) -> String {
    fn parts(amount: &str) -> (&[u8], &[u8]) {
        let (whole, fraction) = amount.split_once('.').unwrap_or((amount, ""));
        (whole.as_bytes(), fraction.as_bytes())
    }
    let ((whole_a, part_a), (whole_b, part_b)) = (parts(one), parts(other));
    let places = part_a.len().max(part_b.len());
    let wholes = whole_a.len().max(whole_b.len());
    let digit = |byte: Option<&u8>| byte.map_or(0, |byte| byte - b'0');
    let (mut digits, mut carry) = (Vec::with_capacity(wholes + places + 2), 0);
    let mut push = |a: Option<&u8>, b: Option<&u8>, digits: &mut Vec<u8>| {
        let sum = digit(a) + digit(b) + carry;
        carry = sum / 10;
        digits.push(b'0' + sum % 10);
    };
    for at in (0..places).rev() {
        push(part_a.get(at), part_b.get(at), &mut digits);
    }
    if places > 0 {
        digits.push(b'.');
    }
    let mut wholes_a = whole_a.iter().rev();
    let mut wholes_b = whole_b.iter().rev();
    for _ in 0..wholes {
        push(wholes_a.next(), wholes_b.next(), &mut digits);
    }
    if carry > 0 {
        digits.push(b'0' + carry);
    }
    digits.reverse();
    String::from_utf8(digits).expect("digits and a point")
}
