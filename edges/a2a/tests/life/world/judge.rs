use std::{collections::BTreeMap, sync::Arc};

use portcullis_a2a::{
    client::Binding,
    log::{Record, RecordKind, Seq, TaskKey, TaskLog, apply},
    model::{Role, StreamResponse, Task, TaskState, decode_response},
};

use super::{
    Plan,
    book::{Book, End, Known, Look, Sighting, Webhook},
    hooks::Posted,
    host::Character,
    journal::Turn,
    plain,
    script::Word,
};

/// Compares what was seen with what the logs hold and with what the agents did.
pub(crate) struct Judge<'a> {
    plan: &'a Plan,
    book: &'a Book,
    turns: &'a BTreeMap<String, Vec<(usize, Turn)>>,
    posted: BTreeMap<String, Vec<Posted>>,
    character: Character,
    stories: BTreeMap<String, Story>,
}

/// A task from its beginning to its end.
struct Story {
    records: Vec<Record>,
    /// The task after each of them.
    folds: Vec<Task>,
    /// What each of them shows to watchers.
    shown: Vec<Option<StreamResponse>>,
}

/// Somebody knew at some time how far a task was: at least to the first of these places, at most to
/// the other.
struct Evidence {
    begun: u64,
    ended: u64,
    least: usize,
    most: usize,
    /// A watcher that resumes asks for what is old.
    of_now: bool,
}

