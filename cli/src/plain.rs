/// Text that somebody else wrote: it begins no line of its own, and does not speak to the terminal.
pub(crate) fn push_plain(to: &mut String, text: &str) {
    for c in text.chars() {
        if c.is_control() {
            to.extend(c.escape_default());
        } else {
            to.push(c);
        }
    }
}
