//! A layer that is there or is not.

mod support;

use portcullis_layers::{optional::OptionalLayer, timeout::TimeoutLayer};
use tower::Layer;

use support::*;

#[tokio::test(start_paused = true)]
async fn hands_on_everything() {
    for layer in [None, Some(TimeoutLayer::idle(secs(60)))] {
        let layer = OptionalLayer::new(layer);
        assert_transparent(|actor| layer.layer(actor)).await;
        assert_drops(everything(), |actor| layer.layer(actor), || true).await;
    }
}

#[tokio::test(start_paused = true)]
async fn is_there_or_is_not() {
    let part = [Do::Wait(secs(9)), done()];
    let with = OptionalLayer::new(Some(TimeoutLayer::idle(secs(5))));
    assert_eq!(
        types(&events(&with.layer(actor(part.clone()))).await),
        "failed"
    );
    let without = OptionalLayer::<TimeoutLayer>::new(None);
    assert_eq!(
        types(&events(&without.layer(actor(part))).await),
        "completed"
    );
}
