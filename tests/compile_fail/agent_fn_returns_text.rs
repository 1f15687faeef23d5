//! The answer is emitted, not returned.
use portcullis::{Emitter, agent_fn};

fn main() {
    let _ = agent_fn(async |_, _, _out: Emitter| Ok("the answer"));
}
