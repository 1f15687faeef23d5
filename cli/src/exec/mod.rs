//! Any command-line program as an agent.
//!
//! A turn is one run of the program. The prompt's text is its standard input, which is
//! closed after it; the session is in the variable `PORTCULLIS_SESSION`. Images are left out.
//!
//! # What it prints
//!
//! Standard output is the answer, as it comes. A program may also print the events of a
//! turn, one JSON object a line. [`Output::Auto`] tells by the first line: when that is an
//! event, an object with a `type`, then every line has to be one; otherwise all is text.
//! Bytes that are no UTF-8 become U+FFFD; a character that is only half there waits for
//! its other half.
//!
//! Standard error goes to the log, at most [`MAX_LOGGED`] bytes a turn, and to the caller
//! only with [`Exec::show_stderr`] and only when the turn fails.
//!
//! # How a turn ends
//!
//! | the program | the turn |
//! | --- | --- |
//! | exits with 0 | `completed` |
//! | exits with anything else, or by a signal | `failed`, code `exec_failed`, and says which |
//! | prints `completed` | `completed`, once it has exited; a non-zero exit still fails |
//! | prints `failed` | that, at once |
//! | prints a line that is no event, or too much | `failed`, code `invalid_output` |
//! | cannot be started | `failed`, code `unavailable` |
//!
//! The program leads a process group of its own. When the turn ends, whatever ends it, the
//! whole group is killed with a signal that cannot be ignored. So what the program leaves in
//! the background does not outlive the turn, with one exception: a process that has made a
//! session or a group of its own (`setsid`, a daemon, a job of an interactive shell) is no
//! longer in it, and survives.

mod agent;
mod failure;
mod group;
mod limits;
mod output;
mod stderr;
mod utf8;

pub use self::{
    agent::{Exec, NotRunnable},
    failure::EXEC_FAILED,
    limits::{MAX_LINE, MAX_LOGGED, MAX_OUTPUT},
    output::Output,
};
