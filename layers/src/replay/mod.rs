//! Plays recorded turns, as an agent.
//!
//! # When
//!
//! In tests, in place of an engine that costs or changes; and to look at a turn again. The lines are
//! those of [`record`](crate::record).
//!
//! # Where
//!
//! At the bottom, in place of an engine.
//!
//! # What it plays
//!
//! Every event with all its tokens, at once or, with [`timed`](Replay::timed), at the time it had.
//! Whatever it is asked, it plays: [`Replay::new`] the same recording each time,
//! [`Replay::conversation`] one after the other.
//!
//! | the recorded turn | ends |
//! |---|---|
//! | completed, failed | with that event |
//! | cancelled, truncated, panicked | without a terminal event, after the last one that came: nobody knows what would have followed. [`conform`](crate::conform) makes a failure of it |
//! | incomplete, or its process died | the same, after the last event that was written |
//!
//! Dropping the turn stops it. A service is always ready and answers at once; nothing is done in
//! between events, and a clock is one box a turn.
//!
//! # MUST 6
//!
//! [`Replay::new`] is portable. [`Replay::conversation`] counts its turns in this process.
//!
//! # Examples
//!
//! ```
//! use portcullis::{AgentExt, Prompt, Scope, collect};
//! use portcullis_layers::replay::{Recording, Replay};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lines = r#"
//! {"turn":"1","at":0,"begin":{"version":1}}
//! {"turn":"1","at":1250,"event":{"type":"text","delta":"Good morning."}}
//! {"turn":"1","at":2100,"event":{"type":"completed"}}
//! {"turn":"1","at":2100,"end":"completed"}
//! "#;
//! let recordings = Recording::read(lines.as_bytes())?;
//! let agent = Replay::new(recordings[0].clone());
//! let answer = collect(agent.invoke(Scope::new("s"), Prompt::text("anything"))).await?;
//! assert_eq!(answer.text, "Good morning.");
//! # Ok(())
//! # }
//! ```

mod agent;
mod error;
mod limits;
mod line;
mod members;
mod recording;
mod stream;

pub use self::{
    agent::Replay,
    error::ReadError,
    limits::ReadLimits,
    recording::{RecordedEnd, Recording},
    stream::ReplayStream,
};
