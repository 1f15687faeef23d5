//! The session control plane in memory, for tests of what takes one.

mod fake;
mod observer;
mod session;
mod turn;

pub use self::{fake::FakeSessionControl, turn::FakeTurn};
