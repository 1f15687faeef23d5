use std::{error::Error, fmt, process::ExitCode};

/// Why the program could not do what it was asked, for a person.
#[derive(Debug)]
pub(crate) struct Complaint {
    what: String,
    code: u8,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl Complaint {
    /// The turn failed.
    pub(crate) fn failed(what: impl Into<String>) -> Self {
        Self::new(what, 1)
    }

    /// The arguments make no sense.
    pub(crate) fn usage(what: impl Into<String>) -> Self {
        Self::new(what, 2)
    }

    /// The server cannot be reached, or speaks something else.
    pub(crate) fn unreachable(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(what, 3).because(source)
    }

    /// The server is not there, or not any more, and that is all there is to say.
    pub(crate) fn no_server(what: impl Into<String>) -> Self {
        Self::new(what, 3)
    }

    /// There is nothing to serve.
    pub(crate) fn nothing_to_serve(
        what: impl Into<String>,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        Self::new(what, 4).because(source)
    }

    fn new(what: impl Into<String>, code: u8) -> Self {
        Self {
            what: what.into(),
            code,
            source: None,
        }
    }

    fn because(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The whole chain: this is where it ends, in front of a person.
impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        let mut cause = self
            .source
            .as_deref()
            .map(|source| source as &(dyn Error + 'static));
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}

impl Error for Complaint {}
