//! Who runs the turns.
//!
//! Each turn has a tokio task of its own that reads the executor and writes the log. It
//! belongs to the [`Runs`] of the server, not to a caller: callers watch the log, and none
//! of them stops anything by leaving (A2A-OP-34, ruling 14).

mod registry;
mod repair;
mod run;
mod translate;

pub(super) use self::{
    registry::{Control, NotTaken, Recipient, Runs},
    repair::fail_at_log,
    run::{Opening, Opens, Turn},
};
