use std::borrow::Cow;

use super::write::Sink;

/// JSON text without line breaks, so that it fits one line of a stream.
///
/// A string of JSON cannot hold a raw line break, so each one lies between tokens; the white
/// space around it goes with it. What holds no line break stays as it is.
pub(super) fn one_line(text: &str) -> Cow<'_, str> {
    if !has_break(text) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    push_line(&mut line, text);
    Cow::Owned(line)
}

/// Appends JSON text without its line breaks.
pub(super) fn push_line(out: &mut impl Sink, text: &str) {
    let mut pieces = text.split(['\r', '\n']);
    let mut piece = pieces.next().unwrap_or_default();
    for next in pieces {
        out.push_str(piece.trim_end_matches([' ', '\t']));
        piece = next.trim_start_matches([' ', '\t']);
    }
    out.push_str(piece);
}

/// Whether JSON text holds a line break.
pub(super) fn has_break(text: &str) -> bool {
    // A whole chunk without a branch, so that the compiler can use wide registers.
    text.as_bytes().chunks(64).any(|chunk| {
        let breaks = chunk.iter().map(|byte| matches!(byte, b'\r' | b'\n'));
        breaks.fold(false, |one, other| one | other)
    })
}
