//! What every [`PushStore`] has to keep, as checks that a backend runs.
//!
//! Say how a store is opened that keeps so many retired webhooks, and
//! [`push_store_suite!`](crate::push_store_suite) makes one test of each check. It needs `tokio` with
//! its macros in the crate that uses it.
//!
//! ```
//! # mod tests {
//! use std::{any::Any, sync::Arc};
//! use portcullis_a2a::{push_store_suite, server::push::{MemoryPushStore, PushStore}};
//!
//! /// With what has to live as long as the store.
//! fn open(max_retired: usize) -> (Arc<dyn PushStore>, Box<dyn Any + Send>) {
//!     (Arc::new(MemoryPushStore::with_max_retired(max_retired)), Box::new(()))
//! }
//!
//! push_store_suite!(open);
//! # }
//! ```
#![expect(clippy::missing_panics_doc, reason = "a check that fails panics")]

use std::{any::Any, sync::Arc};

use futures_util::future::join_all;
use portcullis::Principal;

use super::{PushStore, PutError, Registration, Retired};
use crate::{
    log::{Owner, Seq, TaskKey},
    model::{AuthenticationInfo, TaskPushNotificationConfig},
    server::push::PushLimits,
};

/// Makes a test of each check in [`suite`](crate::server::push::suite). Takes a function from a number
/// to a store and what has to live as long.
#[macro_export]
macro_rules! push_store_suite {
    ($open:expr) => {
        $crate::push_store_suite! {
            @each $open;
            limits_hold_exactly
            cursors_never_go_back
            a_replaced_webhook_keeps_its_cursor
            retired_webhooks_can_be_read_for_a_while
            active_ones_are_found_page_by_page
            owners_do_not_meet
        }
    };
    (@each $open:expr; $($check:ident)*) => {
        $(
            #[tokio::test(flavor = "multi_thread")]
            async fn $check() {
                $crate::server::push::suite::$check($open).await;
            }
        )*
    };
}

type Opened = (Arc<dyn PushStore>, Box<dyn Any + Send>);

fn key(task: &str) -> TaskKey {
    TaskKey::new(Owner::ANONYMOUS, task)
}

fn webhook(task: &str, id: &str) -> Registration {
    let mut config = TaskPushNotificationConfig::new(task, format!("https://example.com/{id}"));
    id.clone_into(&mut config.id);
    config.token = "token".to_owned();
    config.authentication = Some(AuthenticationInfo::new("Bearer", "s3cret"));
    Registration::new(key(task), config, Seq::ZERO)
}

fn ids(configs: &[TaskPushNotificationConfig]) -> Vec<&str> {
    configs.iter().map(|config| &*config.id).collect()
}

async fn active(store: &dyn PushStore) -> Vec<Registration> {
    store.active(None, 1_000).await.unwrap()
}

/// However many put at once (O-P11).
pub async fn limits_hold_exactly(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(100);
    let limits = PushLimits {
        per_task: 10,
        total: 25,
        ..PushLimits::default()
    };
    let put = |task: &str, number: usize| store.put(webhook(task, &number.to_string()), &limits);
    let outcomes = join_all((0..50).map(|number| put("a", number))).await;
    let taken = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(taken, 10);
    for refused in outcomes.into_iter().filter_map(Result::err) {
        assert!(matches!(refused, PutError::TooManyOfTask), "{refused:?}");
    }
    let tasks = ["b", "c", "d", "e"];
    let outcomes = join_all((0..40).map(|number| put(tasks[number % 4], number))).await;
    let taken = outcomes.iter().filter(|outcome| outcome.is_ok()).count();
    assert_eq!(taken, 15);
    assert_eq!(active(&*store).await.len(), 25);
    // One that is there may still be changed, and one that goes makes room.
    let first = active(&*store).await.remove(0);
    store.put(first.clone(), &limits).await.unwrap();
    assert!(store.remove(&first.key, &first.config.id).await.unwrap());
    assert!(!store.remove(&first.key, &first.config.id).await.unwrap());
    store.put(webhook("f", "x"), &limits).await.unwrap();
    let error = store.put(webhook("f", "y"), &limits).await.unwrap_err();
    assert!(matches!(error, PutError::TooMany), "{error:?}");
    // One that is retired from the start takes no place.
    let over = webhook("g", "z").retired(Retired::Finished);
    store.put(over, &limits).await.unwrap();
}

/// Whatever arrives late.
pub async fn cursors_never_go_back(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(100);
    let limits = PushLimits::default();
    store.put(webhook("a", "1"), &limits).await.unwrap();
    for (to, is) in [(3, 3), (2, 3), (7, 7), (7, 7)] {
        store
            .advance(&key("a"), "1", Seq::new(to), None)
            .await
            .unwrap();
        assert_eq!(active(&*store).await[0].after, Seq::new(is));
    }
    // One that is gone stays so.
    store.remove(&key("a"), "1").await.unwrap();
    store
        .advance(&key("a"), "1", Seq::new(9), None)
        .await
        .unwrap();
    assert!(active(&*store).await.is_empty());
    assert_eq!(store.get(&key("a"), "1").await.unwrap(), None);
}

