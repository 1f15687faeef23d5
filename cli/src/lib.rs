//! The parts of the program `portcullis`: the agents that it puts behind the gate, and
//! what it does with them.

mod args;
mod call;
mod card;
mod complaint;
mod demo;
pub mod desk;
mod edges;
pub mod exec;
mod exit;
mod gate;
mod guard;
mod key;
mod log;
mod plain;
mod program;
mod proxies;
mod serve;
mod stop;
mod tasks;
mod upstream;
mod webhooks;

pub use self::program::run;
