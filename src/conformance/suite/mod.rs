//! The suites themselves. See the [module above](super).

mod agent;
mod compare;
mod consumer;
mod layer;
mod matrix;
mod options;
mod portable;
mod scenario;

pub use self::{
    agent::agent, consumer::consumer, layer::layer, matrix::matrix, options::LayerOptions,
    portable::portable,
};
