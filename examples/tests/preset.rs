//! The whole preset, in front of both engines: each layer acts, and the example says so.

use std::process::Command;

#[test]
fn every_layer_of_the_preset_acts() {
    let done = Command::new(env!("CARGO_BIN_EXE_preset"))
        .output()
        .expect("the example starts");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}");
    for layer in [
        "auth",
        "catch",
        "trace",
        "receipt",
        "record, replay",
        "session gate",
        "concurrency",
        "timeout, total",
        "session window",
        "budget",
        "guard",
        "rate_limit",
        "structured",
        "retry",
        "timeout, first",
        "fallback",
        "breaker",
        "conform",
    ] {
        assert!(said.contains(&format!("\n  {layer} ")), "{layer}: {said}");
    }
}
