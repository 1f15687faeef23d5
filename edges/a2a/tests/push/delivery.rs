use std::{sync::Arc, time::Duration};

use portcullis_a2a::{
    log::{MemoryLog, Owner, Seq, TaskKey, TaskLog},
    server::push::{MemoryPushStore, PushLimits, PushStore},
};
use serde_json::json;
use tokio::time::Instant;

use crate::support::{ALL, Does, Receiver, Rig, named, sending};

/// A2A-PUSH-7, O-P04: every update up to the last one, whatever the call does that asked for them.
#[tokio::test(start_paused = true)]
async fn every_update_arrives_whatever_the_call_does() {
    let webhook = json!({"url": "https://hooks.example.net/a"});
    for (method, immediately, leaves) in [
        ("SendMessage", false, false),
        ("SendMessage", true, false),
        ("SendMessage", false, true),
        ("SendStreamingMessage", false, false),
        ("SendStreamingMessage", false, true),
    ] {
        let rig = Rig::new(Receiver::new([]));
        let mut params = sending("slow", &webhook);
        params["configuration"]["returnImmediately"] = json!(immediately);
        let call = rig.call(method, params);
        if leaves {
            let left = tokio::time::timeout(Duration::from_secs(70), call).await;
            left.expect_err("the caller left before the end");
        } else {
            call.await.unwrap();
        }
        rig.receiver.attempted(4).await;
        assert_eq!(rig.receiver.taken(), ALL, "{method} {immediately} {leaves}");
    }
}

/// EX-16, O-P03, A2A-PUSH-2..6: the body is the frame, and the credentials are sent as they came.
#[tokio::test(start_paused = true)]
async fn what_is_sent() {
    for (scheme, credentials, header) in [
        ("Bearer", "s3cret", "Bearer s3cret"),
        ("basic", "dTpw", "basic dTpw"),
        ("Bearer", "", "Bearer"),
    ] {
        let rig = Rig::new(Receiver::new([]));
        let webhook = json!({"url": "https://hooks.example.net/a", "token": "tok-1",
            "authentication": {"scheme": scheme, "credentials": credentials}});
        rig.call("SendMessage", sending("go", &webhook))
            .await
            .unwrap();
        rig.receiver.attempted(4).await;
        for attempt in rig.receiver.attempts() {
            assert_eq!(attempt.url, "https://hooks.example.net/a");
            assert_eq!(attempt.authorization.as_deref(), Some(header));
            assert_eq!(attempt.token.as_deref(), Some("tok-1"));
            let update = attempt.body.as_object().unwrap();
            assert_eq!(update.len(), 1);
            assert_eq!(update.values().next().unwrap()["taskId"], "t-1");
        }
    }
    // And nothing where nothing was given.
    let rig = Rig::new(Receiver::new([]));
    rig.send("go").await;
    rig.receiver.attempted(4).await;
    let attempts = rig.receiver.attempts();
    assert!(
        attempts
            .iter()
            .all(|attempt| attempt.authorization.is_none())
    );
    assert!(attempts.iter().all(|attempt| attempt.token.is_none()));
}

/// O-P05: it is there before the agent is, however fast that is.
#[tokio::test(start_paused = true)]
async fn fifty_fast_tasks_are_fifty_deliveries() {
    let rig = Rig::new(Receiver::new([]));
    for _ in 0..50 {
        rig.send("quick").await;
    }
    rig.receiver.attempted(50).await;
    assert_eq!(rig.receiver.taken(), vec!["COMPLETED"; 50]);
    assert_eq!(rig.list("t-50").await.len(), 1);
}

