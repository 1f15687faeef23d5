//! The contract itself over HTTP: a turn is a `POST`, its events are the response.
//!
//! | feature | what it adds |
//! |---|---|
//! | `server` | [`server::TurnService`]: an agent as a `tower::Service` of HTTP requests |
//! | `client` | [`client::HttpAgent`]: such a service, of this or another process, as an agent |
//! | `full` | all of them |
//!
//! Unlike A2A it has no tasks and no translation: what an agent emits is what a caller reads, token by
//! token (`docs/rules.md`, "Lossless"), and a caller that goes away cancels the turn.
//!
//! # On the wire
//!
//! ```text
//! POST /v1/turns                                 200 OK
//! content-type: application/json                 content-type: text/event-stream
//! accept: text/event-stream
//!                                                id: 1
//! {"scope": {"session": "s-1"},                  data: {"type":"text","delta":"It will rain."}
//!  "prompt": {"text": "Paris?"}}
//!                                                id: 2
//!                                                data: {"type":"completed"}
//! ```
//!
//! | | |
//! |---|---|
//! | the body | a wire scope and a prompt, as [`portcullis::Scope::from_json`] and [`portcullis::Prompt::from_json`] have them; other members mean nothing |
//! | `accept: text/event-stream` | server-sent events: `id` counts the events from 1, `data` is the event. Also what a caller without a wish gets |
//! | `accept: application/x-ndjson` or `application/jsonl` | the event, and a line feed |
//! | silence | a comment, or an empty line among JSON lines |
//! | the end | the body ends after `completed` or `failed`, and only then. A body that ends before was cut |
//! | a turn that is refused | a status of its own and problem details (RFC 9457), whose member `event` is the `failed` event; `retry-after` where the failure says so |
//! | the caller goes away | the turn is cancelled; or it goes on for a while, where server and caller want that |
//! | `traceparent`, `tracestate` | go into the scope, as a [`portcullis::TraceContext`] |
//!
//! What comes before the first event decides the status, for as long as a caller may be left without one:
//!
//! | the first event is `failed` with | status |
//! |---|---|
//! | `invalid_prompt` | 422 |
//! | `unauthenticated`, `permission_denied` | 401, 403 |
//! | `budget_exceeded` | 402 |
//! | `session_busy`, `aborted` | 409 |
//! | `rate_limited` | 429 |
//! | `overloaded`, `unavailable` | 503 |
//! | `timeout` | 504 |
//! | `invalid_output`, `contract_violation` | 502 |
//! | `internal` | 500 |
//! | any other code, or none | 200: that is the agent's answer |
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "client")]
#[cfg_attr(docsrs, doc(cfg(feature = "client")))]
pub mod client;
#[cfg(feature = "server")]
#[cfg_attr(docsrs, doc(cfg(feature = "server")))]
pub mod server;

#[cfg(any(feature = "client", feature = "server"))]
mod wire;
