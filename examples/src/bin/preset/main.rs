//! The whole preset (`docs/layers.md`) in front of both engines of the program: `desk`, and any program by
//! `exec`. Each line shows what a layer did, as the caller saw it or as the layer told by its hook.
//!
//! ```sh
//! cargo run -p portcullis-examples --features preset --bin preset
//! ```
//!
//! It ends with 1 if any layer did not act as said.

mod drive;
mod engines;
mod stack;
mod witness;

use std::process::ExitCode;

use portcullis_examples::say;
use tracing_subscriber::layer::SubscriberExt;

#[tokio::main]
async fn main() -> ExitCode {
    let witness = witness::Witness::default();
    let spans = tracing_subscriber::registry().with(witness::Spans(witness.clone()));
    if let Err(error) = tracing::subscriber::set_global_default(spans) {
        say(&format!("preset: {error}"));
        return ExitCode::FAILURE;
    }
    // The panics of this drive are meant; the layers tell of them.
    std::panic::set_hook(Box::new(|_| {}));
    match drive::run(&witness).await {
        Ok(0) => ExitCode::SUCCESS,
        Ok(missing) => {
            say(&format!("{missing} layers did not act as said"));
            ExitCode::FAILURE
        }
        Err(error) => {
            say(&format!("preset: {error}"));
            ExitCode::FAILURE
        }
    }
}
