//! The parts of the program `portcullis`: the agents that it puts behind the gate, and
//! what prints.

pub mod desk;
pub mod exec;
