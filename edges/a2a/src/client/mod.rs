//! Calling an agent that somebody else serves.
//!
//! A [`Client`] speaks JSON-RPC or HTTP+JSON, whichever the card prefers, or gRPC where that is asked for, over a [`Transport`], which is any `tower` service of HTTP
//! requests: a socket, a stack of layers over one, or the binding of a server in the same process,
//! which then makes the same checks as for a stranger.
//!
//! ```no_run
//! use portcullis_a2a::{client::{Cards, Choice, Transport}, model::SendMessageRequest};
//!
//! # async fn doc(http: impl Transport, request: SendMessageRequest) -> Result<(), Box<dyn std::error::Error>> {
//! let cards = Cards::new(http.clone()); // keeps them
//! let card = cards.fetch("http://127.0.0.1:8080").await?;
//! let client = card.client(http, &Choice::new())?;
//! let answer = client.send_message(&request).await?;
//! # Ok(())
//! # }
//! ```
//!
//! # In the same process
//!
//! ```
//! # #[cfg(feature = "jsonrpc")]
//! # mod doc {
//! use portcullis_a2a::{binding::JsonRpc, client::Client, server::Server};
//!
//! fn client(server: Server) -> Client<JsonRpc> {
//!     Client::new(JsonRpc::new(server), "http://in.process/".parse().expect("an address"))
//! }
//! # }
//! ```
//!
//! There is no socket, and no check less: version, extensions and owner are looked at as for any
//! request. Who calls is set by a layer in front, as for a served one.

mod backoff;
mod binding;
mod call;
mod connection;
mod course;
mod credentials;
mod discovery;
mod error;
mod events;
mod exchange;
mod frames;
#[cfg(feature = "grpc")]
mod grpc;
mod http_date;
mod interface;
mod json_rpc;
mod limits;
#[cfg(feature = "grpc")]
mod messages;
mod methods;
mod pages;
mod params;
mod request;
mod rest;
mod resume;
mod retry;
mod retry_after;
#[cfg(feature = "grpc")]
mod status_details;
mod transport;

pub use self::{
    binding::Binding,
    connection::Client,
    credentials::{
        ClientCredentials, Credential, Credentials, CredentialsLayer, Fetching, NoCredentials,
        NoToken, TokenSource, Wallet,
    },
    discovery::{Cards, Choice, Discovered, Reach, Unusable, fetch_card},
    error::CallError,
    events::{Event, EventStream},
    interface::NoInterface,
    limits::TooLong,
    pages::Pages,
    resume::{Resume, ResumedStream},
    retry::{Retries, Unsent},
    transport::Transport,
};

#[cfg(feature = "sign")]
#[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
pub use self::discovery::{Jwks, KeySource, LookingUp};

type BoxError = Box<dyn std::error::Error + Send + Sync>;
