//! A layer that returns a stream instead of a run or a result.
use portcullis::{BoxAgent, Emitter, Next, from_fn};

fn main() {
    let _ = from_fn(async |scope, prompt, mut next: Next<BoxAgent>, _out: Emitter| {
        Ok(vec![next.invoke(scope, prompt)])
    });
}
