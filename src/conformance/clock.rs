use std::time::{Duration, Instant};

/// A suite waits for days where nothing wakes a turn: on a clock that jumps.
pub(super) async fn demand_paused() {
    let start = Instant::now();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(
        start.elapsed() < Duration::from_millis(90),
        "the suites need virtual time: write `#[tokio::test(start_paused = true)]`"
    );
}
