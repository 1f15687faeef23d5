//! Layers for agents that are tower services: limits, time-outs, budgets, retries, tracing.
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "budget")]
pub mod budget;
#[cfg(feature = "catch")]
pub mod catch;
#[cfg(feature = "concurrency")]
pub mod concurrency;
#[cfg(feature = "conform")]
pub mod conform;
#[cfg(feature = "raise")]
pub mod raise;
#[cfg(feature = "settle")]
mod settle;
#[cfg(feature = "stock")]
pub mod stock;
#[cfg(feature = "timeout")]
pub mod timeout;
#[cfg(feature = "trace")]
pub mod trace;