impl<'a> Judge<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        book: &'a Book,
        turns: &'a BTreeMap<String, Vec<(usize, Turn)>>,
        posted: BTreeMap<String, Vec<Posted>>,
        character: Character,
    ) -> Self {
        Self {
            plan,
            book,
            turns,
            posted,
            character,
            stories: BTreeMap::new(),
        }
    }

    /// Reads the log of a task: whole, without a gap, with one end.
    pub(crate) async fn hear(&mut self, log: &Arc<dyn TaskLog>, key: &TaskKey, task: &Task) {
        let id = key.id();
        let records = log.read(key, Seq::ZERO, usize::MAX >> 1).await;
        let records = records.expect("the log works").expect("it was listed");
        for (index, record) in records.iter().enumerate() {
            assert_eq!(
                record.seq().number(),
                index as u64 + 1,
                "{id}: a gap in the log"
            );
        }
        assert_eq!(records[0].kind(), RecordKind::Opened, "{id}");
        let ends: Vec<_> = records
            .iter()
            .filter(|record| record.state().is_some_and(TaskState::is_terminal))
            .map(|record| record.seq().number() as usize)
            .collect();
        assert_eq!(
            ends,
            [records.len()],
            "{id}: one end, and nothing behind it"
        );
        let mut folds: Vec<Task> = Vec::new();
        let mut shown = Vec::new();
        for record in &records {
            let update = record.update().expect("it decodes");
            let mut fold = folds.last().unwrap_or(task).clone();
            apply(&mut fold, update);
            folds.push(fold);
            let response = || decode_response(record.json()).expect("it decodes");
            shown.push(record.is_frame().then(response).map(plain::response));
        }
        let snapshot = log.snapshot(key).await.expect("the log works");
        let snapshot = snapshot.expect("it was listed").into_task();
        assert_eq!(
            Some(&snapshot),
            folds.last(),
            "{id} is not what its log says"
        );
        let folds = folds.into_iter().map(plain::task).collect();
        let story = Story {
            records,
            folds,
            shown,
        };
        assert!(
            self.stories.insert(id.to_owned(), story).is_none(),
            "{id} has two owners"
        );
    }

    pub(crate) fn judge(&self) {
        let pages = self.book.pages();
        for id in pages.tasks.keys() {
            assert!(self.stories.contains_key(id), "{id} was seen and is gone");
        }
        for id in &pages.not_cancelable {
            let state = self.stories[id].end();
            assert_ne!(
                state,
                TaskState::Canceled,
                "{id} could not be canceled, it was said"
            );
        }
        let mut evidence = BTreeMap::<&str, Vec<Evidence>>::new();
        for look in &pages.looks {
            let found = self.look(look);
            evidence.entry(&look.task.id).or_default().push(found);
        }
        for sighting in &pages.sightings {
            if let Some((id, found)) = self.sighting(sighting) {
                evidence.entry(id).or_default().extend(found);
            }
        }
        for (id, evidence) in &evidence {
            never_goes_back(id, evidence);
        }
        for webhook in &pages.webhooks {
            self.webhook(webhook, &evidence);
        }
        for (id, story) in &self.stories {
            let known = pages.tasks.get(id);
            self.turns_of(id, story, known);
        }
    }

    /// A call has shown the task as it was at some place of its log.
    fn look(&self, look: &Look) -> Evidence {
        let story = &self.stories[&look.task.id];
        let places = story.places_of(&look.task);
        let (Some(least), Some(most)) = (places.first(), places.last()) else {
            let json = |task: &Task| serde_json::to_string(task).expect("it encodes");
            let folds: Vec<_> = story.folds.iter().map(json).collect();
            let (how, task) = (look.how, json(&look.task));
            panic!("{how}: it was never so: {task}\n{}", folds.join("\n"));
        };
        Evidence {
            begun: look.begun,
            ended: look.ended,
            least: *least,
            most: *most,
            of_now: true,
        }
    }

    /// A watcher has seen a piece of the log without a gap, which ended where it should.
    fn sighting<'s>(&self, sighting: &'s Sighting) -> Option<(&'s str, Vec<Evidence>)> {
        let first = sighting.events.first();
        assert!(
            first.is_some() || sighting.end != End::Ended,
            "a stream without anything: {sighting:?}"
        );
        let task = match &first?.response {
            StreamResponse::Message(_) => {
                assert_eq!(sighting.events.len(), 1, "{sighting:?}");
                return None;
            }
            StreamResponse::Task(task) => task,
            other => panic!("a stream begins with {other:?}"),
        };
        // Where it can be resumed (ruling 16); gRPC has no place for it.
        let has_ids = sighting.binding != Binding::Grpc;
        let all = sighting
            .events
            .iter()
            .all(|seen| seen.id.is_some() == has_ids);
        assert!(all, "a place is missing: {sighting:?}");
        let story = &self.stories[&task.id];
        let matching = story.places_of(task).into_iter();
        let matching: Vec<_> = matching
            .filter(|place| story.shows(*place, sighting))
            .collect();
        let (Some(least), Some(most)) = (matching.first(), matching.last()) else {
            panic!("no piece of the log: {sighting:#?}\n{:#?}", story.records);
        };
        let mut evidence = Vec::new();
        for (index, seen) in sighting.events.iter().enumerate() {
            evidence.push(Evidence {
                begun: sighting.begun,
                ended: seen.at,
                least: story.behind(*least, index),
                most: story.behind(*most, index),
                of_now: index == 0 && sighting.resumed_after.is_none(),
            });
        }
        self.ends_well(sighting, story);
        Some((&task.id, evidence))
    }

    /// A2A-OP-58, A2A-OP-60: a stream ends at the end of the task, and at a question if it came with
    /// a message, and nowhere else.
    fn ends_well(&self, sighting: &Sighting, story: &Story) {
        let states: Vec<_> = sighting
            .events
            .iter()
            .map(|seen| state(&seen.response))
            .collect();
        let ends = |state: &Option<TaskState>| {
            state.is_some_and(|state| {
                state.is_terminal() || (sighting.sent && state == TaskState::InputRequired)
            })
        };
        // A task that goes on may have waited before.
        let early = states.iter().skip(1).rev().skip(1).any(ends);
        assert!(!early, "a stream went on behind its end: {sighting:?}");
        if sighting.end == End::Ended {
            let stopped = self.plan.restarts > 0
                && states
                    .iter()
                    .rev()
                    .flatten()
                    .next()
                    .is_some_and(|state| state.is_interrupted());
            assert!(
                states.last().is_some_and(ends) || stopped,
                "a stream ended early: {sighting:?}, {:?}",
                story.records
            );
        }
    }

    fn webhook(&self, webhook: &Webhook, evidence: &BTreeMap<&str, Vec<Evidence>>) {
        let none = Vec::new();
        let posted = self.posted.get(&webhook.url).unwrap_or(&none);
        let mut places = Vec::new();
        for post in posted {
            let mut id = post.id.split('/');
            let (task, _, place) = (id.next(), id.next(), id.next());
            let task = task.expect("a task");
            assert!(
                webhook.task.as_deref().is_none_or(|known| known == task),
                "{webhook:?}"
            );
            let place: usize = place.and_then(|place| place.parse().ok()).expect("a place");
            let record = &self.stories[task].records[place - 1];
            assert_eq!(**record.json(), *post.body, "{webhook:?}");
            match places.last() {
                // Once more, since nobody heard that it had come.
                Some(last) if *last == place => continue,
                Some(last) => {
                    let next = self.stories[task].wanted_behind(*last);
                    assert_eq!(
                        next,
                        Some(place),
                        "{webhook:?} has a gap or goes back: {posted:?}"
                    );
                }
                None => {}
            }
            places.push(place);
            if let Some(gone) = webhook.gone {
                assert!(
                    post.at < gone,
                    "{webhook:?} was removed, and then came {post:?}"
                );
            }
        }
        let (Some(since), Some(task), None) = (webhook.since, &webhook.task, webhook.removing)
        else {
            return;
        };
        let story = &self.stories[task];
        // Where the log was at most when the webhook was there.
        let known = if webhook.inline {
            Some(0)
        } else {
            let evidence = evidence.get(task.as_str()).into_iter().flatten();
            let later = evidence.filter(|found| found.of_now && found.begun > since);
            later.map(|found| found.most).min()
        };
        let due = known.and_then(|known| story.wanted_behind(known));
        if let Some(due) = due {
            let first = places.first();
            assert!(
                first.is_some_and(|first| *first <= due),
                "{webhook:?} lacks place {due}: {places:?}"
            );
        }
        if let Some(last) = places.last() {
            assert_eq!(
                *last,
                story.records.len(),
                "{webhook:?} was not told of the end"
            );
        }
    }

    /// What the agents know, against the log.
    fn turns_of(&self, id: &str, story: &Story, known: Option<&Known>) {
        let turns = self.turns.get(id).map(Vec::as_slice).unwrap_or_default();
        let mut pieces: Vec<(usize, u64)> = Vec::new();
        for text in story.texts() {
            for piece in text.split_terminator(';') {
                let (turn, piece) = piece.split_once('.').expect("a turn and a number");
                pieces.push((
                    turn.parse().expect("a turn"),
                    piece.parse().expect("a number"),
                ));
            }
        }
        assert!(pieces.is_sorted(), "{id}: turns are mixed up: {pieces:?}");
        for (number, turn) in turns {
            let of_turn: Vec<_> = pieces.iter().filter(|(turn, _)| turn == number).collect();
            let whole = of_turn
                .iter()
                .enumerate()
                .all(|(at, (_, piece))| at as u64 == *piece);
            assert!(whole, "{id}: a piece of turn {number} is lost: {pieces:?}");
            let said = of_turn.len() as u64;
            assert!(
                said <= turn.said,
                "{id}: {turn:?} has not said {said} pieces"
            );
            if turn.last.is_some_and(|last| self.completes(last))
                && story.end() == TaskState::Completed
            {
                assert_eq!(
                    said, turn.said,
                    "{id}: the answer of turn {number} is not whole"
                );
            }
        }
        // Who has said something is not run again (A2A-OP-117).
        let mut speakers: Vec<_> = pieces.iter().map(|(turn, _)| turn).collect();
        speakers.dedup();
        let asked = &story.folds.last().expect("it was opened").history;
        let asked = asked
            .iter()
            .filter(|message| message.role == Role::User)
            .count();
        assert!(
            speakers.len() <= asked,
            "{id}: {speakers:?} speak after {asked} messages"
        );
        let strangers = pieces
            .iter()
            .filter(|(piece, _)| !turns.iter().any(|(number, _)| number == piece));
        assert_eq!(
            strangers.count(),
            0,
            "{id} has what another task said: {pieces:?}"
        );
        let Some((_, last)) = turns.last() else {
            // It never came to run: its server died first, or somebody was faster.
            assert_ne!(story.end(), TaskState::Completed, "{id} had no turn");
            return;
        };
        let may = self.may_end(last, turns.len() > 1, known, story);
        assert!(
            may.contains(&story.end()),
            "{id} is {}, not one of {may:?}: {last:?}",
            story.end()
        );
    }

    fn completes(&self, word: Word) -> bool {
        match word {
            Word::Complete | Word::Answer => true,
            Word::End => self.character.serves_agent,
            _ => false,
        }
    }

    /// How a task may end whose last turn did this.
    fn may_end(
        &self,
        turn: &Turn,
        continued: bool,
        known: Option<&Known>,
        story: &Story,
    ) -> Vec<TaskState> {
        let mut may = match turn.last {
            // A task that is there cannot be answered without one (A2A-OP-44).
            Some(Word::Answer) if continued && !self.character.serves_agent => {
                vec![TaskState::Failed]
            }
            Some(last) if self.completes(last) => vec![TaskState::Completed],
            Some(Word::Fail | Word::Panic | Word::Hang | Word::End) => vec![TaskState::Failed],
            Some(Word::Reject | Word::Refuse) => vec![TaskState::Rejected],
            Some(Word::Cancel) => vec![TaskState::Canceled],
            _ => vec![],
        };
        // A call that nobody heard the end of may have opened it; it was cancelled in the end.
        if known.is_none_or(|known| known.cancel_asked) || story.waits() {
            may.push(TaskState::Canceled);
        }
        // Its server died, or it waited for a busy machine.
        if self.plan.restarts > 0 || !self.plan.paused {
            may.push(TaskState::Failed);
        }
        may
    }
}

