//! What each operation does once it is checked.

mod cancel;
mod get;
mod list;
mod push;
mod send;
mod subscribe;

pub(super) use self::{
    push::Inline,
    send::{Begins, Continued},
};
