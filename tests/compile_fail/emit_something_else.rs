//! A text is not an event by itself: it could be an answer or a thought.
use portcullis::{Emitter, agent_fn};

fn main() {
    let _ = agent_fn(async |_, _, out: Emitter| {
        out.emit("a").await;
        Ok(())
    });
}
