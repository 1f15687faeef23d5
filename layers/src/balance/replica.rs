use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// One of the agents.
#[derive(Debug)]
pub(super) struct Replica<S> {
    pub(super) name: Arc<str>,
    pub(super) agent: S,
    pub(super) running: Arc<AtomicUsize>,
}

impl<S> Replica<S> {
    pub(super) fn new(name: Arc<str>, agent: S) -> Self {
        Self {
            name,
            agent,
            running: Arc::default(),
        }
    }

    pub(super) fn running(&self) -> usize {
        self.running.load(Ordering::Relaxed)
    }
}

/// The less busy one of two that are picked at random.
pub(super) fn less_busy<S>(replicas: &[&Replica<S>]) -> usize {
    let count = replicas.len();
    let one = fastrand::usize(..count);
    // Another one, each as likely, if there is another.
    let other = (one + fastrand::usize(1..count.max(2))) % count;
    if replicas[other].running() < replicas[one].running() {
        other
    } else {
        one
    }
}

/// The one that a key belongs to: where its score is the highest (rendezvous hashing). Without any
/// one replica, only the keys that belonged to it go elsewhere, and nothing is remembered.
pub(super) fn home_of<S>(replicas: &[&Replica<S>], key: &str) -> usize {
    let scores = replicas.iter().map(|replica| score(&replica.name, key));
    let best = scores.enumerate().max_by_key(|(_, score)| *score);
    best.map_or(0, |(index, _)| index)
}

/// The same in every process and of every build: FNV-1a, and the finalizer of `SplitMix64`, without
/// which names that differ in the last byte score alike.
fn score(name: &str, key: &str) -> u64 {
    // A byte that no text has stands between them.
    let bytes = name.bytes().chain([0xff]).chain(key.bytes());
    let digest = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    let mixed = (digest ^ (digest >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn replicas(names: &[&str]) -> Vec<Replica<()>> {
        let names = names.iter();
        names
            .map(|name| Replica::new(Arc::from(*name), ()))
            .collect()
    }

    #[test]
    fn keys_are_spread_and_only_those_of_a_lost_replica_move() {
        let all = replicas(&["eu-1", "eu-2", "eu-3", "us-1"]);
        let all: Vec<_> = all.iter().collect();
        let left: Vec<_> = all
            .iter()
            .copied()
            .filter(|one| &*one.name != "eu-2")
            .collect();
        let mut keys_of = [0; 4];
        for key in 0..4_000 {
            let key = format!("session-{key}");
            let home = home_of(&all, &key);
            keys_of[home] += 1;
            let later = &left[home_of(&left, &key)].name;
            if &*all[home].name != "eu-2" {
                assert_eq!(later, &all[home].name, "{key}");
            }
        }
        assert!(
            keys_of.iter().all(|keys| (850..1_150).contains(keys)),
            "{keys_of:?}"
        );
    }

    /// Processes of other builds send a session to the same replica.
    #[test]
    fn scores_stay_what_they_are() {
        let scores = ["", "a"].map(|key| score("eu-1", key));
        assert_eq!(
            scores,
            [1_317_588_275_054_243_001, 9_177_934_243_837_906_501]
        );
    }
}
