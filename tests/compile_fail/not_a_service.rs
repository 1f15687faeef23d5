//! Something that is no service at all.
use portcullis::{AgentExt, Prompt, Scope};

#[derive(Clone)]
struct Engine;

fn main() {
    let _ = Engine.invoke(Scope::new("s"), Prompt::text("p"));
}
