//! An agent that somebody else serves, as an agent.
//!
//! A [`RemoteAgent`] is a `Service<(Scope, Prompt)>` over a [`Client`](crate::client::Client): it goes
//! wherever an agent goes, behind layers, behind a server, into a balance.
//!
//! # Between two ends of this crate
//!
//! It asks for the [extension](EVENTS_EXTENSION) that every `Server::agent` declares. Then every event
//! arrives as it was sent, those that nobody knows token for token, in order, over each binding.
//! Pieces of text may be joined; that is all. Failures keep code, `retryable` and `retry_after`.
//! Deadline, output schema and constraints of the scope go with the request, as does the
//! [trace](portcullis::TraceContext).
//!
//! # With any other server
//!
//! | it says | the turn has |
//! |---|---|
//! | text of an artifact or of a status | `text`; another artifact or status begins on a line of its own |
//! | a data part | the data of `completed`; of several the last one, the others as `artifact` |
//! | a file | `artifact` |
//! | COMPLETED, a message as the answer | `completed` |
//! | INPUT_REQUIRED | `input_required`, `completed` |
//! | AUTH_REQUIRED | `auth_required`, and `completed` if the stream ends there |
//! | FAILED, REJECTED | `failed` |
//! | CANCELED | `failed{aborted}` |
//! | an error that says to come again later | `failed`, retryable |
//!
//! # Conversations
//!
//! The turns of one session are one context of the server: the first says no context id, and what
//! the server answers is kept in a [`Contexts`], by the session. A turn that ended with a question
//! leaves a task that waits; the next turn of the session goes to it. Two turns of a session at
//! once, the first ones, make two contexts, of which one is kept: a session layer in front lets
//! them wait for each other.
//!
//! Beside the prompt a turn may send [`Attachments`]: files and data. Behind a server of this crate the
//! parts that came with the request go on, as they came.
//!
//! # Cancellation
//!
//! Dropping the turn closes the connection, and asks the server to cancel the task, or leaves it
//! ([`OnDrop`]). The asking takes a while and `drop` does not wait: it is done by one task, which the
//! agent and its clones own. If the server has not yet said which task it is, that is waited
//! for first. All this is bounded, in time and in number; whoever ends the program calls
//! [`RemoteAgent::settle`] before. What is under way when the last clone is dropped is given up.
//!
//! A turn also ends at the deadline of its scope, as `failed{timeout}`, and its task is cancelled.
//!
//! # Examples
//!
//! ```no_run
//! use portcullis::{AgentExt, Prompt, Scope, collect};
//! use portcullis_a2a::{client::{Client, Transport, fetch_card}, remote::RemoteAgent};
//!
//! # async fn doc(http: impl Transport) -> Result<(), Box<dyn std::error::Error>> {
//! let card = fetch_card(&http, "http://127.0.0.1:8080").await?;
//! let agent = RemoteAgent::new(Client::of_card(http, &card)?);
//! let answer = collect(agent.invoke(Scope::new("session-1"), Prompt::text("hello"))).await?;
//! println!("{}", answer.text);
//! agent.settle().await;
//! # Ok(())
//! # }
//! ```

mod agent;
mod call;
mod cleanup;
mod contexts;
mod failure;
mod incoming;
mod outgoing;
mod progress;

pub use self::{
    agent::{OnDrop, RemoteAgent, RemoteStream},
    contexts::{Context, ContextReply, Contexts, MemoryContexts},
    outgoing::Attachments,
};
pub use crate::agent_events::EVENTS_EXTENSION;
