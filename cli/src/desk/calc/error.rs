use std::{error::Error, fmt};

/// Why a sum has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub(crate) enum CalcError {
    /// A word that is no part of a sum: perhaps this is no sum at all.
    Word(String),
    /// The sum breaks off.
    Incomplete,
    /// Something stands where it cannot.
    Unexpected(String),
    /// "that", and nothing came before.
    NothingBefore,
    DivisionByZero,
    /// More parentheses than anybody writes.
    TooDeep,
    /// The result would have more digits than it is allowed.
    TooLarge,
    /// An operation that needs whole numbers got something else.
    NeedsWhole(&'static str),
    /// A root that is no fraction.
    NotExact,
}

impl fmt::Display for CalcError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(word) => write!(f, "\"{word}\" is no part of a sum"),
            Self::Incomplete => f.write_str("the sum breaks off"),
            Self::Unexpected(what) => write!(f, "\"{what}\" is out of place"),
            Self::NothingBefore => f.write_str("there is no earlier result to go on from"),
            Self::DivisionByZero => f.write_str("division by zero"),
            Self::TooDeep => f.write_str("the sum nests too deeply"),
            Self::TooLarge => f.write_str("the result has too many digits"),
            Self::NeedsWhole(what) => write!(f, "{what} needs whole numbers"),
            Self::NotExact => {
                f.write_str("that root is not a fraction, and I only calculate exactly")
            }
        }
    }
}

impl Error for CalcError {}
