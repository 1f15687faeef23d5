//! In front of a service of HTTP requests.

mod body;
mod challenge;
mod future;
mod layer;
mod presented;
mod refusal;
mod service;
mod settings;

pub use self::{
    body::HttpAuthBody, challenge::Challenge, future::HttpAuthFuture, layer::HttpAuthLayer,
    refusal::Refusal, service::HttpAuth,
};
