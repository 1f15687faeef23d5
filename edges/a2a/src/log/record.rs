use std::{cell::RefCell, sync::Arc};

use serde::{
    Serialize,
    de::{DeserializeOwned, Error as _},
};

use super::{Chunk, Seq, Update};
use crate::model::TaskState;

/// An update as it stands in a log.
///
/// It is kept as JSON: the very object that a stream sends, encoded once and shared by
/// the store and by every watcher. Cloning is a reference count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    seq: Seq,
    kind: RecordKind,
    state: Option<TaskState>,
    json: Arc<str>,
}

/// What kind of update a record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum RecordKind {
    /// [`Update::Opened`], `{"task":…}`.
    Opened,
    /// [`Update::Status`], `{"statusUpdate":…}`.
    Status,
    /// [`Update::Artifact`], `{"artifactUpdate":…}`.
    Artifact,
    /// [`Update::Artifact`] whose text joins what is there.
    MergingArtifact,
    /// [`Update::Message`], `{"message":…}`. It is no frame of a stream.
    Message,
}

impl RecordKind {
    /// The number that stores write for it. It never changes.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Opened => 1,
            Self::Status => 2,
            Self::Artifact => 3,
            Self::MergingArtifact => 4,
            Self::Message => 5,
        }
    }

    /// The one member of the JSON.
    pub(super) const fn member(self) -> &'static str {
        match self {
            Self::Opened => "task",
            Self::Status => "statusUpdate",
            Self::Artifact | Self::MergingArtifact => "artifactUpdate",
            Self::Message => "message",
        }
    }

    /// The kind with this number.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Opened),
            2 => Some(Self::Status),
            3 => Some(Self::Artifact),
            4 => Some(Self::MergingArtifact),
            5 => Some(Self::Message),
            _ => None,
        }
    }
}

impl Record {
    /// Encodes an update. `buffer` is only there to be used again.
    fn encode(seq: Seq, update: &Update, buffer: &mut Vec<u8>) -> Self {
        buffer.clear();
        let (kind, state) = match update {
            Update::Opened(task) => (RecordKind::Opened, Some(task.status.state)),
            Update::Status(event) => (RecordKind::Status, Some(event.status.state)),
            Update::Artifact(chunk) if chunk.merges() => (RecordKind::MergingArtifact, None),
            Update::Artifact(_) => (RecordKind::Artifact, None),
            Update::Message(_) => (RecordKind::Message, None),
        };
        match update {
            Update::Opened(task) => write_frame(buffer, kind, &**task),
            Update::Status(event) => write_frame(buffer, kind, event),
            Update::Artifact(chunk) => write_frame(buffer, kind, chunk.event()),
            Update::Message(message) => write_frame(buffer, kind, message),
        }
        let json = std::str::from_utf8(buffer).expect("JSON is UTF-8");
        Self {
            seq,
            kind,
            state,
            json: json.into(),
        }
    }

    /// Encodes the updates of a batch that begins behind `after`.
    #[must_use]
    pub fn encode_all(after: Seq, updates: &[Update]) -> Vec<Self> {
        thread_local! {
            static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        BUFFER.with_borrow_mut(|buffer| {
            let records = updates
                .iter()
                .enumerate()
                .map(|(index, update)| Self::encode(after.plus(index + 1), update, buffer))
                .collect();
            buffer.shrink_to(MAX_BUFFER);
            records
        })
    }

    /// What a store has kept of a record.
    #[must_use]
    pub const fn from_parts(
        seq: Seq,
        kind: RecordKind,
        state: Option<TaskState>,
        json: Arc<str>,
    ) -> Self {
        Self {
            seq,
            kind,
            state,
            json,
        }
    }

    /// Its place.
    #[must_use]
    pub const fn seq(&self) -> Seq {
        self.seq
    }

    /// What kind of update it is.
    #[must_use]
    pub const fn kind(&self) -> RecordKind {
        self.kind
    }

    /// The state that the task has with it, if it sets one.
    #[must_use]
    pub const fn state(&self) -> Option<TaskState> {
        self.state
    }

    /// Whether a stream has a frame for it.
    #[must_use]
    pub const fn is_frame(&self) -> bool {
        !matches!(self.kind, RecordKind::Message)
    }

    /// The JSON: one object with one member, named after the kind.
    #[must_use]
    pub const fn json(&self) -> &Arc<str> {
        &self.json
    }

    /// Decodes the update.
    ///
    /// # Errors
    /// When the JSON is not what the kind says: a damaged store.
    pub fn update(&self) -> Result<Update, serde_json::Error> {
        Ok(match self.kind {
            RecordKind::Opened => Update::Opened(Box::new(self.read_frame()?)),
            RecordKind::Status => Update::Status(self.read_frame()?),
            RecordKind::Artifact => Update::Artifact(Chunk::new(self.read_frame()?)),
            RecordKind::MergingArtifact => Update::Artifact(Chunk::merging(self.read_frame()?)),
            RecordKind::Message => Update::Message(self.read_frame()?),
        })
    }

    /// Decodes what stands in the one member, whose place is known.
    fn read_frame<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        let inner = self
            .json
            .strip_prefix("{\"")
            .and_then(|rest| rest.strip_prefix(self.kind.member()))
            .and_then(|rest| rest.strip_prefix("\":"))
            .and_then(|rest| rest.strip_suffix('}'));
        let Some(inner) = inner else {
            let message = format!("the record does not hold {}", self.kind.member());
            return Err(serde_json::Error::custom(message));
        };
        serde_json::from_str(inner)
    }
}

fn write_frame(buffer: &mut Vec<u8>, kind: RecordKind, value: &impl Serialize) {
    buffer.extend_from_slice(b"{\"");
    buffer.extend_from_slice(kind.member().as_bytes());
    buffer.extend_from_slice(b"\":");
    serde_json::to_writer(&mut *buffer, value).expect("the model always encodes");
    buffer.push(b'}');
}

/// What a thread keeps of its buffer after a large update.
const MAX_BUFFER: usize = 64 << 10;