/// What it was sent already it is not sent again; what it says now counts (A2A-OP-96).
pub async fn a_replaced_webhook_keeps_its_cursor(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(100);
    let limits = PushLimits::default();
    store.put(webhook("a", "1"), &limits).await.unwrap();
    store.put(webhook("a", "2"), &limits).await.unwrap();
    store
        .advance(&key("a"), "1", Seq::new(5), None)
        .await
        .unwrap();
    let mut changed = webhook("a", "1");
    changed.config.url = "https://example.com/other".to_owned();
    changed.after = Seq::new(2);
    let stored = store.put(changed, &limits).await.unwrap();
    assert_eq!(stored.after, Seq::new(5));
    let found = store.get(&key("a"), "1").await.unwrap().unwrap();
    assert_eq!(found, stored.config);
    assert_eq!(found.url, "https://example.com/other");
    assert_eq!(found.authentication.unwrap().credentials, "s3cret");
    assert_eq!(ids(&store.list(&key("a")).await.unwrap()), ["1", "2"]);
    // One that was given up is active again.
    let failed = Some(Retired::Failed);
    store
        .advance(&key("a"), "1", Seq::new(5), failed)
        .await
        .unwrap();
    assert_eq!(active(&*store).await.len(), 1);
    let mut again = webhook("a", "1");
    again.after = Seq::new(8);
    let stored = store.put(again, &limits).await.unwrap();
    assert_eq!((stored.after, stored.retired), (Seq::new(8), None));
    assert_eq!(active(&*store).await.len(), 2);
}

/// A2A-OP-95, and not for ever.
pub async fn retired_webhooks_can_be_read_for_a_while(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(2);
    let limits = PushLimits::default();
    for id in ["1", "2", "3", "4"] {
        store.put(webhook("a", id), &limits).await.unwrap();
    }
    let finished = Some(Retired::Finished);
    for id in ["2", "1"] {
        store
            .advance(&key("a"), id, Seq::new(1), finished)
            .await
            .unwrap();
    }
    assert_eq!(
        ids(&store.list(&key("a")).await.unwrap()),
        ["1", "2", "3", "4"]
    );
    assert_eq!(active(&*store).await.len(), 2);
    // Retiring once more is nothing new, so that the order stays.
    store
        .advance(&key("a"), "2", Seq::new(2), finished)
        .await
        .unwrap();
    store
        .advance(&key("a"), "4", Seq::new(1), finished)
        .await
        .unwrap();
    assert_eq!(ids(&store.list(&key("a")).await.unwrap()), ["1", "3", "4"]);
    assert_eq!(store.get(&key("a"), "2").await.unwrap(), None);
}

/// All of them, once each, while some come and go.
pub async fn active_ones_are_found_page_by_page(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(100);
    let limits = PushLimits::default();
    for number in 0..23 {
        let task = format!("t-{}", number % 5);
        store
            .put(webhook(&task, &number.to_string()), &limits)
            .await
            .unwrap();
    }
    let mut found: Vec<Registration> = Vec::new();
    loop {
        let behind = found.last().map(|last| (&last.key, &*last.config.id));
        let page = store.active(behind, 4).await.unwrap();
        assert!(page.len() <= 4);
        if page.is_empty() {
            break;
        }
        for registration in &page {
            // The place of one that has gone is still one.
            store
                .remove(&registration.key, &registration.config.id)
                .await
                .unwrap();
        }
        found.extend(page);
    }
    let mut numbers: Vec<usize> = found
        .iter()
        .map(|registration| registration.config.id.parse().unwrap())
        .collect();
    numbers.sort_unstable();
    assert_eq!(numbers, (0..23).collect::<Vec<_>>());
}

/// The same ids of other owners are other webhooks (O-A01, O-P10).
pub async fn owners_do_not_meet(open: impl Fn(usize) -> Opened) {
    let (store, _keep) = open(100);
    let limits = PushLimits::default();
    let ann = Principal::new("user", "issuer", "ann");
    let owners = [
        Owner::ANONYMOUS,
        Owner::new(Some("a"), None),
        Owner::new(None, Some(&ann)),
        Owner::new(Some("a"), Some(&ann)),
    ];
    for (number, owner) in owners.iter().enumerate() {
        let mut registration = webhook("t", "1");
        registration.key = TaskKey::new(owner.clone(), "t");
        registration.config.url = format!("https://example.com/{number}");
        store.put(registration, &limits).await.unwrap();
    }
    for (number, owner) in owners.iter().enumerate() {
        let key = TaskKey::new(owner.clone(), "t");
        let found = store.list(&key).await.unwrap();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].url, format!("https://example.com/{number}"));
    }
    assert_eq!(active(&*store).await.len(), owners.len());
    let key = TaskKey::new(owners[1].clone(), "t");
    assert!(store.remove(&key, "1").await.unwrap());
    assert_eq!(active(&*store).await.len(), owners.len() - 1);
}
