/// What the tools on files never exceed.
#[derive(Clone, Debug)]
pub(crate) struct Limits {
    /// A larger file is counted among the files, not read.
    pub(crate) file_bytes: u64,
    /// Files that one walk visits.
    pub(crate) files: usize,
    /// Entries of directories that one walk looks at, links and ignored ones included.
    pub(crate) entries: usize,
    /// Directories below directories.
    pub(crate) depth: usize,
    /// Lines that one answer shows.
    pub(crate) shown_lines: usize,
    /// Bytes of one shown line.
    pub(crate) shown_line_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 64 << 20,
            files: 100_000,
            entries: 1_000_000,
            depth: 32,
            shown_lines: 200,
            shown_line_bytes: 400,
        }
    }
}
