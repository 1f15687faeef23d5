//! What is not `Send` lives across an await: the error points here, not at a box far away.
use std::rc::Rc;

use portcullis::{AgentEvent, Emitter, agent_fn};

fn main() {
    let _ = agent_fn(|_, _, out: Emitter| async move {
        let words = Rc::new(vec!["a", "b"]);
        for word in words.iter() {
            out.emit(AgentEvent::text(*word)).await;
        }
        Ok(())
    });
}
