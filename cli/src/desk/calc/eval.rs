use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

use super::{CalcError, Expr, expr::Operator};

/// A number has at most this many bits above and below the line: nearly ten thousand
/// digits, which takes no time that anybody could notice.
const MAX_BITS: u64 = 1 << 15;
const MAX_FACTORIAL: u32 = 3_000;

/// Works out a sum. `that` is the last result of the session.
pub(crate) fn evaluate(expr: &Expr, that: Option<&BigRational>) -> Result<BigRational, CalcError> {
    let value = match expr {
        Expr::Number(value) => value.clone(),
        Expr::That => that.ok_or(CalcError::NothingBefore)?.clone(),
        Expr::Negate(inner) => -evaluate(inner, that)?,
        Expr::Percent(inner) => evaluate(inner, that)? / hundred(),
        Expr::Factorial(inner) => factorial(&evaluate(inner, that)?)?,
        Expr::Root(inner) => root(&evaluate(inner, that)?)?,
        Expr::Binary(operator, left, right) => binary(*operator, left, right, that)?,
    };
    bounded(value)
}

fn binary(
    operator: Operator,
    left: &Expr,
    right: &Expr,
    that: Option<&BigRational>,
) -> Result<BigRational, CalcError> {
    let left = evaluate(left, that)?;
    // "80 + 10%" is 88, as on every pocket calculator.
    if let (Operator::Add | Operator::Subtract, Expr::Percent(share)) = (operator, right) {
        let share = &left * evaluate(share, that)? / hundred();
        return Ok(if operator == Operator::Add {
            left + share
        } else {
            left - share
        });
    }
    let right = evaluate(right, that)?;
    match operator {
        Operator::Add => Ok(left + right),
        Operator::Subtract => Ok(left - right),
        Operator::Multiply => Ok(left * right),
        Operator::Divide if right.is_zero() => Err(CalcError::DivisionByZero),
        Operator::Divide => Ok(left / right),
        Operator::Remainder => remainder(&left, &right),
        Operator::Power => power(&left, &right),
    }
}

/// The remainder that has the sign of the divisor, as in spoken arithmetic.
fn remainder(left: &BigRational, right: &BigRational) -> Result<BigRational, CalcError> {
    if right.is_zero() {
        return Err(CalcError::DivisionByZero);
    }
    let quotient = (left / right).floor();
    Ok(left - quotient * right)
}

fn power(base: &BigRational, exponent: &BigRational) -> Result<BigRational, CalcError> {
    if !exponent.is_integer() {
        return Err(CalcError::NeedsWhole("an exponent"));
    }
    if base.is_zero() && exponent.is_negative() {
        return Err(CalcError::DivisionByZero);
    }
    // Zero, one and minus one never grow, however large the exponent.
    if base.is_zero() || (base.is_integer() && base.numer().magnitude().is_one()) {
        let even = (exponent.numer() % 2u8).is_zero();
        return Ok(match (exponent.is_zero(), even) {
            (true, _) => BigRational::one(),
            (false, true) => base * base,
            (false, false) => base.clone(),
        });
    }
    let exponent = exponent.numer().to_i32().ok_or(CalcError::TooLarge)?;
    let bits = base.numer().bits().max(base.denom().bits());
    // Known to be too large before a single multiplication.
    if (bits - 1).saturating_mul(u64::from(exponent.unsigned_abs())) > MAX_BITS {
        return Err(CalcError::TooLarge);
    }
    Ok(Pow::pow(base, exponent))
}

fn factorial(value: &BigRational) -> Result<BigRational, CalcError> {
    if !value.is_integer() || value.is_negative() {
        return Err(CalcError::NeedsWhole("a factorial"));
    }
    match value.numer().to_u32() {
        Some(n) if n <= MAX_FACTORIAL => Ok(BigRational::from(
            (1..=n).fold(BigInt::one(), |product, factor| product * factor),
        )),
        _ => Err(CalcError::TooLarge),
    }
}

fn root(value: &BigRational) -> Result<BigRational, CalcError> {
    if value.is_negative() {
        return Err(CalcError::NotExact);
    }
    let (numer, denom) = (value.numer().sqrt(), value.denom().sqrt());
    if &numer * &numer != *value.numer() || &denom * &denom != *value.denom() {
        return Err(CalcError::NotExact);
    }
    Ok(BigRational::new(numer, denom))
}

fn bounded(value: BigRational) -> Result<BigRational, CalcError> {
    if value.numer().bits().max(value.denom().bits()) > MAX_BITS {
        return Err(CalcError::TooLarge);
    }
    Ok(value)
}

fn hundred() -> BigRational {
    BigRational::from(BigInt::from(100))
}
