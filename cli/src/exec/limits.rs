/// The longest line of events, in bytes.
pub const MAX_LINE: usize = 1 << 20;
/// What a program may print in a turn, in bytes.
pub const MAX_OUTPUT: u64 = 64 << 20;
/// What of a turn's standard error goes to the log, in bytes.
pub const MAX_LOGGED: usize = 64 << 10;
/// What of standard error a failure shows.
pub(super) const MAX_SHOWN: usize = 2 << 10;
