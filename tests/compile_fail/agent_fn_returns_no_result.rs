//! The function forgets to return a result.
use portcullis::{AgentEvent, Emitter, agent_fn};

fn main() {
    let _ = agent_fn(async |_, _, out: Emitter| {
        out.emit(AgentEvent::text("a")).await;
    });
}
