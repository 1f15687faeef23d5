use std::sync::Arc;

use crate::{
    log::{Record, RecordKind, Seq},
    model::TaskState,
};

/// The log of a finished task, in two allocations instead of one for each update.
///
/// The ids of the task and of its context stand in every update, so each is put down as
/// one control character, which JSON text never holds unescaped.
#[derive(Debug)]
pub(super) struct Packed {
    text: Box<str>,
    pieces: Box<[Piece]>,
}

#[derive(Debug)]
struct Piece {
    kind: RecordKind,
    state: Option<TaskState>,
    length: u32,
}

const TASK: &str = "\u{1}";
const CONTEXT: &str = "\u{2}";

impl Packed {
    pub(super) fn pack(records: &[Record], task: &str, context: &str) -> Self {
        let mut text = String::new();
        let mut pieces = Vec::with_capacity(records.len());
        for record in records {
            let squeezed = squeeze(record.json(), task, context);
            pieces.push(Piece {
                kind: record.kind(),
                state: record.state(),
                length: u32::try_from(squeezed.len()).expect("an update is far below 4 GiB"),
            });
            text.push_str(&squeezed);
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
        self.pieces.iter().filter_map(move |piece| {
            let end = start + piece.length as usize;
            let squeezed = &self.text[start..end];
            start = end;
            seq = seq.plus(1);
            (seq > after).then(|| {
                let json = Arc::from(stretch(squeezed, task, context));
                Record::from_parts(seq, piece.kind, piece.state, json)
            })
        })
    }
}

fn squeeze(json: &str, task: &str, context: &str) -> String {
    let mut text = json.to_owned();
    if may_stand_for(task) {
        text = text.replace(task, TASK);
    }
    if may_stand_for(context) {
        text = text.replace(context, CONTEXT);
    }
    text
}

/// Undoes [`squeeze`], last step first.
fn stretch(squeezed: &str, task: &str, context: &str) -> String {
    let mut json = squeezed.to_owned();
    if may_stand_for(context) {
        json = json.replace(CONTEXT, context);
    }
    if may_stand_for(task) {
        json = json.replace(TASK, task);
    }
    json
}

/// An id with a control character of its own could be mistaken for the other's mark.
fn may_stand_for(id: &str) -> bool {
    !id.is_empty() && !id.contains(char::is_control)
}
