//! The kit: what conforms passes.
#![cfg(feature = "conformance")]

use portcullis::{
    BoxAgent, Next, TurnLayer,
    conformance::{LayerOptions, suite},
    from_fn,
};

#[tokio::test(start_paused = true)]
async fn a_layer_that_does_nothing_conforms() {
    let watch = || TurnLayer::new(|_: &mut _, _: &mut _| ());
    suite::layer(watch, LayerOptions::new()).await.assert();
    let script = || {
        from_fn(
            async |scope, prompt, mut next: Next<BoxAgent>, _out| Ok(next.invoke(scope, prompt)),
        )
    };
    suite::layer(script, LayerOptions::new()).await.assert();
}
