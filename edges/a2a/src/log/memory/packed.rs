use std::sync::Arc;

use crate::{
    log::{Record, RecordKind, Seq},
    model::TaskState,
};

/// The log of a finished task, in two allocations instead of one for each update.
///
/// Nearly every update begins alike: the name of its kind, the ids of the task and of its
/// context. What begins so is put down without it.
#[derive(Debug)]
pub(super) struct Packed {
    text: Box<str>,
    pieces: Box<[Piece]>,
}

#[derive(Debug)]
struct Piece {
    kind: RecordKind,
    state: Option<TaskState>,
    /// Whether the beginning was left out.
    cut: bool,
    length: u32,
}

impl Packed {
    pub(super) fn pack(records: &[Record], task: &str, context: &str) -> Self {
        let room = records.iter().map(|record| record.json().len()).sum();
        let mut text = String::with_capacity(room);
        let mut pieces = Vec::with_capacity(records.len());
        let mut beginning = Beginning::new(task, context);
        for record in records {
            let json = &**record.json();
            let rest = json.strip_prefix(beginning.of(record.kind()));
            let kept = rest.unwrap_or(json);
            pieces.push(Piece {
                kind: record.kind(),
                state: record.state(),
                cut: rest.is_some(),
                length: u32::try_from(kept.len()).expect("an update is far below 4 GiB"),
            });
            text.push_str(kept);
        }
        Self {
            text: text.into_boxed_str(),
            pieces: pieces.into_boxed_slice(),
        }
    }

    /// The records behind `after`, in order.
    pub(super) fn records(
        &self,
        after: Seq,
        task: &str,
        context: &str,
    ) -> impl Iterator<Item = Record> {
        let mut start = 0;
        let mut seq = Seq::ZERO;
        let mut beginning = Beginning::new(task, context);
        self.pieces.iter().filter_map(move |piece| {
            let end = start + piece.length as usize;
            let kept = &self.text[start..end];
            start = end;
            seq = seq.plus(1);
            (seq > after).then(|| {
                let json: Arc<str> = if piece.cut {
                    [beginning.of(piece.kind), kept].concat().into()
                } else {
                    kept.into()
                };
                Record::from_parts(seq, piece.kind, piece.state, json)
            })
        })
    }
}

/// How the JSON of an update begins. An id that JSON has to escape only means that
/// nothing begins so.
struct Beginning {
    ids: String,
    last: Option<RecordKind>,
    text: String,
}

impl Beginning {
    fn new(task: &str, context: &str) -> Self {
        Self {
            ids: format!("\":\"{task}\",\"contextId\":\"{context}\","),
            last: None,
            text: String::new(),
        }
    }

    fn of(&mut self, kind: RecordKind) -> &str {
        if self.last != Some(kind) {
            self.last = Some(kind);
            self.text.clear();
            self.text.push_str("{\"");
            self.text.push_str(kind.member());
            let id = if kind == RecordKind::Opened {
                "\":{\"id"
            } else {
                "\":{\"taskId"
            };
            self.text.push_str(id);
            self.text.push_str(&self.ids);
        }
        &self.text
    }
}
