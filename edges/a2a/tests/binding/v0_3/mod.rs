//! Clients of version 0.3.

mod card;
mod errors;
mod json_rpc;
mod parts;
mod rest;
mod rig;
mod versions;
