//! Webhooks in memory keep what all of them keep.

use std::{any::Any, sync::Arc};

use portcullis_a2a::{
    push_store_suite,
    server::push::{MemoryPushStore, PushStore},
};

fn open(max_retired: usize) -> (Arc<dyn PushStore>, Box<dyn Any + Send>) {
    let store = MemoryPushStore::with_max_retired(max_retired);
    (Arc::new(store), Box::new(()))
}

push_store_suite!(open);
