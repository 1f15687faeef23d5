use std::sync::Arc;

use crate::{
    log::{Record, Seq},
    model::{Invalid, StreamResponse, decode_response},
};

/// One frame of a stream: a `StreamResponse`, as JSON on one line.
///
/// It was encoded once, when it was stored, and is shared by every watcher. Cloning is a
/// reference count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    seq: Option<Seq>,
    json: Arc<str>,
}

impl Frame {
    pub(super) fn new(seq: Option<Seq>, response: &StreamResponse) -> Self {
        let json = serde_json::to_string(response).expect("the model always encodes");
        Self {
            seq,
            json: json.into(),
        }
    }

    pub(super) fn of(record: &Record) -> Self {
        Self {
            seq: Some(record.seq()),
            json: Arc::clone(record.json()),
        }
    }

    /// The place in the log of the task that a reader of this frame has come to; what
    /// [`Caller::resuming_after`](super::Caller::resuming_after) takes. `None` where
    /// there is no task.
    #[must_use]
    pub const fn seq(&self) -> Option<Seq> {
        self.seq
    }

    /// The JSON of the `StreamResponse`.
    #[must_use]
    pub fn json(&self) -> &str {
        &self.json
    }

    /// The frame as a value.
    ///
    /// # Errors
    /// When the store is damaged.
    pub fn decode(&self) -> Result<StreamResponse, Invalid> {
        decode_response(&self.json)
    }
}
