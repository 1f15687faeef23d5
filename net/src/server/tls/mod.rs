//! TLS for the server: a certificate and its key, in files that may be replaced at any time.

mod config;
mod error;
mod files;

pub use self::{config::Tls, error::TlsError};
