use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use super::script::Word;

/// What the agents themselves know of their turns: the truth that no part of the server wrote.
#[derive(Default)]
pub(crate) struct Journal(Mutex<Vec<Turn>>);

/// A turn as its agent saw it.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) task: String,
    pub(crate) alive: bool,
    /// How many pieces it has said.
    pub(crate) said: u64,
    /// What it has done last, or is about to do.
    pub(crate) last: Option<Word>,
}

impl Journal {
    pub(crate) fn begin(self: &Arc<Self>, task: &str) -> Entry {
        let mut turns = self.0.lock().expect("not poisoned");
        turns.push(Turn {
            task: task.to_owned(),
            alive: true,
            said: 0,
            last: None,
        });
        Entry {
            journal: Arc::clone(self),
            number: turns.len() - 1,
            drop_takes: Duration::ZERO,
        }
    }

    /// How many turns live.
    pub(crate) fn alive(&self) -> usize {
        let turns = self.0.lock().expect("not poisoned");
        turns.iter().filter(|turn| turn.alive).count()
    }

    /// Whether the latest turn of a task lives. An earlier one may still clean up.
    pub(crate) fn works_on(&self, task: &str) -> bool {
        let turns = self.0.lock().expect("not poisoned");
        let latest = turns.iter().rfind(|turn| turn.task == task);
        latest.is_some_and(|turn| turn.alive)
    }

    /// The turns of each task, by their numbers.
    pub(crate) fn by_task(&self) -> BTreeMap<String, Vec<(usize, Turn)>> {
        let mut by_task = BTreeMap::<_, Vec<_>>::new();
        for (number, turn) in self.0.lock().expect("not poisoned").iter().enumerate() {
            let turns = by_task.entry(turn.task.clone()).or_default();
            turns.push((number, turn.clone()));
        }
        by_task
    }
}

/// One turn, as long as it lives.
pub(crate) struct Entry {
    journal: Arc<Journal>,
    number: usize,
    drop_takes: Duration,
}

impl Entry {
    /// The next piece of the answer: which turn says it, and as which piece.
    pub(crate) fn piece(&self) -> String {
        let mut turns = self.journal.0.lock().expect("not poisoned");
        let said = &mut turns[self.number].said;
        *said += 1;
        format!("{}.{};", self.number, *said - 1)
    }

    pub(crate) fn number(&self) -> usize {
        self.number
    }

    pub(crate) fn does(&mut self, word: Word) {
        if word == Word::Stubborn {
            self.drop_takes = Duration::from_millis(1);
        }
        let mut turns = self.journal.0.lock().expect("not poisoned");
        turns[self.number].last = Some(word);
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        std::thread::sleep(self.drop_takes);
        let mut turns = self.journal.0.lock().expect("not poisoned");
        turns[self.number].alive = false;
    }
}
