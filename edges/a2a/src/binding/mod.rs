//! Bindings of the operations to wires.
//!
//! A binding decodes, calls and encodes; every check that is the same on all wires sits in the
//! server. `JsonRpc` is JSON-RPC 2.0 over HTTP with event streams, `Rest` is HTTP+JSON, `Grpc` is
//! gRPC, and each serves the card. `OnePort` puts them side by side, and `Agents` several agents:
//!
//! ```
//! # #[cfg(all(feature = "jsonrpc", feature = "rest"))]
//! # mod doc {
//! use portcullis_a2a::{
//!     binding::{JsonRpc, OnePort, Rest},
//!     server::Server,
//! };
//!
//! fn app(server: Server) -> OnePort {
//!     OnePort::new(server)
//! }
//!
//! fn apart(server: Server) -> (JsonRpc, Rest) {
//!     (JsonRpc::new(server.clone()).path("/agent"), Rest::new(server).path("/v1"))
//! }
//! # }
//! ```
//!
//! Each is a `tower` service of HTTP requests with any body, so it mounts in axum
//! (`Router::fallback_service`), hyper (`TowerToHyperService`) and tonic
//! (`Routes::from(router)`) alike; `examples/src/bin` has one program for each. axum takes the
//! prefix of `nest_service` away, so there a binding stays at the root; with `fallback_service` and
//! `route_service` it has the whole path, which `path` and `Layout::below` tell it.
//!
//! # The routes of HTTP+JSON
//!
//! | operation | route, below the interface |
//! |---|---|
//! | `SendMessage`, `SendStreamingMessage` | `POST /message:send`, `POST /message:stream` |
//! | `GetTask`, `ListTasks` | `GET /tasks/{id}`, `GET /tasks` |
//! | `CancelTask` | `POST /tasks/{id}:cancel` |
//! | `SubscribeToTask` | `POST` or `GET /tasks/{id}:subscribe` |
//! | webhooks | `POST` and `GET /tasks/{id}/pushNotificationConfigs`, `GET` and `DELETE` below it |
//! | `GetExtendedAgentCard` | `GET /extendedAgentCard` |
//!
//! Each exists a second time with a tenant before it: `GET /acme/tasks`. A body that says another id
//! or tenant than the address is refused; one may be empty where the address says it all.
//!
//! # Version 0.3
//!
//! With feature `v0_3`, a binding in JSON speaks the version 0.3 too where the card names an interface of
//! it (`Layout::with_v0_3`). A request without `A2A-Version` is one of 0.3, so both share an address:
//!
//! | `A2A-Version` | an old method, or a path below `/v1` | a method or path of 1.0 |
//! |---|---|---|
//! | missing, empty, `0.3` | version 0.3 | refused, with the version that it needs |
//! | `1.0` | no such method; a tenant called `v1` | version 1.0 |
//! | another one | refused | refused |
//!
//! It is translated where it comes in and where it goes out; what is between knows 1.0 only. The card
//! has both versions in one document for whoever does not say that it speaks 1.0, and lies at
//! `/.well-known/agent.json` as well. Signatures are for those who say so: others read a document that
//! has more members than were signed.
//!
//! # gRPC
//!
//! With feature `grpc`, a request whose `Content-Type` is `application/grpc` goes to the service
//! `lf.a2a.v1.A2AService`. Version and extensions are metadata; a refusal is a status with the
//! reason in its details, before a stream and at the end of one. Its host has to speak HTTP/2: with
//! TLS, or without where the client knows in advance.
//!
//! Numbers of metadata and data are 64-bit floats there and integers beyond 2^53 are rounded, an
//! empty metadata object is absent, members are sorted by name, and peers follow about 30 levels
//! of nesting. The other bindings have no such limits: nothing of theirs goes through protobuf.
//!
//! # Who calls
//!
//! A layer in front authenticates and puts a [`Principal`](portcullis::Principal) into the
//! extensions of the request. Nothing in a body or another header makes one. A
//! [`Peer`](portcullis::Peer) there goes into the scope of the turn, so that a limit can tell callers
//! apart whom nobody knows; whoever serves knows the address, and which proxies to believe.

#[cfg(all(feature = "jsonrpc", feature = "rest"))]
mod agents;
#[cfg(feature = "grpc")]
mod grpc;
#[cfg_attr(
    not(any(feature = "jsonrpc", feature = "rest")),
    expect(
        dead_code,
        unused_imports,
        unused_macros,
        reason = "much of it is for the bindings in JSON"
    )
)]
mod http;
#[cfg(feature = "jsonrpc")]
mod json_rpc;
#[cfg(all(feature = "jsonrpc", feature = "rest"))]
mod layout;
#[cfg(all(feature = "jsonrpc", feature = "rest"))]
mod one_port;
#[cfg(feature = "rest")]
mod rest;
#[cfg(feature = "v0_3")]
mod v0_3;

#[cfg(feature = "grpc")]
#[cfg_attr(docsrs, doc(cfg(feature = "grpc")))]
pub use self::grpc::Grpc;
pub use self::http::{ResponseBody, ResponseFuture};
#[cfg(feature = "jsonrpc")]
#[cfg_attr(docsrs, doc(cfg(feature = "jsonrpc")))]
pub use self::json_rpc::JsonRpc;
#[cfg(feature = "rest")]
#[cfg_attr(docsrs, doc(cfg(feature = "rest")))]
pub use self::rest::Rest;
#[cfg(all(feature = "jsonrpc", feature = "rest"))]
#[cfg_attr(docsrs, doc(cfg(all(feature = "jsonrpc", feature = "rest"))))]
pub use self::{agents::Agents, layout::Layout, one_port::OnePort};