/// A2A-PUSH-11, O-P06: one after the other for each webhook; no webhook waits for another one.
#[tokio::test(start_paused = true)]
async fn deliveries_do_not_overtake_each_other() {
    let rig = Rig::new(Receiver::new([Does::TakesAfter(Duration::from_secs(10))]));
    let began = Instant::now();
    rig.send("go").await;
    // While the first delivery of the first one is under way.
    let other = json!({"taskId": "t-1", "url": "https://hooks.example.net/other"});
    rig.call("CreateTaskPushNotificationConfig", other)
        .await
        .unwrap();
    rig.receiver.attempted(4).await;
    let first = "https://hooks.example.net/a";
    assert!(
        rig.receiver
            .attempts()
            .iter()
            .all(|attempt| attempt.url == first)
    );
    assert_eq!(rig.receiver.taken(), ALL);
    assert!(
        (10..=11).contains(&began.elapsed().as_secs()),
        "{:?}",
        began.elapsed()
    );

    let rig = Rig::new(Receiver::ending([Does::Hangs], Does::Takes));
    let mut params = sending("slow", &json!({"url": "https://hooks.example.net/hangs"}));
    params["configuration"]["returnImmediately"] = json!(true);
    rig.call("SendMessage", params).await.unwrap();
    rig.receiver.attempted(1).await;
    let second = json!({"taskId": "t-1", "url": "https://hooks.example.net/works"});
    let began = Instant::now();
    rig.call("CreateTaskPushNotificationConfig", second)
        .await
        .unwrap();
    let of_second = async || loop {
        let attempts = rig.receiver.attempts();
        if let Some(found) = attempts
            .iter()
            .find(|attempt| attempt.url.ends_with("/works"))
        {
            return found.clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    };
    let attempt = of_second().await;
    // The pause of the agent, not the time-out of the other receiver plus its pause.
    assert!(
        (59..=61).contains(&(attempt.at - began).as_secs()),
        "{:?}",
        attempt.at - began
    );
}

/// O-P07, A2A-PUSH-8..10: what may pass is tried again with growing pauses, and nothing is lost or
/// out of order.
#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again() {
    let rig = Rig::new(Receiver::new([
        Does::Answers(500),
        Does::Answers(503),
        Does::Hangs,
        Does::Takes,
        Does::Answers(408),
        Does::Answers(425),
        Does::Panics,
        Does::Takes,
        Does::AsksToWait(429, Duration::from_secs(100)),
    ]));
    let began = Instant::now();
    rig.send("go").await;
    rig.receiver.attempted(11).await;
    assert_eq!(rig.receiver.taken(), ALL);
    let attempts = rig.receiver.attempts();
    let at: Vec<f64> = attempts
        .iter()
        .map(|attempt| (attempt.at - began).as_secs_f64())
        .collect();
    let pauses: Vec<f64> = at.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (pause, within) in pauses.iter().zip([
        0.5..=1.0,
        1.0..=2.0,
        // The time-out of the attempt, and then the pause.
        17.0..=19.0,
        0.0..=0.0,
        0.5..=1.0,
        1.0..=2.0,
        2.0..=4.0,
        0.0..=0.0,
        100.0..=100.0,
        0.0..=0.0,
    ]) {
        assert!(
            within.contains(pause),
            "{pauses:?}: {pause} not in {within:?}"
        );
    }
    // A receiver tells duplicates by the id.
    let ids: Vec<&str> = attempts.iter().map(|attempt| &*attempt.id).collect();
    assert_eq!(ids[0], ids[3]);
    assert_ne!(ids[3], ids[4]);
    let stats = rig.server.push_stats().unwrap();
    assert_eq!(
        (stats.delivered(), stats.failed(), stats.given_up()),
        (4, 7, 0)
    );
}

/// The pauses grow to a bound and differ.
#[tokio::test(start_paused = true)]
async fn pauses_are_bounded_and_spread() {
    let mut limits = PushLimits::default();
    limits.failures = 40;
    limits.longest_pause = Duration::from_secs(60);
    let asks = Does::AsksToWait(503, Duration::from_secs(1_000_000));
    let rig = Rig::with(Receiver::ending([asks], Does::Answers(500)), limits);
    rig.send("quick").await;
    rig.receiver.attempted(40).await;
    let attempts = rig.receiver.attempts();
    let pauses: Vec<Duration> = attempts
        .windows(2)
        .map(|pair| pair[1].at - pair[0].at)
        .collect();
    assert_eq!(
        pauses[0],
        Duration::from_secs(60),
        "as long as it may ask for"
    );
    for pause in &pauses[8..] {
        assert!((30..=60).contains(&pause.as_secs()), "{pause:?}");
    }
    let mut spread = pauses[8..].to_vec();
    spread.dedup();
    assert!(spread.len() > 20, "no two receivers are called in step");
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(rig.receiver.attempts().len(), 40, "given up");
}

