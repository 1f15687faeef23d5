use portcullis::Json;
use serde_json::{Map, Value};

use super::{
    Fixture,
    fixture::Open,
    random::Random,
    sample::{artifact, event, joining, key, message, more, moved, opened, said},
};
use crate::{
    log::{Chunk, Limits, Record, RecordKind, Retention, Seq, Update, fold},
    model::{Metadata, Part, Role, TaskState},
};

/// The task is the fold of its log, and the fold is that of a reader who knows only the
/// JSON and the rules A2A-OP-42, 46, 47 and 48, after every batch of random updates.
pub async fn logs_fold_like_the_reference(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    for seed in 0..40 {
        let id = format!("t-{seed}");
        let key = key(&id);
        let mut random = Random::new(seed);
        let mut known = Vec::new();
        let mut seq = Seq::ZERO;
        let mut reference = Value::Null;
        for round in 0..12 {
            let size = 1 + random.below(4);
            let mut batch: Vec<Update> = (0..size)
                .map(|_| arbitrary(&mut random, &id, &mut known))
                .collect();
            if round == 0 {
                batch.insert(0, opened(&id));
            }
            if round == 11 {
                batch.push(said(
                    &id,
                    TaskState::Completed,
                    1_000,
                    message(Role::Agent, "m-last", "done"),
                ));
            }
            for record in Record::encode_all(seq, &batch) {
                refer(&mut reference, &record);
            }
            seq = log.put(&key, seq.number(), batch).await;
            let snapshot = log.snapshot(&key).await.unwrap();
            assert_eq!(snapshot.seq(), seq);
            let task = serde_json::to_value(snapshot.task()).unwrap();
            assert_eq!(task, reference, "seed {seed}, round {round}");
        }
        // Any place of the log folds, which is what a resumed watcher begins with.
        let records = log.read(&key, 0, usize::MAX).await.unwrap();
        let mut reference = Value::Null;
        let mut view = None;
        for record in records {
            refer(&mut reference, &record);
            view = fold(view, [record]).unwrap();
            assert_eq!(serde_json::to_value(&view).unwrap(), reference);
        }
    }
}

/// A task that was handed out is not changed by what comes later, nor does changing it
/// change the log (O-L12).
pub async fn snapshots_stay_as_they_are(open: impl Fn(Retention, Limits) -> Fixture) {
    let log = open.fresh();
    let key = key("t-1");
    log.put(&key, 0, vec![opened("t-1"), artifact("t-1", "a", "one")])
        .await;
    let first = log.snapshot(&key).await.unwrap();
    let copy = first.task().clone();
    log.put(
        &key,
        2,
        vec![more("t-1", "a", " two"), joining("t-1", "a", " three")],
    )
    .await;
    log.put(&key, 4, vec![moved("t-1", TaskState::Completed, 9)])
        .await;
    assert_eq!(first.task(), &copy);
    assert_eq!(first.seq(), Seq::new(2));

    let second = log.snapshot(&key).await.unwrap();
    assert_eq!(second.task().artifacts[0].parts.len(), 2);
    let mut mine = second.clone().into_task();
    mine.artifacts.clear();
    mine.status.state = TaskState::Failed;
    let again = log.snapshot(&key).await.unwrap();
    assert_eq!(again, second);
    assert_eq!(again.task().status.state, TaskState::Completed);
}

/// Any update that may follow.
fn arbitrary(random: &mut Random, id: &str, known: &mut Vec<String>) -> Update {
    let seconds = i64::try_from(random.below(1_000)).expect("small");
    match random.below(10) {
        0 => moved(id, TaskState::Working, seconds),
        1 | 2 => {
            let text = format!("status {}", random.below(100));
            let name = format!("m-{}", random.below(1_000_000));
            let mut update = said(
                id,
                TaskState::Working,
                seconds,
                message(Role::Agent, &name, &text),
            );
            if let Update::Status(event) = &mut update
                && random.once_in(2)
            {
                event.metadata = metadata(random);
            }
            update
        }
        3 => message(
            Role::User,
            &format!("m-{}", random.below(1_000_000)),
            "more",
        )
        .into(),
        _ => {
            let append = !known.is_empty() && !random.once_in(3);
            let name = if append {
                let index = usize::try_from(random.below(known.len() as u64)).expect("small");
                known[index].clone()
            } else {
                format!("a-{}", random.below(4))
            };
            let parts = (0..1 + random.below(3)).map(|_| part(random)).collect();
            let mut event = event(id, &name, parts, append);
            if random.once_in(3) {
                event.artifact.metadata = metadata(random);
            }
            if random.once_in(3) {
                event.artifact.name = format!("name {}", random.below(10));
            }
            if random.once_in(4) {
                event.artifact.description = format!("text {}", random.below(10));
            }
            if random.once_in(4) {
                event.artifact.extensions =
                    vec![format!("https://example.org/{}", random.below(3))];
            }
            event.last_chunk = random.once_in(8);
            known.push(name);
            Update::Artifact(if random.once_in(2) {
                Chunk::merging(event)
            } else {
                Chunk::new(event)
            })
        }
    }
}

