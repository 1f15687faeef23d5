use std::time::Duration;

use portcullis::Failure;

use crate::commit::blames_the_turn;

/// What an end says about the agent.
#[expect(clippy::exhaustive_enums, reason = "there is nothing else to say")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It works.
    Success,
    /// It does not.
    Failure,
    /// Nothing: the turn does not count.
    Neutral,
}

/// A turn that its caller has dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Dropped {
    /// Whether a visible event had come.
    pub answered: bool,
    /// How long after the turn was admitted.
    pub after: Duration,
}

/// A caller who has read a part has its own reasons. One who left before anything came may
/// have left since nothing came: but only after so long can it be told from one who
/// changed its mind.
const LONG: Duration = Duration::from_secs(30);

pub(super) fn of_failure(failure: &Failure) -> Outcome {
    if blames_the_turn(failure) {
        Outcome::Neutral
    } else {
        Outcome::Failure
    }
}

pub(super) fn of_drop(dropped: &Dropped) -> Outcome {
    if !dropped.answered && dropped.after >= LONG {
        Outcome::Failure
    } else {
        Outcome::Neutral
    }
}
