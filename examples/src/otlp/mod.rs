//! Spans of turns to a collector that speaks OTLP.
//!
//! The layers know no type of OpenTelemetry: its crates break several times a year, and a library
//! that names them breaks with them. What joins the two is here, for programs to copy:
//! [`bridge`], a hook for `TraceLayer::on_span`, and [`Exporter`], a client for the exporter over
//! this project's own, so that no second HTTP stack is built.

mod bridge;
mod client;
mod exporter;

pub use self::{bridge::bridge, exporter::Exporter};
