//! Who runs the turns.
//!
//! Each turn has a tokio task of its own that reads the executor and writes the log. It
//! belongs to the [`Runs`] of the server, not to a caller: callers watch the log, and none
//! of them stops anything by leaving (A2A-OP-34, ruling 14).

mod append;
mod judge;
mod listen;
mod over;
mod registry;
mod repair;
mod resume;
mod run;
mod signs;
mod take;
mod translate;
mod turn;

use self::signs::Signs;
pub(super) use self::{
    registry::{Control, NotTaken, Recipient, Runs},
    repair::fail_at_log,
    turn::{Opening, Opens, Resumption, Turn},
};
