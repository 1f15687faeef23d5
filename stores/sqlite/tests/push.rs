//! Webhooks in SQLite keep what all of them keep, and outlive the process.

use std::{any::Any, sync::Arc};

use portcullis_a2a::{
    log::{Owner, Seq, TaskKey},
    model::TaskPushNotificationConfig,
    push_store_suite,
    server::push::{PushLimits, PushStore, Registration, Retired},
};
use portcullis_sqlite::{Database, SqlitePushStore};

fn open(max_retired: usize) -> (Arc<dyn PushStore>, Box<dyn Any + Send>) {
    let directory = tempfile::tempdir().unwrap();
    let database = Database::open(directory.path().join("webhooks.db")).unwrap();
    let store = SqlitePushStore::with_max_retired(database, max_retired);
    (Arc::new(store), Box::new(directory))
}

push_store_suite!(open);

#[tokio::test]
async fn the_next_process_finds_them() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("webhooks.db");
    let key = TaskKey::new(Owner::ANONYMOUS, "t");
    let store = SqlitePushStore::new(Database::open(&file).unwrap());
    for id in ["1", "2"] {
        let mut config = TaskPushNotificationConfig::new("t", "https://example.com/");
        id.clone_into(&mut config.id);
        let registration = Registration::new(key.clone(), config, Seq::ZERO);
        store
            .put(registration, &PushLimits::default())
            .await
            .unwrap();
    }
    store.advance(&key, "1", Seq::new(7), None).await.unwrap();
    let finished = Some(Retired::Finished);
    store
        .advance(&key, "2", Seq::new(9), finished)
        .await
        .unwrap();
    drop(store);

    let store = SqlitePushStore::new(Database::open(&file).unwrap());
    let active = store.active(None, 10).await.unwrap();
    assert_eq!(active.len(), 1);
    assert_eq!((&*active[0].config.id, active[0].after), ("1", Seq::new(7)));
    assert_eq!(store.list(&key).await.unwrap().len(), 2);
}
