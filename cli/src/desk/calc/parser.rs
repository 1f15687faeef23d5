use super::{
    CalcError, Expr,
    expr::Operator,
    lexer::{Token, tokens},
};
use num_bigint::BigInt;
use num_rational::BigRational;

/// How deep a sum may nest: parentheses, signs, powers of powers.
const MAX_DEPTH: usize = 64;

/// Reads a sum. One that begins with an operator word ("times 12") goes on from the
/// last result.
pub(crate) fn parse(text: &str) -> Result<Expr, CalcError> {
    let mut tokens = tokens(text)?;
    match tokens.first() {
        Some(
            Token::Plus
            | Token::Times
            | Token::Divide
            | Token::Power
            | Token::Squared
            | Token::Cubed
            | Token::Remainder,
        ) => tokens.insert(0, Token::That),
        // "-5" is a number, "minus 5" goes on.
        Some(Token::Minus) if text.trim_start().starts_with(char::is_alphabetic) => {
            tokens.insert(0, Token::That);
        }
        Some(_) => {}
        None => return Err(CalcError::Incomplete),
    }
    let mut parser = Parser {
        tokens: &tokens,
        at: 0,
        depth: 0,
    };
    let expr = parser.sum()?;
    match parser.peek() {
        None => Ok(expr),
        Some(token) => Err(CalcError::Unexpected(name(token))),
    }
}

struct Parser<'a> {
    tokens: &'a [Token],
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn sum(&mut self) -> Result<Expr, CalcError> {
        let mut left = self.product()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Plus) => Operator::Add,
                Some(Token::Minus) => Operator::Subtract,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.product()?;
            left = Expr::binary(operator, left, right);
        }
    }

    fn product(&mut self) -> Result<Expr, CalcError> {
        let mut left = self.signed()?;
        loop {
            let operator = match self.peek() {
                Some(Token::Times | Token::Of) => Operator::Multiply,
                Some(Token::Divide) => Operator::Divide,
                Some(Token::Remainder) => Operator::Remainder,
                _ => return Ok(left),
            };
            self.at += 1;
            let right = self.signed()?;
            left = Expr::binary(operator, left, right);
        }
    }

    fn signed(&mut self) -> Result<Expr, CalcError> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(CalcError::TooDeep);
        }
        let expr = match self.peek() {
            Some(Token::Minus) => {
                self.at += 1;
                Expr::Negate(Box::new(self.signed()?))
            }
            Some(Token::Plus) => {
                self.at += 1;
                self.signed()?
            }
            Some(Token::Root) => {
                self.at += 1;
                Expr::Root(Box::new(self.signed()?))
            }
            Some(Token::Share(share)) => {
                let share = Expr::Number(share.clone());
                self.at += 1;
                Expr::binary(Operator::Multiply, share, self.signed()?)
            }
            _ => self.power()?,
        };
        self.depth -= 1;
        Ok(expr)
    }

    fn power(&mut self) -> Result<Expr, CalcError> {
        let base = self.postfix()?;
        if self.peek() != Some(&Token::Power) {
            return Ok(base);
        }
        self.at += 1;
        // To the right: 2^3^2 is 2^9.
        Ok(Expr::binary(Operator::Power, base, self.signed()?))
    }

    fn postfix(&mut self) -> Result<Expr, CalcError> {
        let mut expr = self.primary()?;
        let start = self.at;
        loop {
            if self.at - start > MAX_DEPTH {
                return Err(CalcError::TooDeep);
            }
            expr = match self.peek() {
                Some(Token::Bang) => Expr::Factorial(Box::new(expr)),
                Some(Token::Percent) => Expr::Percent(Box::new(expr)),
                Some(Token::Squared) => Expr::binary(Operator::Power, expr, number(2)),
                Some(Token::Cubed) => Expr::binary(Operator::Power, expr, number(3)),
                _ => return Ok(expr),
            };
            self.at += 1;
        }
    }

    fn primary(&mut self) -> Result<Expr, CalcError> {
        let token = self.peek().ok_or(CalcError::Incomplete)?.clone();
        self.at += 1;
        match token {
            Token::Number(value) => Ok(Expr::Number(value)),
            Token::That => Ok(Expr::That),
            Token::Open => {
                let expr = self.sum()?;
                match self.peek() {
                    Some(Token::Close) => {
                        self.at += 1;
                        Ok(expr)
                    }
                    Some(other) => Err(CalcError::Unexpected(name(other))),
                    None => Err(CalcError::Incomplete),
                }
            }
            other => Err(CalcError::Unexpected(name(&other))),
        }
    }
}

fn number(value: u8) -> Expr {
    Expr::Number(BigRational::from(BigInt::from(value)))
}

fn name(token: &Token) -> String {
    let name = match token {
        Token::Number(value) => return super::decimal(value).exact,
        Token::That => "that",
        Token::Plus => "+",
        Token::Minus => "-",
        Token::Times => "*",
        Token::Divide => "/",
        Token::Remainder => "mod",
        Token::Power => "^",
        Token::Percent => "%",
        Token::Of => "of",
        Token::Bang => "!",
        Token::Open => "(",
        Token::Close => ")",
        Token::Squared => "squared",
        Token::Cubed => "cubed",
        Token::Root => "root",
        Token::Share(_) => "half",
    };
    name.to_owned()
}
