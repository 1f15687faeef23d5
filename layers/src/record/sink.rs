use std::{error::Error, fmt};

/// Where lines go. Also implemented by closures.
pub trait LineSink: Send + Sync + 'static {
    /// Takes one line, without its line break. It runs while the turn is polled, and inside `drop`: it must not block
    /// and must not panic.
    ///
    /// # Errors
    ///
    /// When it has no room or is broken: the line is lost.
    fn line(&self, line: &[u8]) -> Result<(), Refused>;
}

impl<F> LineSink for F
where
    F: Fn(&[u8]) -> Result<(), Refused> + Send + Sync + 'static,
{
    fn line(&self, line: &[u8]) -> Result<(), Refused> {
        self(line)
    }
}

/// A line that was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refused(&'static str);

impl Refused {
    /// There is no room.
    pub const FULL: Self = Self("there is no room for another line");
    /// Nothing is written any more.
    pub const BROKEN: Self = Self("nothing can be written any more");
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl Error for Refused {}
