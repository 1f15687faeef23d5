use std::{collections::BTreeMap, sync::Arc};

use super::Server;

/// The agents beside one, by their names. Most have none.
#[derive(Clone, Default)]
pub(super) struct Others(Option<Arc<BTreeMap<String, Server>>>);

impl Others {
    pub(super) fn add(&mut self, name: String, server: Server) {
        let others = self.0.get_or_insert_default();
        Arc::make_mut(others).insert(name, server);
    }

    pub(super) fn named(&self, name: &str) -> Option<&Server> {
        self.0.as_ref()?.get(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Server> {
        self.0.iter().flat_map(|others| others.values())
    }
}
