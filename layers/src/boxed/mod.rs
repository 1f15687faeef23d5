//! One type for everything below: a [`BoxAgent`](portcullis::BoxAgent).
//!
//! # When
//!
//! Around a tall stack. Its type holds the types of all layers, and the compiler gives up on a future that holds
//! twenty of them ("queries overflow the depth limit"); long before that, errors become hard to read and builds
//! slow. It costs two boxes a turn, and one call through a table an event.
//!
//! # Where
//!
//! Outermost; or in the middle, where turns become runs, to name the type of the lower half.
//!
//! # MUST 6
//!
//! Portable: nothing is kept.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentEvent, AgentExt, BoxAgent, Prompt, Scope, agent_fn, collect};
//! use portcullis_layers::{ServiceBuilderExt, boxed::BoxedLayer};
//! use tower::ServiceBuilder;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let echo = agent_fn(async |_scope, prompt: Prompt, out| {
//!     out.emit(AgentEvent::text(prompt.as_text())).await;
//!     Ok(())
//! });
//! let inner: BoxAgent = ServiceBuilder::new().layer(BoxedLayer::new()).service(echo);
//! let answer = collect(inner.invoke(Scope::new("s"), Prompt::text("hello"))).await?;
//! assert_eq!(answer.text, "hello");
//! # Ok(())
//! # }
//! ```

mod layer;

pub use self::layer::BoxedLayer;
