//! What holds for every event stream, however it is cut: the body of the fuzz target and of the
//! property tests of `portcullis-sse`, which run it without a nightly toolchain.
//!
//! The expected frames come from a reader of its own, which splits the whole text at once.

use portcullis_sse::{Frame, Limits, Parser};

/// Checks a stream in one piece, byte by byte and with the cuts asked for.
///
/// # Panics
/// When a rule is broken.
pub(crate) fn check(bytes: &[u8], cuts: &[usize]) {
    let expected = read_whole(bytes);
    let every: Vec<_> = (0..bytes.len()).collect();
    for cuts in [&[][..], cuts, &every] {
        assert_eq!(read_pieces(bytes, cuts), expected, "cut at {cuts:?}");
    }
    check_limits(bytes, cuts, &expected);
}

/// Two bytes a cut, then the stream.
pub(crate) fn check_raw(bytes: &[u8]) {
    let Some((&count, rest)) = bytes.split_first() else {
        return;
    };
    let (cuts, stream) = rest.split_at(rest.len().min(usize::from(count % 8) * 2));
    let cuts: Vec<_> = cuts
        .chunks_exact(2)
        .map(|pair| usize::from(u16::from_le_bytes([pair[0], pair[1]])))
        .collect();
    check(stream, &cuts);
}

/// A limit is kept at every size, and stops nothing that is within it.
fn check_limits(bytes: &[u8], cuts: &[usize], expected: &[Frame]) {
    for limit in [0, 1, 3, 8, 40] {
        let limits = Limits::new().event(limit);
        match try_pieces(bytes, cuts, limits) {
            Ok(frames) => assert_eq!(frames, expected),
            Err(frames) => {
                assert_eq!(frames, expected[..frames.len()], "up to the limit");
            }
        }
        let longest = lines(bytes).iter().map(|line| line.len()).max();
        let fits = longest.is_none_or(|longest| longest <= limit);
        let by_line = try_pieces(bytes, cuts, Limits::new().line(limit));
        assert_eq!(by_line.is_ok(), fits, "lines of {limit} bytes");
        let by_stream = try_pieces(bytes, cuts, Limits::new().stream(limit as u64));
        assert_eq!(by_stream.is_ok(), bytes.len() <= limit, "{limit} in all");
    }
}

fn read_pieces(bytes: &[u8], cuts: &[usize]) -> Vec<Frame> {
    try_pieces(bytes, cuts, Limits::new()).expect("far below the limits")
}

/// The frames, or those before something was too long.
fn try_pieces(bytes: &[u8], cuts: &[usize], limits: Limits) -> Result<Vec<Frame>, Vec<Frame>> {
    let mut cuts: Vec<_> = cuts.iter().map(|cut| cut % (bytes.len() + 1)).collect();
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let mut parser = Parser::new(limits);
    let mut frames = Vec::new();
    for pair in cuts.windows(2) {
        let mut piece = &bytes[pair[0]..pair[1]];
        loop {
            match parser.next(&mut piece) {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(_) => return Err(frames),
            }
        }
        assert!(piece.is_empty(), "a piece is taken whole");
    }
    match parser.finish() {
        Ok(last) => frames.extend(last),
        Err(_) => return Err(frames),
    }
    Ok(frames)
}

fn read_whole(bytes: &[u8]) -> Vec<Frame> {
    let mut frames = Vec::new();
    let (mut name, mut data) = (String::new(), Vec::new());
    let mut id = None;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let lines = lines(bytes);
    // What stands after the last line end counts as an event as well, if it is one.
    for line in lines.iter().copied().chain([&b""[..]]) {
        if line.is_empty() {
            let data = std::mem::take(&mut data).join(&b'\n');
            let name = std::mem::take(&mut name);
            if !data.is_empty() {
                let mut frame = Frame::default();
                (frame.name, frame.id, frame.data) = (name, id.clone(), data);
                frames.push(frame);
            }
            continue;
        }
        let mut halves = line.splitn(2, |byte| *byte == b':');
        let field = halves.next().unwrap_or_default();
        let value = halves.next().unwrap_or_default();
        let value = match value {
            [b' ', rest @ ..] => rest,
            value => value,
        };
        let text = String::from_utf8_lossy(value);
        match field {
            b"data" => data.push(value),
            b"event" => name = text.into_owned(),
            b"id" if !text.contains('\0') => {
                id = Some(text.into()).filter(|id: &std::sync::Arc<str>| !id.is_empty())
            }
            _ => {}
        }
    }
    frames
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    let mut lines = Vec::new();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        let length = match bytes[at..] {
            [b'\r', b'\n', ..] => 2,
            [b'\r' | b'\n', ..] => 1,
            _ => 0,
        };
        if length == 0 {
            at += 1;
            continue;
        }
        lines.push(&bytes[start..at]);
        at += length;
        start = at;
    }
    lines.push(&bytes[start..]);
    lines
}
