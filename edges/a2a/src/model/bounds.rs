/// How large the pieces of a request may be (A2A-DATA-24, A2A-SEC-11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Bounds {
    /// How deep a body may nest. An event nests at most 128 deep and has to fit into the
    /// metadata of a message, so the default is 144.
    pub depth: usize,
    /// Bytes of an identifier.
    pub id_bytes: usize,
    /// Parts of a message, and members of any other list.
    pub items: usize,
    /// Bytes of the JSON of one metadata object.
    pub metadata_bytes: usize,
    /// Bytes of a page token.
    pub page_token_bytes: usize,
}

impl Default for Bounds {
    /// 144 levels, ids of 256 bytes, 1,000 parts, 64 KiB of metadata, page tokens of
    /// 1 KiB.
    fn default() -> Self {
        Self {
            depth: 144,
            id_bytes: 256,
            items: 1_000,
            metadata_bytes: 64 << 10,
            page_token_bytes: 1 << 10,
        }
    }
}
