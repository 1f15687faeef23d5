//! Carries events of unknown type around a layer that would drop or break them.
//!
//! # When
//!
//! Around somebody else's layer that only knows the core events: with this it is a relay
//! that keeps MUST 5, without a change to it. Our own layers forward everything and need
//! it not.
//!
//! # Where
//!
//! Where that layer belongs.
//!
//! ```text
//!          known events          ╭───────────────╮
//!   ◄── Merge ◄───────────────── │ somebody's    │ ◄───────────────── Divert ◄── agent
//!         ▲                      │ layer         │                      │
//!         │                      ╰───────────────╯                      │
//!         ╰──────────── a slot, with place for one unknown event ◄──────╯
//! ```
//!
//! # The order
//!
//! Guaranteed:
//!
//! - Unknown events keep their order among themselves.
//! - None comes after a known event that followed it.
//! - None comes after the terminal event, and none is lost before it.
//!
//! The slot has place for one event, and until it is taken the agent is not asked for the
//! next. So memory is bounded, and nothing can overtake.
//!
//! Three limits:
//!
//! - An unknown event overtakes what the layer itself holds back: `a X1 X2 b c X3` through a
//!   layer that holds back two pieces comes out as `X1 X2 a b X3 c`.
//! - The layer does not know of it: an idle clock in there does not see it.
//! - The slot travels in the [`Scope`](portcullis::Scope). A layer that makes a scope of
//!   its own loses it; that ends the turn with `contract_violation`, since the
//!   events would vanish in silence.
//!
//! The layer has to be a layer of an agent; put [`catch`](crate::catch) around one that has errors, inside
//! of this. No box; one reference count and an entry in the scope a turn.
//!
//! # MUST 6
//!
//! Portable, if the layer is.
//!
//! # Examples
//!
//! ```
//! use std::convert::Infallible;
//! use futures_util::StreamExt;
//! use portcullis::{AgentEvent, AgentExt, Extension, Prompt, Scope, agent_fn};
//! use portcullis_layers::passthrough::PassthroughLayer;
//! use tower::{ServiceBuilder, util::MapResponseLayer};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let engine = agent_fn(async |_scope, _prompt: Prompt, out| {
//!     out.emit(AgentEvent::text("one")).await;
//!     let members = [("n", 1)].into_iter().collect::<std::collections::HashMap<_, _>>();
//!     out.emit(Extension::encode("progress", &members).expect("plain")).await;
//!     Ok(())
//! });
//! // Shouts, and drops whatever is no text.
//! let shout = tower::layer::layer_fn(|agent| {
//!     tower::util::MapResponse::new(agent, |events: portcullis_layers::passthrough::DivertStream<_>| {
//!         events.filter_map(async |event| match event {
//!             AgentEvent::Text(text) => Some(AgentEvent::text(text.delta().to_uppercase())),
//!             last if last.is_terminal() => Some(last),
//!             _ => None,
//!         })
//!     })
//! });
//! let agent = ServiceBuilder::new().layer(PassthroughLayer::new(shout)).service(engine);
//! let events: Vec<_> = agent.invoke(Scope::new("s"), Prompt::text("go")).collect().await;
//! let types: Vec<_> = events.iter().map(AgentEvent::type_name).collect();
//! assert_eq!(types, ["text", "progress", "completed"]);
//! # }
//! ```
//!
//! Around a whole stack of layers:
//!
//! ```
//! # use portcullis::{AgentExt, Prompt, agent_fn};
//! # use portcullis_layers::passthrough::PassthroughLayer;
//! use tower::ServiceBuilder;
//! use tower::layer::util::Identity;
//!
//! # let engine = agent_fn(async |_scope, _prompt: Prompt, _out| Ok(()));
//! let theirs = ServiceBuilder::new().layer(Identity::new()).layer(Identity::new()).into_inner();
//! let agent = ServiceBuilder::new().layer(PassthroughLayer::new(theirs)).service(engine).boxed();
//! # let _ = agent;
//! ```

mod divert;
mod layer;
mod merge;
mod slot;

pub use self::{
    divert::{Divert, DivertStream},
    layer::PassthroughLayer,
    merge::{Passthrough, PassthroughStream},
};
