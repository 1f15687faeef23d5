use std::{any::Any, error::Error, fmt};

/// Somebody's code panicked. The text is for the log: it may name what no caller
/// should see.
#[derive(Debug)]
pub struct Panicked {
    message: Box<str>,
}

impl Panicked {
    /// From what [`std::panic::catch_unwind`] returned.
    #[must_use]
    pub fn new(panic: &(dyn Any + Send)) -> Self {
        let message = panic
            .downcast_ref::<&'static str>()
            .copied()
            .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
            .unwrap_or("with a value that is no text");
        Self {
            message: message.into(),
        }
    }
}

impl fmt::Display for Panicked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "panicked: {}", self.message)
    }
}

impl Error for Panicked {}
