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
    Expr::binary(
        Operator::Multiply,
        Expr::binary(Operator::Divide, part, whole),
        hundred,
    )
}

impl Expr {
    /// The sum as it is worked out: "that" by its value.
    pub(crate) fn written(&self, that: Option<&BigRational>) -> String {
        match self {
            Self::Number(value) => super::decimal(value).exact,
            Self::That => that.map_or_else(|| "that".to_owned(), |that| super::decimal(that).exact),
            Self::Negate(inner) => format!("-{}", inner.inside(that)),
            Self::Percent(inner) => format!("{}%", inner.inside(that)),
            Self::Factorial(inner) => format!("{}!", inner.inside(that)),
            Self::Root(inner) => format!("sqrt({})", inner.written(that)),
            Self::Binary(operator, left, right) => {
                format!(
                    "{} {} {}",
                    left.inside(that),
                    operator.sign(),
                    right.inside(that)
                )
            }
        }
    }

    fn inside(&self, that: Option<&BigRational>) -> String {
        let written = self.written(that);
        let bare = matches!(
            self,
            Self::Number(_) | Self::That | Self::Percent(_) | Self::Root(_)
        );
        // A fraction or a negative number is a sum of its own.
        if bare && !written.contains(['/', '-']) {
            written
        } else {
            format!("({written})")
        }
    }
}

impl Operator {
    const fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "mod",
            Self::Power => "^",
        }
    }
}
