use std::{fmt::Display, io::Write, time::Duration};

/// Writes one frame: first its fields, then its data.
///
/// ```
/// use portcullis_sse::Encoder;
///
/// let frame = Encoder::new().event("text").id(3).json(r#"{"a":1}"#);
/// assert_eq!(frame, b"event: text\nid: 3\ndata: {\"a\":1}\n\n");
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Encoder {
    frame: Vec<u8>,
}

impl Encoder {
    /// A comment that says nothing: bytes on an idle stream, so that nobody between closes it.
    pub const KEEP_ALIVE: &'static [u8] = b": keep-alive\n\n";

    /// Begins a frame.
    pub const fn new() -> Self {
        Self { frame: Vec::new() }
    }

    /// Begins a frame with room for data of so many bytes.
    pub fn with_capacity(data: usize) -> Self {
        Self {
            frame: Vec::with_capacity(data.saturating_add(96)),
        }
    }

    /// What the event is called. A line break in it becomes a space.
    pub fn event(self, name: impl Display) -> Self {
        self.field("event", name)
    }

    /// Where a reader can resume. A line break or a NUL in it becomes a space.
    pub fn id(self, id: impl Display) -> Self {
        self.field("id", id)
    }

    /// How long a reader shall wait before it connects again.
    pub fn retry(self, after: Duration) -> Self {
        self.field("retry", after.as_millis())
    }

    /// Ends the frame with a text, which a reader gets as it is, except that each of its line
    /// breaks (LF, CR, CRLF) becomes an LF.
    #[must_use]
    pub fn text(mut self, text: &str) -> Vec<u8> {
        let mut rest = text;
        loop {
            let end = rest.find(['\n', '\r']);
            self.frame.extend_from_slice(b"data: ");
            self.frame
                .extend_from_slice(&rest.as_bytes()[..end.unwrap_or(rest.len())]);
            self.frame.push(b'\n');
            let Some(end) = end else { break };
            let length = if rest[end..].starts_with("\r\n") {
                2
            } else {
                1
            };
            rest = &rest[end + length..];
        }
        self.frame.push(b'\n');
        self.frame
    }

    /// Ends the frame with JSON on one line.
    #[must_use]
    pub fn json(self, json: &str) -> Vec<u8> {
        self.json_with(|frame| frame.extend_from_slice(json.as_bytes()))
    }

    /// Ends the frame with the JSON that `write` appends, on one line: a line break outside of a
    /// string is a space as well, and inside it is always escaped.
    #[must_use]
    pub fn json_with(mut self, write: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
        self.frame.extend_from_slice(b"data: ");
        let start = self.frame.len();
        write(&mut self.frame);
        for byte in &mut self.frame[start..] {
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        self.frame.extend_from_slice(b"\n\n");
        self.frame
    }

    fn field(mut self, name: &str, value: impl Display) -> Self {
        write!(self.frame, "{name}: ").expect("a vector takes everything");
        let start = self.frame.len();
        write!(self.frame, "{value}").expect("a vector takes everything");
        for byte in &mut self.frame[start..] {
            if matches!(byte, b'\n' | b'\r' | 0) {
                *byte = b' ';
            }
        }
        self.frame.push(b'\n');
        self
    }
}
