use std::{error::Error, fmt, time::Duration};

use bytes::Bytes;
use http_body::Frame;
use http_body_util::BodyExt;
use portcullis::AgentEvent;
use portcullis_sse::{Limits, Parser};
use tokio::time::timeout;

use super::{
    lines::Lines,
    transport::{BoxError, ReplyBody},
};
use crate::wire::Format;

/// The events of a response.
pub(super) struct Events {
    body: ReplyBody,
    /// What of the last chunk is not read yet.
    chunk: Bytes,
    reader: Reader,
    idle: Duration,
    limit: usize,
    /// The number of the last event.
    seq: u64,
}

enum Reader {
    Sse(Parser),
    Lines(Lines),
}

/// The text of an event, and its number where the stream gives one.
struct Numbered {
    json: Vec<u8>,
    seq: Option<u64>,
}

impl Events {
    /// The events after the one with this number.
    pub(super) fn new(
        format: Format,
        body: ReplyBody,
        limit: usize,
        idle: Duration,
        seq: u64,
    ) -> Self {
        Self {
            body,
            chunk: Bytes::new(),
            reader: match format {
                Format::Sse => Reader::Sse(Parser::new(Limits::new().event(limit))),
                Format::JsonLines => Reader::Lines(Lines::new(limit)),
            },
            idle,
            limit,
            seq,
        }
    }

    /// The number of the last event.
    pub(super) const fn seq(&self) -> u64 {
        self.seq
    }

    /// The next event.
    ///
    /// # Cancel safety
    /// Nothing is lost by dropping it.
    pub(super) async fn next(&mut self) -> Result<AgentEvent, Broken> {
        loop {
            if let Some(text) = self.at_hand()? {
                return self.event(&text);
            }
            match timeout(self.idle, self.body.frame()).await {
                Err(_) => return Err(Broken::Idle),
                Ok(Some(Ok(frame))) => self.take(frame),
                Ok(Some(Err(error))) => return Err(Broken::Cut(Some(error))),
                Ok(None) => {
                    let rest = self.reader.finish().map_err(|()| self.too_long())?;
                    // What lacks its end counts only if it is whole by itself.
                    let event = rest.and_then(|text| self.event(&text).ok());
                    return event.ok_or(Broken::Cut(None));
                }
            }
        }
    }

    fn take(&mut self, frame: Frame<Bytes>) {
        if let Ok(data) = frame.into_data() {
            self.chunk = data;
        }
    }

    /// Reads what is at hand already.
    fn at_hand(&mut self) -> Result<Option<Numbered>, Broken> {
        let chunk = std::mem::take(&mut self.chunk);
        let mut rest = &chunk[..];
        let text = self.reader.next(&mut rest).map_err(|()| self.too_long())?;
        self.chunk = chunk.slice_ref(rest);
        Ok(text)
    }

    fn event(&mut self, text: &Numbered) -> Result<AgentEvent, Broken> {
        let next = self.seq + 1;
        match text.seq {
            Some(seq) if seq > next => return Err(Broken::Breach("events are missing".into())),
            Some(seq) if seq < next => return Err(Broken::Breach("an event came twice".into())),
            _ => self.seq = next,
        }
        AgentEvent::from_slice(&text.json).map_err(|error| Broken::Breach(error.into()))
    }

    fn too_long(&self) -> Broken {
        Broken::Breach(format!("an event has more than {} bytes", self.limit).into())
    }
}

impl Reader {
    fn next(&mut self, chunk: &mut &[u8]) -> Result<Option<Numbered>, ()> {
        match self {
            Self::Sse(parser) => parser
                .next(chunk)
                .map(|frame| frame.map(Numbered::of_frame))
                .map_err(drop),
            Self::Lines(lines) => lines
                .next(chunk)
                .map(|line| line.map(Numbered::of_line))
                .map_err(drop),
        }
    }

    fn finish(&mut self) -> Result<Option<Numbered>, ()> {
        match self {
            Self::Sse(parser) => parser
                .finish()
                .map(|frame| frame.map(Numbered::of_frame))
                .map_err(drop),
            Self::Lines(lines) => lines
                .finish()
                .map(|line| line.map(Numbered::of_line))
                .map_err(drop),
        }
    }
}

impl Numbered {
    fn of_frame(frame: portcullis_sse::Frame) -> Self {
        Self {
            seq: frame.id.and_then(|id| id.parse().ok()),
            json: frame.data,
        }
    }

    const fn of_line(json: Vec<u8>) -> Self {
        Self { json, seq: None }
    }
}

/// Why there are no more events.
#[derive(Debug)]
pub(super) enum Broken {
    /// The response ended, and the turn had not.
    Cut(Option<BoxError>),
    /// Nothing came for too long.
    Idle,
    /// What came is not of this protocol.
    Breach(BoxError),
}

impl Broken {
    /// Whether the connection is at fault, and not what came over it.
    pub(super) const fn is_cut(&self) -> bool {
        matches!(self, Self::Cut(_) | Self::Idle)
    }
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cut(_) => "the response ended before the turn",
            Self::Idle => "the server was silent for too long",
            Self::Breach(_) => "the server answered against the protocol",
        })
    }
}

impl Error for Broken {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Cut(Some(error)) | Self::Breach(error) => Some(&**error),
            Self::Cut(None) | Self::Idle => None,
        }
    }
}
