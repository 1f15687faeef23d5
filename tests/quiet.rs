//! The kit panics on purpose, and says nothing of it. In a file of its own, for the hook
//! is one a process.
#![cfg(feature = "conformance")]

use std::{
    panic,
    sync::atomic::{AtomicUsize, Ordering},
};

use portcullis::{
    TurnLayer,
    conformance::{LayerOptions, suite},
};

static PANICS: AtomicUsize = AtomicUsize::new(0);

#[tokio::test(start_paused = true)]
async fn a_suite_that_passes_does_not_call_the_panic_hook() {
    panic::set_hook(Box::new(|_| {
        PANICS.fetch_add(1, Ordering::Relaxed);
    }));
    let watch = || TurnLayer::new(|_: &mut _, _: &mut _| ());
    let report = suite::layer(watch, LayerOptions::new()).await;
    let _ = panic::take_hook();
    report.assert();
    assert_eq!(PANICS.load(Ordering::Relaxed), 0);
}
