//! gRPC: the service `lf.a2a.v1.A2AService`, one call for each operation.

mod deadline;
mod events;
mod methods;
mod service;

pub use self::service::Grpc;
