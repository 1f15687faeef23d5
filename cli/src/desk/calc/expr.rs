use num_rational::BigRational;

/// A sum that was read and not yet worked out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Expr {
    Number(BigRational),
    /// "that": the last result of the session.
    That,
    Negate(Box<Self>),
    /// `8%` is 8/100, and after plus or minus that share of what stands before.
    Percent(Box<Self>),
    Factorial(Box<Self>),
    Root(Box<Self>),
    Binary(Operator, Box<Self>, Box<Self>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Expr {
    pub(crate) fn binary(operator: Operator, left: Self, right: Self) -> Self {
        Self::Binary(operator, Box::new(left), Box::new(right))
    }

    /// Whether the sum goes on from an earlier result.
    pub(crate) fn refers(&self) -> bool {
        match self {
            Self::That => true,
            Self::Number(_) => false,
            Self::Negate(inner)
            | Self::Percent(inner)
            | Self::Factorial(inner)
            | Self::Root(inner) => inner.refers(),
            Self::Binary(_, left, right) => left.refers() || right.refers(),
        }
    }

    /// Whether it is a bare number, which asks nothing.
    pub(crate) const fn is_number(&self) -> bool {
        matches!(self, Self::Number(_))
    }
}

/// How many percent of the whole a part is.
pub(crate) fn share(part: Expr, whole: Expr) -> Expr {
    let hundred = Expr::Number(BigRational::from(num_bigint::BigInt::from(100)));
    Expr::binary(Operator::Multiply, Expr::binary(Operator::Divide, part, whole), hundred)
}
