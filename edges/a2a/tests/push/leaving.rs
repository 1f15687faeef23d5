//! A caller that leaves while its webhook is stored.

use std::{sync::Arc, time::Duration};

use portcullis_a2a::{
    log::{MemoryLog, Reply, Seq, TaskKey, Unavailable},
    model::TaskPushNotificationConfig,
    server::push::{MemoryPushStore, PushLimits, PushStore, PutError, Registration, Retired},
};
use serde_json::json;
use tokio::time::{sleep, timeout};

use crate::support::{ALL, Receiver, Rig};

/// Takes a second to store one. The work begins with the call, as it must.
struct Slow(Arc<MemoryPushStore>);

impl PushStore for Slow {
    fn put(
        &self,
        registration: Registration,
        limits: &PushLimits,
    ) -> Reply<Result<Registration, PutError>> {
        let stored = self.0.put(registration, limits);
        Reply::later(async move {
            sleep(Duration::from_secs(1)).await;
            stored.await
        })
    }

    fn get(
        &self,
        key: &TaskKey,
        id: &str,
    ) -> Reply<Result<Option<TaskPushNotificationConfig>, Unavailable>> {
        self.0.get(key, id)
    }

    fn list(&self, key: &TaskKey) -> Reply<Result<Vec<TaskPushNotificationConfig>, Unavailable>> {
        self.0.list(key)
    }

    fn remove(&self, key: &TaskKey, id: &str) -> Reply<Result<bool, Unavailable>> {
        self.0.remove(key, id)
    }

    fn advance(
        &self,
        key: &TaskKey,
        id: &str,
        after: Seq,
        retired: Option<Retired>,
    ) -> Reply<Result<(), Unavailable>> {
        self.0.advance(key, id, after, retired)
    }

    fn active(
        &self,
        behind: Option<(&TaskKey, &str)>,
        limit: usize,
    ) -> Reply<Result<Vec<Registration>, Unavailable>> {
        self.0.active(behind, limit)
    }
}

// O-P04: what is stored is delivered to, in this process too.
#[tokio::test(start_paused = true)]
async fn a_webhook_whose_caller_leaves_is_delivered_to() {
    let receiver = Receiver::new([]);
    let (log, store) = (Arc::new(MemoryLog::new()), Arc::new(MemoryPushStore::new()));
    let slow = Arc::new(Slow(Arc::clone(&store)));
    let rig = Rig::over(receiver, PushLimits::default(), log, slow);
    let sending = json!({
        "message": {"messageId": "m-1", "role": "ROLE_USER", "parts": [{"text": "slow"}]},
        "configuration": {"returnImmediately": true},
    });
    rig.call("SendMessage", sending).await.unwrap();
    let config = json!({"taskId": "t-1", "url": "https://hooks.example.net/a"});
    let create = rig.call("CreateTaskPushNotificationConfig", config);
    assert!(timeout(Duration::from_millis(500), create).await.is_err());
    assert_eq!(rig.list("t-1").await.len(), 1, "it is stored");
    sleep(Duration::from_secs(600)).await;
    assert_eq!(rig.receiver.taken(), ALL[1..], "all that came since");
    assert!(store.active(None, 10).await.unwrap().is_empty());
}
