use super::Caller;
use crate::model::{Error, ErrorKind};

/// The version that is spoken here.
const SUPPORTED: &str = "1.0";

/// Refuses a caller that speaks another version (A2A-SVC-6..9).
pub(super) fn check(caller: &Caller) -> Result<(), Error> {
    let said = caller.version().unwrap_or_default().trim();
    if said.is_empty() {
        let message = "Protocol version 0.3 is not supported (no A2A-Version header was sent)";
        return Err(refusal(message.to_owned(), "0.3"));
    }
    if is_supported(said) {
        return Ok(());
    }
    // A version is a few characters; more is not worth an echo.
    let shown: String = said.chars().filter(|c| !c.is_control()).take(32).collect();
    let message = format!("Protocol version {shown} is not supported");
    Err(refusal(message, &shown))
}

fn refusal(message: String, requested: &str) -> Error {
    Error::with_message(ErrorKind::VersionNotSupported, message)
        .with("requestedVersion", requested)
        .with("supportedVersions", SUPPORTED)
}

/// `1.0`, and `1.0.x` since patch numbers do not matter (A2A-SVC-2).
pub(super) fn is_supported(version: &str) -> bool {
    let mut numbers = version.split('.');
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    numbers.next() == Some("1")
        && numbers.next() == Some("0")
        && numbers.clone().count() <= 1
        && numbers.all(is_number)
}
