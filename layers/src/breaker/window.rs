use std::collections::VecDeque;

use tokio::time::Instant;

use super::Settings;

/// The last turns that ended.
#[derive(Debug, Default)]
pub(super) struct Window {
    ends: VecDeque<(Instant, bool)>,
    failures: usize,
}

impl Window {
    pub(super) fn add(&mut self, now: Instant, failed: bool, settings: &Settings) {
        if self.ends.len() >= settings.calls {
            self.pop();
        }
        self.ends.push_back((now, failed));
        self.failures += usize::from(failed);
        self.forget(now, settings);
    }

    /// Forgets what is too old.
    pub(super) fn forget(&mut self, now: Instant, settings: &Settings) {
        while let Some((at, _)) = self.ends.front()
            && now.saturating_duration_since(*at) >= settings.within
        {
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some((_, failed)) = self.ends.pop_front() {
            self.failures -= usize::from(failed);
        }
    }

    pub(super) fn is_bad(&self, settings: &Settings) -> bool {
        let (calls, failures) = (self.ends.len(), self.failures);
        let share = |n: usize| n.saturating_mul(100);
        calls >= settings.at_least
            && share(failures) >= calls.saturating_mul(usize::from(settings.percent))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}