/// O-P07: a dead receiver is left alone for good, in the store as well.
#[tokio::test(start_paused = true)]
async fn a_dead_receiver_is_given_up() {
    for dead in [Does::Answers(500), Does::Hangs, Does::Panics] {
        let rig = Rig::with(Receiver::ending([], dead), PushLimits::default());
        rig.send("go").await;
        rig.receiver.attempted(10).await;
        tokio::time::sleep(Duration::from_secs(100_000)).await;
        assert_eq!(rig.receiver.attempts().len(), 10);
        assert!(rig.receiver.taken().is_empty());
        assert!(rig.store.active(None, 10).await.unwrap().is_empty());
        assert_eq!(rig.server.push_stats().unwrap().given_up(), 1);
        assert_eq!(rig.list("t-1").await.len(), 1, "it can still be read");
    }
}

/// A2A-PUSH-10: what is refused is not tried again, a receiver that has gone is forgotten, a
/// redirect is no success.
#[tokio::test(start_paused = true)]
async fn what_is_refused_is_not_tried_again() {
    let rig = Rig::new(Receiver::new([
        Does::Answers(400),
        Does::Takes,
        Does::Answers(307),
    ]));
    rig.send("go").await;
    rig.receiver.attempted(4).await;
    assert_eq!(rig.receiver.taken(), ["a", "COMPLETED"]);
    assert_eq!(rig.server.push_stats().unwrap().skipped(), 2);

    let rig = Rig::new(Receiver::new([Does::Takes, Does::Answers(410)]));
    rig.send("go").await;
    rig.receiver.attempted(2).await;
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(rig.receiver.attempts().len(), 2);
    assert!(rig.list("t-1").await.is_empty());

    // O-P02: not once more.
    let rig = Rig::new(Receiver::ending([], Does::IsForbidden));
    rig.send("go").await;
    rig.receiver.attempted(1).await;
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(rig.receiver.attempts().len(), 1);
}

/// A task that asks: its webhook waits with it, and hears of the rest.
#[tokio::test(start_paused = true)]
async fn a_task_that_goes_on_goes_on_for_its_webhook() {
    let rig = Rig::new(Receiver::new([]));
    rig.send("ask").await;
    rig.receiver.attempted(4).await;
    assert_eq!(
        rig.receiver.taken(),
        ["WORKING", "a", "b", "INPUT_REQUIRED"]
    );
    // One that comes with a later message hears from there on.
    let mut params = sending("go", &json!({"url": "https://hooks.example.net/later"}));
    params["message"]["taskId"] = json!("t-1");
    rig.call("SendMessage", params).await.unwrap();
    rig.receiver.attempted(12).await;
    let by = |url: &str| -> Vec<String> {
        let attempts = rig.receiver.attempts();
        let of = attempts.iter().filter(|attempt| attempt.url.ends_with(url));
        of.map(|attempt| named(&attempt.body)).collect()
    };
    assert_eq!(by("/later"), ALL);
    assert_eq!(by("/a")[4..], ALL);
    assert_eq!(rig.receiver.attempts().len(), 12);
    assert!(
        rig.store.active(None, 10).await.unwrap().is_empty(),
        "both are done"
    );
}

/// An answer without a task leaves no webhook behind.
#[tokio::test(start_paused = true)]
async fn a_message_leaves_no_webhook() {
    let rig = Rig::new(Receiver::new([]));
    rig.send("message").await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(rig.store.active(None, 10).await.unwrap().is_empty());
    let key = TaskKey::new(Owner::ANONYMOUS, "t-1");
    assert!(rig.store.list(&key).await.unwrap().is_empty());
    assert!(rig.receiver.attempts().is_empty());
    assert_eq!(rig.log.bells(), 0);
}

