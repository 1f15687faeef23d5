//! Version 0.3, translated where it comes in and where it goes out; in between everything is 1.0
//! (A2A-COMPAT-5).

mod caller;
mod frames;
mod perform;
mod reply;
mod version;

pub(super) use self::{
    caller::{activated, caller},
    frames::Frames,
    perform::{Answered, perform},
    reply::Answer,
    version::needs_version,
};
