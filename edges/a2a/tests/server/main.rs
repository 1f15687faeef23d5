//! The operations, without any wire.
#![cfg(feature = "server")]

mod agent;
mod answers;
mod failure_table;
mod goldens;
mod isolation;
mod life_cycle;
mod log_faults;
mod reducer;
mod references;
mod refusals;
mod sessions;
mod state_machine;
mod support;
