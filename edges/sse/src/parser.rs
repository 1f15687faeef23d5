use std::{sync::Arc, time::Duration};

use memchr::{memchr, memchr2};

use crate::{Bound, Limits, TooLong};

/// Reads an event stream, however it was cut into chunks, and keeps no more than its [`Limits`].
///
/// Lines end with LF, CR or CRLF; one space after the colon goes; several `data` lines make one
/// event; an event without data is none, and neither is a comment; a byte order mark in front is
/// skipped.
#[derive(Debug)]
pub struct Parser {
    limits: Limits,
    /// How much has come.
    seen: u64,
    /// What has come of the line.
    line: Vec<u8>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    last_id: Option<Arc<str>>,
    retry: Option<Duration>,
    after_cr: bool,
    first_line: bool,
}

/// One event of the stream, with data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Frame {
    /// What the event is called, empty where it has no name.
    pub name: String,
    /// The last id that the stream gave, which need not be with this event.
    pub id: Option<Arc<str>>,
    /// Its lines, joined with LF. Not looked at: it may be no UTF-8.
    pub data: Vec<u8>,
}

impl Parser {
    /// At the start of a stream.
    #[must_use]
    pub const fn new(limits: Limits) -> Self {
        Self {
            limits,
            seen: 0,
            line: Vec::new(),
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            last_id: None,
            retry: None,
            after_cr: false,
            first_line: true,
        }
    }

    /// Takes the start of `chunk`, up to and with the end of one event. What is left of the chunk
    /// comes again: call it until it gives `None`, which means that all is taken.
    ///
    /// # Errors
    /// Something is longer than it may be. The stream cannot be read on.
    pub fn next(&mut self, chunk: &mut &[u8]) -> Result<Option<Frame>, TooLong> {
        while let Some(&first) = chunk.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                self.count(1)?;
                *chunk = &chunk[1..];
                continue;
            }
            let end = memchr2(b'\n', b'\r', chunk);
            let text = &chunk[..end.unwrap_or(chunk.len())];
            self.count(text.len() + usize::from(end.is_some()))?;
            if self.line.len() + text.len() > self.limits.line {
                return Err(TooLong::new(Bound::Line, self.limits.line as u64));
            }
            let Some(end) = end else {
                self.line.extend_from_slice(text);
                *chunk = &[];
                return Ok(None);
            };
            self.after_cr = chunk[end] == b'\r';
            *chunk = &chunk[end + 1..];
            let frame = if self.line.is_empty() {
                self.end_of_line(text)?
            } else {
                self.line.extend_from_slice(text);
                self.end_of_kept_line()?
            };
            if frame.is_some() {
                return Ok(frame);
            }
        }
        Ok(None)
    }

    /// What the stream left without its blank line. A browser drops it; one who knows by itself
    /// whether the data is whole may take it.
    ///
    /// # Errors
    /// Its last line makes the event longer than it may be.
    pub fn finish(&mut self) -> Result<Option<Frame>, TooLong> {
        if !self.line.is_empty() {
            self.end_of_kept_line()?;
        }
        Ok(self.dispatch())
    }

    /// The last id that the stream gave.
    #[must_use]
    pub const fn last_id(&self) -> Option<&Arc<str>> {
        self.last_id.as_ref()
    }

    /// How long the stream asks a reader to wait before it connects again.
    #[must_use]
    pub const fn retry(&self) -> Option<Duration> {
        self.retry
    }

    fn count(&mut self, bytes: usize) -> Result<(), TooLong> {
        self.seen = self.seen.saturating_add(bytes as u64);
        if self.seen > self.limits.stream {
            return Err(TooLong::new(Bound::Stream, self.limits.stream));
        }
        Ok(())
    }

    fn end_of_kept_line(&mut self) -> Result<Option<Frame>, TooLong> {
        let mut line = std::mem::take(&mut self.line);
        let frame = self.end_of_line(&line);
        // One large event does not take its room for as long as the stream is open.
        if line.capacity() <= KEPT {
            line.clear();
            self.line = line;
        }
        frame
    }

    fn end_of_line(&mut self, mut line: &[u8]) -> Result<Option<Frame>, TooLong> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return Ok(self.dispatch());
        }
        let (field, value) = match memchr(b':', line) {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => self.append(value)?,
            b"event" => self.name = String::from_utf8_lossy(value).into_owned(),
            b"id" if !value.contains(&0) => self.identify(value)?,
            b"retry" if value.iter().all(u8::is_ascii_digit) => self.wait(value),
            // Comments have an empty name; other fields mean nothing.
            _ => {}
        }
        Ok(None)
    }

    fn append(&mut self, value: &[u8]) -> Result<(), TooLong> {
        let between = usize::from(self.has_data);
        if self.data.len() + between + value.len() > self.limits.event {
            return Err(TooLong::new(Bound::Event, self.limits.event as u64));
        }
        if std::mem::replace(&mut self.has_data, true) {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn identify(&mut self, id: &[u8]) -> Result<(), TooLong> {
        if id.len() > self.limits.id {
            return Err(TooLong::new(Bound::Id, self.limits.id as u64));
        }
        let id = String::from_utf8_lossy(id);
        // Frames share it, for as long as it stays the same.
        if self.last_id.as_deref() != Some(&*id) {
            // An empty one takes the last one back.
            self.last_id = (!id.is_empty()).then(|| Arc::from(&*id));
        }
        Ok(())
    }

    fn wait(&mut self, digits: &[u8]) {
        let millis = str::from_utf8(digits)
            .ok()
            .and_then(|text| text.parse().ok());
        self.retry = millis.map(Duration::from_millis).or(self.retry);
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let name = std::mem::take(&mut self.name);
        let data = std::mem::take(&mut self.data);
        let has_data = std::mem::take(&mut self.has_data);
        // Of `data:` alone nothing is left either.
        (has_data && !data.is_empty()).then(|| Frame {
            name,
            id: self.last_id.clone(),
            data,
        })
    }
}

/// The room for lines that is kept from one line to the next.
const KEPT: usize = 64 << 10;
