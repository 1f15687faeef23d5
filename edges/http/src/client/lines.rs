/// Reads lines, however they were cut into chunks, and keeps at most `limit` bytes. Empty lines only
/// keep a connection alive.
#[derive(Debug)]
pub(super) struct Lines {
    limit: usize,
    line: Vec<u8>,
}

/// A line was longer than allowed.
#[derive(Debug)]
pub(super) struct LineTooLong;

impl Lines {
    pub(super) const fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
        }
    }

    /// Takes the start of `chunk`, up to and with the end of one line. What is left comes again.
    pub(super) fn next(&mut self, chunk: &mut &[u8]) -> Result<Option<Vec<u8>>, LineTooLong> {
        while !chunk.is_empty() {
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let text = &chunk[..end.unwrap_or(chunk.len())];
            // One more, for the CR that some put before the LF.
            if self.line.len() + text.len() > self.limit.saturating_add(1) {
                return Err(LineTooLong);
            }
            self.line.extend_from_slice(text);
            let Some(end) = end else {
                *chunk = &[];
                return Ok(None);
            };
            *chunk = &chunk[end + 1..];
            if let Some(line) = self.finish()? {
                return Ok(Some(line));
            }
        }
        Ok(None)
    }

    /// The line that has come so far, if it says anything.
    pub(super) fn finish(&mut self) -> Result<Option<Vec<u8>>, LineTooLong> {
        let mut line = std::mem::take(&mut self.line);
        if line.last() == Some(&b'\r') {
            line.pop();
        }
        if line.len() > self.limit {
            return Err(LineTooLong);
        }
        Ok((!line.is_empty()).then_some(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(chunks: &[&[u8]], limit: usize) -> (Vec<String>, bool) {
        let mut lines = Lines::new(limit);
        let mut read = Vec::new();
        for mut chunk in chunks.iter().copied() {
            loop {
                match lines.next(&mut chunk) {
                    Ok(Some(line)) => read.push(String::from_utf8(line).unwrap()),
                    Ok(None) => break,
                    Err(LineTooLong) => return (read, false),
                }
            }
        }
        match lines.finish() {
            Ok(rest) => read.extend(rest.map(|line| String::from_utf8(line).unwrap())),
            Err(LineTooLong) => return (read, false),
        }
        (read, true)
    }

    #[test]
    fn however_it_is_cut() {
        let text = "ab\n\n\r\nc\r\n\né🙂\nrest".as_bytes();
        let whole = (["ab", "c", "é🙂", "rest"].map(str::to_owned).to_vec(), true);
        assert_eq!(read(&[text], 6), whole);
        for at in 0..text.len() {
            assert_eq!(read(&[&text[..at], &text[at..]], 6), whole, "{at}");
        }
        let bytes: Vec<_> = text.chunks(1).collect();
        assert_eq!(read(&bytes, 6), whole);
    }

    #[test]
    fn a_line_is_bounded() {
        assert_eq!(
            read(&[b"abc\nab"], 3),
            (vec!["abc".into(), "ab".into()], true)
        );
        assert_eq!(read(&[b"abc\r\n"], 3), (vec!["abc".into()], true));
        assert_eq!(read(&[b"abcd\n"], 3), (vec![], false));
        assert_eq!(read(&[b"ab", b"cd"], 3), (vec![], false));
        let flood = vec![&b"xxxxxxxx"[..]; 1 << 10];
        assert_eq!(read(&flood, 3), (vec![], false));
    }
}
