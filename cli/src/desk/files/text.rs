use std::io::{BufRead, BufReader, Read};

use cap_std::fs::File;

use super::{FileError, Limits};
use crate::desk::workers::Stop;

/// Bytes that are read between two looks at the stop flag.
const CHUNK: usize = 64 * 1024;
/// A zero byte this early makes a file binary, as for grep and git.
const SNIFF: usize = 8 * 1024;

/// A regular file that holds text, open for reading once.
#[derive(Debug)]
pub(crate) struct TextFile {
    reader: BufReader<std::io::Take<File>>,
    path: String,
    bytes: u64,
}

/// What `wc` counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Line ends, as `wc -l`.
    pub(crate) lines: u64,
    /// What white space parts, as `wc -w`.
    pub(crate) words: u64,
    pub(crate) bytes: u64,
}

impl TextFile {
    pub(super) fn new(file: File, path: &str, limits: &Limits) -> Result<Self, FileError> {
        let metadata = file
            .metadata()
            .map_err(|error| FileError::from_io(path, error))?;
        if !metadata.is_file() {
            return Err(FileError::NotAFile(path.to_owned()));
        }
        if metadata.len() > limits.file_bytes {
            return Err(FileError::TooLarge(path.to_owned()));
        }
        // A file that grows meanwhile is read up to the bound and no further.
        let mut reader = BufReader::with_capacity(CHUNK, file.take(limits.file_bytes));
        let head = reader
            .fill_buf()
            .map_err(|error| FileError::from_io(path, error))?;
        if head[..head.len().min(SNIFF)].contains(&0) {
            return Err(FileError::Binary(path.to_owned()));
        }
        Ok(Self {
            reader,
            path: path.to_owned(),
            bytes: metadata.len(),
        })
    }

    pub(crate) const fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn counts(mut self, stop: &Stop) -> Result<Counts, FileError> {
        let mut counts = Counts::default();
        let mut in_word = false;
        loop {
            stop.check()?;
            let chunk = self
                .reader
                .fill_buf()
                .map_err(|error| FileError::from_io(&self.path, error))?;
            if chunk.is_empty() {
                return Ok(counts);
            }
            for byte in chunk {
                counts.lines += u64::from(*byte == b'\n');
                let space = byte.is_ascii_whitespace() || *byte == 0x0b;
                counts.words += u64::from(!space && !in_word);
                in_word = !space;
            }
            let length = chunk.len();
            counts.bytes += length as u64;
            self.reader.consume(length);
        }
    }

    /// Calls `each` with every line, without its end; `false` ends the reading.
    pub(crate) fn lines(
        mut self,
        stop: &Stop,
        mut each: impl FnMut(u64, &[u8]) -> bool,
    ) -> Result<(), FileError> {
        let mut line = Vec::new();
        let mut number = 0;
        loop {
            stop.check()?;
            line.clear();
            let length = self
                .reader
                .read_until(b'\n', &mut line)
                .map_err(|error| FileError::from_io(&self.path, error))?;
            if length == 0 {
                return Ok(());
            }
            number += 1;
            let end = line.strip_suffix(b"\n").unwrap_or(&line);
            if !each(number, end.strip_suffix(b"\r").unwrap_or(end)) {
                return Ok(());
            }
        }
    }
}