impl Story {
    fn end(&self) -> TaskState {
        self.folds.last().expect("it was opened").status.state
    }

    /// The places at which the task was so.
    fn places_of(&self, task: &Task) -> Vec<usize> {
        let folds = self.folds.iter().enumerate();
        let same = folds.filter(|(_, fold)| *fold == task);
        same.map(|(index, _)| index + 1).collect()
    }

    /// Whether a watcher who begins at this place sees what this one has seen.
    fn shows(&self, place: usize, sighting: &Sighting) -> bool {
        let resumes = sighting
            .resumed_after
            .is_none_or(|after| after == place as u64);
        let is_at = |id: Option<u64>, place: usize| id.is_none_or(|id| id == place as u64);
        let mut frames = (place..self.shown.len())
            .filter_map(|index| Some((index + 1, self.shown[index].as_ref()?)));
        let (first, rest) = sighting.events.split_first().expect("checked to be there");
        resumes
            && is_at(first.id, place)
            && rest.iter().all(|seen| {
                frames
                    .next()
                    .is_some_and(|(place, shown)| is_at(seen.id, place) && *shown == seen.response)
            })
    }

    /// The place of the nth frame behind a place.
    fn behind(&self, place: usize, frames: usize) -> usize {
        if frames == 0 {
            return place;
        }
        let shown = (place..self.shown.len()).filter(|index| self.shown[*index].is_some());
        shown
            .map(|index| index + 1)
            .nth(frames - 1)
            .expect("it was seen")
    }

