//! A2A 1.0 for agents that are tower services: model, server, client, bindings.
//!
//! | feature | what it adds |
//! |---|---|
//! | (always) | [`model`]: the data model and its JSON form |
//! | `server` | [`server`] and [`log`]: operations, runner, task log; knows no HTTP |
//! | `jsonrpc` | [`binding`]: the JSON-RPC binding as a `tower::Service` of HTTP requests |
//! | `rest` | [`binding`]: the HTTP+JSON binding, likewise |
//! | `grpc` | [`binding`]: the gRPC binding, likewise, and what [`client`] needs for it |
//! | `v0_3` | [`binding`]: version 0.3 on the two bindings in JSON, where the card names it |
//! | `client` | [`client`]: calling an agent that somebody else serves |
//! | `remote` | [`remote`]: an agent that somebody else serves, as an agent |
//! | `push` | [`server::push::HttpDelivery`]: webhooks through any HTTP client that is a service |
//! | `sign` | [`signing`]: signatures over cards, made and verified |
//! | `testing` | the contract suites of the ports |
//! | `full` | all of them |
//!
//! To serve an agent, see [`server::Server`] and [`binding::OnePort`]; to call one,
//! [`client::Client`], or [`remote::RemoteAgent`] to use it as any agent. Tasks live in memory, or in a file with `portcullis-sqlite` and
//! [`ServerBuilder::log`](server::ServerBuilder::log).
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod model;

#[cfg(any(feature = "jsonrpc", feature = "rest", feature = "grpc"))]
#[cfg_attr(
    docsrs,
    doc(cfg(any(feature = "jsonrpc", feature = "rest", feature = "grpc")))
)]
pub mod binding;
#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod client;
#[cfg(any(feature = "server", feature = "client"))]
#[cfg_attr(docsrs, doc(cfg(any(feature = "server", feature = "client"))))]
pub mod log;
#[cfg(feature = "remote")]
#[cfg_attr(docsrs, doc(cfg(feature = "remote")))]
pub mod remote;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub mod server;
#[cfg(feature = "sign")]
#[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
pub mod signing;

#[cfg(any(feature = "server", feature = "remote"))]
mod agent_events;
#[cfg(feature = "grpc")]
mod proto;
#[cfg(any(
    feature = "jsonrpc",
    feature = "rest",
    feature = "grpc",
    feature = "client"
))]
mod wire;