fn metadata(random: &mut Random) -> Metadata {
    let name = format!("key-{}", random.below(3));
    Metadata::new().with(
        name,
        Json::from_text(random.next().to_string()).expect("a number"),
    )
}

fn part(random: &mut Random) -> Part {
    let mut part = match random.below(6) {
        0 => Part::url("https://example.org/file"),
        _ => Part::text(format!("text {} ", random.below(1_000))),
    };
    match random.below(8) {
        0 => part.media_type = "text/markdown".to_owned(),
        1 => part.filename = "file.txt".to_owned(),
        2 => part.metadata = metadata(random),
        _ => {}
    }
    part
}

/// The reference: what a reader of the JSON does who has only read the rules.
fn refer(view: &mut Value, record: &Record) {
    let frame: Value = serde_json::from_str(record.json()).unwrap();
    let (name, value) = frame.as_object().unwrap().iter().next().unwrap();
    match name.as_str() {
        "task" => *view = value.clone(),
        "message" => {
            if let Some(question) = view["status"].as_object_mut().unwrap().remove("message") {
                push(view, "history", question);
            }
            push(view, "history", value.clone());
        }
        "statusUpdate" => {
            if let Some(message) = view["status"].get("message").cloned() {
                push(view, "history", message);
            }
            view["status"] = value["status"].clone();
            merge(view, value.get("metadata"));
        }
        "artifactUpdate" => {
            let artifact = &value["artifact"];
            let append = value.get("append") == Some(&Value::Bool(true));
            let known = view["artifacts"].as_array().and_then(|known| {
                known
                    .iter()
                    .position(|known| known["artifactId"] == artifact["artifactId"])
            });
            match known {
                None => push(view, "artifacts", artifact.clone()),
                Some(index) if !append => view["artifacts"][index] = artifact.clone(),
                Some(index) => {
                    let joins = record.kind() == RecordKind::MergingArtifact;
                    grow(&mut view["artifacts"][index], artifact, joins);
                }
            }
        }
        other => panic!("a frame named {other}"),
    }
}

fn grow(known: &mut Value, more: &Value, joins: bool) {
    for part in more["parts"].as_array().unwrap() {
        let parts = known["parts"].as_array_mut().unwrap();
        let last = parts.last_mut().unwrap();
        let plain = |part: &Value| part.as_object().unwrap().keys().eq(["text"]);
        if joins && plain(last) && plain(part) {
            let text = format!(
                "{}{}",
                last["text"].as_str().unwrap(),
                part["text"].as_str().unwrap()
            );
            last["text"] = Value::String(text);
        } else {
            parts.push(part.clone());
        }
    }
    merge(known, more.get("metadata"));
    for name in ["name", "description", "extensions"] {
        if known.get(name).is_none()
            && let Some(value) = more.get(name)
        {
            known[name] = value.clone();
        }
    }
}

fn push(view: &mut Value, name: &str, value: Value) {
    let object = view.as_object_mut().unwrap();
    let list = object
        .entry(name)
        .or_insert_with(|| Value::Array(Vec::new()));
    list.as_array_mut().unwrap().push(value);
}

fn merge(view: &mut Value, more: Option<&Value>) {
    let Some(more) = more else { return };
    let object = view.as_object_mut().unwrap();
    let known = object
        .entry("metadata")
        .or_insert_with(|| Value::Object(Map::new()));
    for (name, value) in more.as_object().unwrap() {
        known[name] = value.clone();
    }
}
