//! A layer that is there or is not, as a configuration says.
//!
//! # When
//!
//! Where a stack is built from settings. tower's `option_layer` does not fit: it wants the
//! same stream with the layer and without.
//!
//! No box: one comparison an event.
//!
//! # MUST 6
//!
//! Portable, if the layer is.
//!
//! # Examples
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! use portcullis_layers::optional::OptionalLayer;
//! use tower::{ServiceBuilder, layer::util::Identity};
//!
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let layer: Option<Identity> = None;
//! let agent = ServiceBuilder::new().layer(OptionalLayer::new(layer)).service(engine).boxed();
//! # let _ = agent;
//! ```

mod layer;
mod service;
mod stream;

pub use self::{layer::OptionalLayer, service::Optional, stream::OptionalStream};
