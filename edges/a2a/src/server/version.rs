use std::fmt;

use super::Caller;
use crate::model::{Error, ErrorKind};

/// A version of the protocol, without the patch number, which does not matter (A2A-SVC-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProtocolVersion {
    /// 0.3, which bindings speak with feature `v0_3` where the card says so.
    V0_3,
    /// 1.0
    V1_0,
}

impl ProtocolVersion {
    /// As cards and headers have it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V0_3 => "0.3",
            Self::V1_0 => "1.0",
        }
    }

    /// The version of a header or of an interface of a card (A2A-SVC-8).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        let mut numbers = text.trim().split('.');
        let version = match (numbers.next()?, numbers.next()?) {
            ("0", "3") => Self::V0_3,
            ("1", "0") => Self::V1_0,
            _ => return None,
        };
        (numbers.clone().count() <= 1 && numbers.all(is_number)).then_some(version)
    }
}

impl fmt::Display for ProtocolVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The versions that a binding can speak as this crate is built, newest first.
pub(crate) fn built(binding: &str) -> &'static [ProtocolVersion] {
    use ProtocolVersion::{V0_3, V1_0};

    if cfg!(feature = "v0_3") && matches!(binding, "JSONRPC" | "HTTP+JSON") {
        &[V1_0, V0_3]
    } else {
        &[V1_0]
    }
}

/// The version that a caller speaks, of those that are spoken here. Who says nothing speaks
/// `missing` (A2A-SVC-6..9).
pub(super) fn judge(
    caller: &Caller,
    missing: ProtocolVersion,
    spoken: &[ProtocolVersion],
) -> Result<ProtocolVersion, Error> {
    let said = caller.version().unwrap_or_default().trim();
    let version = if said.is_empty() {
        Some(missing)
    } else {
        ProtocolVersion::parse(said)
    };
    if let Some(version) = version
        && spoken.contains(&version)
    {
        return Ok(version);
    }
    let (requested, message) = if said.is_empty() {
        let message =
            format!("Protocol version {missing} is not supported (no A2A-Version header was sent)");
        (missing.as_str().to_owned(), message)
    } else {
        // A version is a few characters; more is not worth an echo.
        let shown: String = said.chars().filter(|c| !c.is_control()).take(32).collect();
        let message = format!("Protocol version {shown} is not supported");
        (shown, message)
    };
    let supported: Vec<_> = spoken.iter().map(|version| version.as_str()).collect();
    Err(refusal(message, &requested, &supported.join(",")))
}

fn refusal(message: String, requested: &str, supported: &str) -> Error {
    Error::with_message(ErrorKind::VersionNotSupported, message)
        .with("requestedVersion", requested)
        .with("supportedVersions", supported)
}