/// A2A-PUSH-12: after the deletion nothing new begins.
#[tokio::test(start_paused = true)]
async fn a_deleted_webhook_hears_nothing_more() {
    let rig = Rig::new(Receiver::new([]));
    let mut params = sending(
        "slow",
        &json!({"id": "w", "url": "https://hooks.example.net/a"}),
    );
    params["configuration"]["returnImmediately"] = json!(true);
    rig.call("SendMessage", params).await.unwrap();
    rig.receiver.attempted(1).await;
    let params = json!({"taskId": "t-1", "id": "w"});
    for _ in 0..2 {
        let deleted = rig
            .call("DeleteTaskPushNotificationConfig", params.clone())
            .await;
        assert_eq!(deleted.unwrap(), json!({}));
    }
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(rig.receiver.attempts().len(), 1);
    assert_eq!(rig.log.bells(), 0, "nobody waits for it any more");
}

fn stores() -> (Arc<dyn TaskLog>, Arc<dyn PushStore>) {
    (Arc::new(MemoryLog::new()), Arc::new(MemoryPushStore::new()))
}

/// A restart: the next server over the same stores goes on where the cursor is; what was under
/// way comes once more.
#[tokio::test(start_paused = true)]
async fn the_next_server_goes_on() {
    let log: Arc<dyn TaskLog> = Arc::new(MemoryLog::new());
    let store: Arc<dyn PushStore> = Arc::new(MemoryPushStore::new());
    let over = |receiver: &Receiver| {
        let limits = PushLimits::default();
        Rig::over(
            receiver.clone(),
            limits,
            Arc::clone(&log),
            Arc::clone(&store),
        )
    };
    let receiver = Receiver::new([Does::Takes, Does::Takes, Does::Hangs]);
    let first = over(&receiver);
    first.send("go").await;
    receiver.attempted(3).await;
    drop(first);
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(receiver.attempts().len(), 3, "its couriers went with it");

    let second = over(&receiver);
    second.server.recover().await.unwrap();
    receiver.attempted(5).await;
    assert_eq!(receiver.taken(), ALL);
    tokio::time::sleep(Duration::from_secs(1_000)).await;
    assert_eq!(receiver.attempts().len(), 5);
    assert!(store.active(None, 10).await.unwrap().is_empty());
}

/// A shutdown lets what is under way arrive, and leaves the rest to the next server.
#[tokio::test(start_paused = true)]
async fn a_shutdown_leaves_the_rest() {
    let (log, store) = stores();
    let over = |receiver: &Receiver| {
        let limits = PushLimits::default();
        Rig::over(
            receiver.clone(),
            limits,
            Arc::clone(&log),
            Arc::clone(&store),
        )
    };
    let receiver = Receiver::new([Does::TakesAfter(Duration::from_secs(3)), Does::Answers(500)]);
    let third = over(&receiver);
    third.send("go").await;
    receiver.attempted(1).await;
    third.server.shut_down(Duration::from_secs(5)).await;
    let left = store.active(None, 10).await.unwrap();
    assert_eq!(left.len(), 1);
    assert!(left[0].after > Seq::new(1), "the first one was counted");
    drop(third);
    let fourth = over(&receiver);
    fourth.server.recover().await.unwrap();
    let behind = receiver.attempts().len();
    receiver.attempted(behind + 3).await;
    assert_eq!(receiver.taken(), ALL);
}

/// Artifacts are left out where they are not wanted.
#[tokio::test(start_paused = true)]
async fn statuses_only() {
    let mut limits = PushLimits::default();
    limits.artifacts = false;
    let rig = Rig::with(Receiver::new([]), limits);
    rig.send("go").await;
    rig.receiver.attempted(2).await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(rig.receiver.taken(), ["WORKING", "COMPLETED"]);
}

/// A canceled task is told of as well (O-P04).
#[tokio::test(start_paused = true)]
async fn a_cancellation_is_delivered() {
    let rig = Rig::new(Receiver::new([]));
    let mut params = sending("slow", &json!({"url": "https://hooks.example.net/a"}));
    params["configuration"]["returnImmediately"] = json!(true);
    rig.call("SendMessage", params).await.unwrap();
    rig.receiver.attempted(1).await;
    rig.call("CancelTask", json!({"id": "t-1"})).await.unwrap();
    rig.receiver.attempted(2).await;
    assert_eq!(rig.receiver.taken(), ["WORKING", "CANCELED"]);
}
