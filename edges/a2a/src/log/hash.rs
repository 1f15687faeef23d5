use std::{
    collections::HashMap,
    hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState},
    sync::LazyLock,
};

use super::TaskKey;

/// A map from tasks. A key brings its hash along, so that looking it up in several maps
/// hashes nothing.
pub(super) type TaskMap<T> = HashMap<TaskKey, T, BuildHasherDefault<AsItIs>>;

/// Hashes with a secret of this process: ids may come from a stranger.
pub(super) fn hash(id: &str) -> u64 {
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    SECRET.hash_one(id)
}

/// Takes the one number that [`TaskKey`] hashes as.
#[derive(Default)]
pub(super) struct AsItIs(u64);

impl Hasher for AsItIs {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("a key is one number")
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }
}
