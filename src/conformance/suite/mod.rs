//! The suites themselves. See the [module above](super).

mod agent;
mod compare;
mod consumer;
mod drops;
mod layer;
mod matrix;
mod neighbours;
mod options;
mod portable;
mod reads;
mod scenario;
mod spending;
mod stack;

pub use self::{
    agent::agent, consumer::consumer, layer::layer, matrix::matrix, options::LayerOptions,
    portable::portable,
};
