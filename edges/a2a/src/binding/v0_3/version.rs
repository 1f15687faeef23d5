use crate::{
    model::{Error, ErrorKind},
    server::ProtocolVersion,
};

/// Somebody asks for what only 1.0 has and says no version, or 0.3 (A2A-COMPAT-3). It is told in the
/// form of 1.0, which that somebody reads.
pub(in crate::binding) fn needs_version(what: &str) -> Error {
    let [old, new] = [ProtocolVersion::V0_3, ProtocolVersion::V1_0];
    let message = format!("Protocol version {old} has no {what}; it needs A2A-Version: {new}");
    Error::with_message(ErrorKind::VersionNotSupported, message)
        .with("requestedVersion", old.as_str())
        .with("supportedVersions", format!("{new},{old}"))
}