    /// The next place that webhooks are told of.
    fn wanted_behind(&self, place: usize) -> Option<usize> {
        let wanted = |index: &usize| {
            !matches!(
                self.records[*index].kind(),
                RecordKind::Opened | RecordKind::Message
            )
        };
        (place..self.records.len())
            .find(wanted)
            .map(|index| index + 1)
    }

    /// Whether the task waited for its user before it ended.
    fn waits(&self) -> bool {
        let before = self.folds.iter().rev().nth(1);
        before.is_some_and(|task| task.status.state.is_interrupted())
    }

    /// All text of its artifacts, as it came.
    fn texts(&self) -> impl Iterator<Item = String> {
        self.shown
            .iter()
            .flatten()
            .filter_map(|response| match response {
                StreamResponse::ArtifactUpdate(update) => {
                    let parts = update.artifact.parts.iter();
                    Some(parts.filter_map(|part| part.as_text()).collect())
                }
                _ => None,
            })
    }
}

fn state(response: &StreamResponse) -> Option<TaskState> {
    match response {
        StreamResponse::Task(task) => Some(task.status.state),
        StreamResponse::StatusUpdate(update) => Some(update.status.state),
        _ => None,
    }
}

/// O-L15, A2A-OP-71: what somebody has seen is there for whoever asks later.
fn never_goes_back(id: &str, evidence: &[Evidence]) {
    let mut known: Vec<(u64, usize)> = evidence.iter().map(|it| (it.ended, it.least)).collect();
    known.sort_unstable();
    let mut most = 0;
    for (_, place) in &mut known {
        most = most.max(*place);
        *place = most;
    }
    for it in evidence.iter().filter(|it| it.of_now) {
        let before = known.partition_point(|(ended, _)| *ended < it.begun);
        let floor = before.checked_sub(1).map_or(0, |index| known[index].1);
        assert!(
            it.most >= floor,
            "{id} was at {floor} and then at {}",
            it.most
        );
    }
}
