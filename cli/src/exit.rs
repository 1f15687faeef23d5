//! The exit codes of shells for what ends a program from outside.

/// `SIGINT`
pub(crate) const INTERRUPTED: u8 = 130;
/// `SIGPIPE`
pub(crate) const READER_GONE: u8 = 141;
