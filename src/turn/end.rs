use crate::Failure;

/// How a turn ended, as one layer saw it.
#[expect(
    clippy::exhaustive_enums,
    reason = "a turn has these five ends and no other"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End<'a> {
    /// `completed` was delivered.
    Completed,
    /// `failed` was delivered; also where this layer cut the turn.
    Failed(&'a Failure),
    /// The caller dropped the turn before its terminal event.
    Cancelled,
    /// The stream below ended without a terminal event: a breach of MUST 1.
    Truncated,
    /// Something below, or this layer, panicked.
    Panicked,
}
