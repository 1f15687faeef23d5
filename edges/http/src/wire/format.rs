/// How events are written on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a third one would be another wire")]
pub enum Format {
    /// Server-sent events (WHATWG HTML, section 9.2): each event has an id, and a proxy knows not to
    /// hold it back.
    Sse,
    /// One JSON text a line.
    JsonLines,
}

impl Format {
    /// The media types that mean it, the usual one first.
    pub(crate) const fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::Sse => &["text/event-stream"],
            Self::JsonLines => &[
                "application/x-ndjson",
                "application/jsonl",
                "application/ndjson",
            ],
        }
    }

    /// What is sent while there is no event; every reader skips it.
    #[cfg(feature = "server")]
    pub(crate) const fn keep_alive(self) -> &'static [u8] {
        match self {
            Self::Sse => portcullis_sse::Encoder::KEEP_ALIVE,
            Self::JsonLines => b"\n",
        }
    }

    /// The event with this number. As `AgentEvent::write_json` writes it, it has no line break.
    #[cfg(feature = "server")]
    pub(crate) fn frame(self, seq: u64, json: &[u8]) -> Vec<u8> {
        match self {
            Self::Sse => portcullis_sse::Encoder::with_capacity(json.len())
                .id(seq)
                .json_with(|frame| frame.extend_from_slice(json)),
            Self::JsonLines => [json, b"\n"].concat(),
        }
    }
}
