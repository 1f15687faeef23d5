use std::{error::Error, fmt};

/// Reads an event stream, however it was cut into chunks, and keeps at most `limit` bytes.
///
/// It follows the grammar of the WHATWG: lines end with LF, CR or CRLF, one space after the colon
/// goes, several `data` lines make one event, an event without data is none.
#[derive(Debug)]
pub(super) struct Decoder {
    limit: usize,
    line: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    last_id: Option<String>,
    after_cr: bool,
    first_line: bool,
}

/// One event. The id is the last one that the stream gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) id: Option<String>,
    pub(super) data: Vec<u8>,
}

impl Decoder {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            data: Vec::new(),
            has_data: false,
            last_id: None,
            after_cr: false,
            first_line: true,
        }
    }

    /// Takes the start of `chunk`, up to and with the end of one event. What is left of the chunk
    /// comes again.
    ///
    /// # Errors
    /// When a line or an event is longer than the limit (O-S05).
    pub(super) fn next(&mut self, chunk: &mut &[u8]) -> Result<Option<Frame>, TooLong> {
        while let Some(&first) = chunk.first() {
            if std::mem::take(&mut self.after_cr) && first == b'\n' {
                *chunk = &chunk[1..];
                continue;
            }
            let end = chunk.iter().position(|byte| matches!(byte, b'\n' | b'\r'));
            let text = &chunk[..end.unwrap_or(chunk.len())];
            if self.line.len() + self.data.len() + text.len() > self.limit {
                return Err(TooLong::over(self.limit));
            }
            let Some(end) = end else {
                self.line.extend_from_slice(text);
                *chunk = &[];
                return Ok(None);
            };
            self.after_cr = chunk[end] == b'\r';
            *chunk = &chunk[end + 1..];
            let frame = if self.line.is_empty() {
                self.end_of_line(text)
            } else {
                self.line.extend_from_slice(text);
                self.end_of_kept_line()
            };
            if frame.is_some() {
                return Ok(frame);
            }
        }
        Ok(None)
    }

    /// What the stream left unfinished, which counts only if it is whole by itself (A2A-RPC-19).
    pub(super) fn finish(&mut self) -> Option<Frame> {
        if !self.line.is_empty() {
            self.end_of_kept_line();
        }
        self.dispatch()
    }

    fn end_of_kept_line(&mut self) -> Option<Frame> {
        let mut line = std::mem::take(&mut self.line);
        let frame = self.end_of_line(&line);
        line.clear();
        self.line = line;
        frame
    }

    fn end_of_line(&mut self, mut line: &[u8]) -> Option<Frame> {
        if std::mem::take(&mut self.first_line) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch();
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &b""[..]),
        };
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
                self.has_data = true;
            }
            b"id" if !value.contains(&0) => {
                self.last_id = std::str::from_utf8(value).ok().map(str::to_owned);
            }
            // Comments have an empty name; other fields mean nothing here.
            _ => {}
        }
        None
    }

    fn dispatch(&mut self) -> Option<Frame> {
        let has_data = std::mem::take(&mut self.has_data);
        let data = std::mem::take(&mut self.data);
        (has_data && !data.is_empty()).then(|| Frame {
            id: self.last_id.clone(),
            data,
        })
    }
}

/// A line or an event of the stream was longer than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    limit: usize,
}

impl TooLong {
    pub(super) const fn over(limit: usize) -> Self {
        Self { limit }
    }
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} bytes in one piece", self.limit)
    }
}

impl Error for TooLong {}
