use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::CalcError;

/// Digits after the point up to which a fraction is written as a decimal.
const MAX_PLACES: usize = 40;
/// Digits after the point of what is only about right.
const ABOUT_PLACES: u32 = 12;
/// The largest exponent in `1e9`.
const MAX_EXPONENT: i32 = 2_000;

/// A number as people read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Written {
    /// Exactly the number: digits, a decimal that ends, or a fraction.
    pub(crate) exact: String,
    /// A decimal beside a fraction.
    pub(crate) about: Option<String>,
}

impl Written {
    /// For a sentence.
    pub(crate) fn sentence(&self) -> String {
        match &self.about {
            Some(about) => format!("{} (about {about})", self.exact),
            None => self.exact.clone(),
        }
    }
}

/// Writes a number in base ten.
pub(crate) fn decimal(value: &BigRational) -> Written {
    if value.is_integer() {
        return Written {
            exact: value.numer().to_string(),
            about: None,
        };
    }
    match places(value.denom()) {
        Some(places) => {
            let scaled = value * BigRational::from(BigInt::from(10).pow(places));
            Written {
                exact: point(scaled.numer(), places),
                about: None,
            }
        }
        None => {
            let scaled = value * BigRational::from(BigInt::from(10).pow(ABOUT_PLACES));
            let rounded = scaled.round();
            Written {
                exact: format!("{}/{}", value.numer(), value.denom()),
                about: Some(point(rounded.numer(), ABOUT_PLACES)),
            }
        }
    }
}

/// Writes a whole number in another base, with the prefix that programs use.
pub(crate) fn in_base(value: &BigRational, base: u32) -> Result<String, CalcError> {
    if !value.is_integer() {
        return Err(CalcError::NeedsWhole("another base"));
    }
    let prefix = match base {
        2 => "0b",
        8 => "0o",
        16 => "0x",
        _ => "",
    };
    let sign = if value.is_negative() { "-" } else { "" };
    Ok(format!(
        "{sign}{prefix}{}",
        value.numer().magnitude().to_str_radix(base)
    ))
}

/// Reads a literal: `1,234.5`, `1_000`, `2e6`, `0xff`, `0b101`, `0o17`.
pub(crate) fn literal(text: &str) -> Option<BigRational> {
    let lower = text.to_ascii_lowercase();
    for (prefix, base) in [("0x", 16), ("0b", 2), ("0o", 8)] {
        if let Some(digits) = lower.strip_prefix(prefix) {
            let digits: Vec<u8> = digits.bytes().filter(|byte| *byte != b'_').collect();
            return BigInt::parse_bytes(&digits, base)
                .filter(|value| value.sign() != Sign::Minus && !digits.starts_with(b"+"))
                .map(BigRational::from);
        }
    }
    let (mantissa, exponent) = match lower.split_once('e') {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i32>().ok()?),
        None => (lower.as_str(), 0),
    };
    if exponent.abs() > MAX_EXPONENT {
        return None;
    }
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let whole = ungroup(whole)?;
    let digits = format!("{whole}{fraction}");
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let value = BigRational::from(digits.parse::<BigInt>().ok()?);
    let shift = exponent.checked_sub(i32::try_from(fraction.len()).ok()?)?;
    let scale = BigRational::from(BigInt::from(10).pow(shift.unsigned_abs()));
    Some(if shift < 0 {
        value / scale
    } else {
        value * scale
    })
}

/// Takes the separators out of `1,234,567`; refuses `12,34`.
fn ungroup(whole: &str) -> Option<String> {
    if whole.contains(',') {
        let mut groups = whole.split(',');
        let first = groups.next()?;
        if !(1..=3).contains(&first.len()) || groups.any(|group| group.len() != 3) {
            return None;
        }
    }
    Some(whole.chars().filter(|c| !matches!(c, ',' | '_')).collect())
}

/// How many decimal places a denominator of twos and fives needs.
fn places(denom: &BigInt) -> Option<u32> {
    let mut rest = denom.clone();
    let mut count = [0usize; 2];
    for (factor, count) in [2, 5].into_iter().zip(&mut count) {
        let factor = BigInt::from(factor);
        while (&rest % &factor).is_zero() {
            rest /= &factor;
            *count += 1;
            if *count > MAX_PLACES {
                return None;
            }
        }
    }
    rest.is_one()
        .then(|| count[0].max(count[1]).to_u32())
        .flatten()
}

fn point(scaled: &BigInt, places: u32) -> String {
    let places = places as usize;
    let digits = scaled.magnitude().to_string();
    let digits = format!("{digits:0>width$}", width = places + 1);
    let (whole, fraction) = digits.split_at(digits.len() - places);
    let sign = if scaled.is_negative() { "-" } else { "" };
    format!("{sign}{whole}.{fraction}")
}
