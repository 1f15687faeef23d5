use super::{MAX_DEPTH, string::plain_run};

/// Walks over JSON text and checks it, without recursion.
///
/// Own code instead of a walk by `serde_json` and a second one to find the members:
/// one pass counts the depth, notes where strings hold escapes and does not depend on the
/// switches of `serde_json` that somebody else turns on.
pub(super) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

/// Text that is no JSON, or nests too deep.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) expected: &'static str,
}

pub(super) const TOO_DEEP: &str = "at most 128 levels of nesting";

/// A piece of text and whether it holds a backslash.
#[derive(Clone, Copy)]
pub(super) struct Quoted<'a> {
    pub(super) raw: &'a str,
    pub(super) escaped: bool,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    #[inline]
    pub(super) const fn at(&self) -> usize {
        self.at
    }

    #[inline]
    pub(super) fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    #[inline]
    pub(super) fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    /// Steps over a byte, if it is the one that comes.
    #[inline]
    pub(super) fn take(&mut self, byte: u8) -> bool {
        let here = self.peek() == Some(byte);
        self.at += usize::from(here);
        here
    }

    pub(super) fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), Fault> {
        if self.take(byte) {
            Ok(())
        } else {
            Err(self.fault(expected))
        }
    }

    pub(super) fn end(&mut self) -> Result<(), Fault> {
        self.space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("the end of the text")),
        }
    }

    pub(super) const fn fault(&self, expected: &'static str) -> Fault {
        Fault {
            at: self.at,
            expected,
        }
    }

    /// A name and its colon; the cursor stands before the value.
    pub(super) fn name(&mut self) -> Result<Quoted<'a>, Fault> {
        self.before_name()?;
        let name = self.string()?;
        self.after_name()?;
        Ok(name)
    }

    #[inline]
    fn skip_name(&mut self) -> Result<(), Fault> {
        self.before_name()?;
        self.skip_string()?;
        self.after_name()
    }

    #[inline]
    fn before_name(&mut self) -> Result<(), Fault> {
        self.space();
        if self.peek() == Some(b'"') {
            Ok(())
        } else {
            Err(self.fault("the name of a member"))
        }
    }

    #[inline]
    fn after_name(&mut self) -> Result<(), Fault> {
        self.space();
        self.expect(b':', "`:`")
    }

    /// A string, without its quotes; the cursor stands at the first one.
    fn string(&mut self) -> Result<Quoted<'a>, Fault> {
        let start = self.at + 1;
        let escaped = self.skip_string()?;
        Ok(Quoted {
            raw: &self.text[start..self.at - 1],
            escaped,
        })
    }

    /// Steps over a string, and says whether it holds a backslash.
    #[inline]
    fn skip_string(&mut self) -> Result<bool, Fault> {
        let bytes = self.text.as_bytes();
        self.at += 1;
        let mut escaped = false;
        loop {
            self.at += plain_run(&bytes[self.at..]);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(escaped);
                }
                Some(b'\\') => {
                    escaped = true;
                    self.escape()?;
                }
                Some(_) => return Err(self.fault("a string without control characters")),
                None => return Err(self.fault("the end of a string")),
            }
        }
    }

    fn escape(&mut self) -> Result<(), Fault> {
        let bytes = self.text.as_bytes();
        match bytes.get(self.at + 1) {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => self.at += 2,
            Some(b'u')
                if bytes
                    .get(self.at + 2..self.at + 6)
                    .is_some_and(|digits| digits.iter().all(u8::is_ascii_hexdigit)) =>
            {
                self.at += 6;
            }
            _ => return Err(self.fault("an escape of JSON")),
        }
        Ok(())
    }

    /// Any value with what lies in it. `above` counts the arrays and objects around it.
    pub(super) fn value(&mut self, above: u32) -> Result<&'a str, Fault> {
        self.space();
        let start = self.at;
        // The kinds of what is open, the innermost in the lowest bit: 1 is an object.
        // 128 bits are enough, since nothing may nest deeper.
        let (mut open, mut kinds) = (0_u32, 0_u128);
        'value: loop {
            self.space();
            match self.peek() {
                Some(b'"') => {
                    self.skip_string()?;
                }
                Some(bracket @ (b'{' | b'[')) => {
                    if above + open >= MAX_DEPTH {
                        return Err(self.fault(TOO_DEEP));
                    }
                    self.at += 1;
                    let object = bracket == b'{';
                    (open, kinds) = (open + 1, kinds << 1 | u128::from(object));
                    self.space();
                    if !self.take(if object { b'}' } else { b']' }) {
                        if object {
                            self.skip_name()?;
                        }
                        continue 'value;
                    }
                    (open, kinds) = (open - 1, kinds >> 1);
                }
                Some(b'-' | b'0'..=b'9') => self.number()?,
                Some(b't') => self.word("true")?,
                Some(b'f') => self.word("false")?,
                Some(b'n') => self.word("null")?,
                _ => return Err(self.fault("a value")),
            }
            // A value has ended: close what ends with it.
            loop {
                if open == 0 {
                    return Ok(&self.text[start..self.at]);
                }
                let object = kinds & 1 == 1;
                self.space();
                if self.take(b',') {
                    if object {
                        self.skip_name()?;
                    }
                    continue 'value;
                }
                let (close, expected) = if object {
                    (b'}', "`,` or `}`")
                } else {
                    (b']', "`,` or `]`")
                };
                self.expect(close, expected)?;
                (open, kinds) = (open - 1, kinds >> 1);
            }
        }
    }

    fn word(&mut self, word: &'static str) -> Result<(), Fault> {
        if self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            Ok(())
        } else {
            Err(self.fault("a value"))
        }
    }

    #[inline]
    fn number(&mut self) -> Result<(), Fault> {
        self.take(b'-');
        if !self.take(b'0') {
            self.digits()?;
        }
        if self.take(b'.') {
            self.digits()?;
        }
        if self.take(b'e') || self.take(b'E') {
            let _ = self.take(b'+') || self.take(b'-');
            self.digits()?;
        }
        Ok(())
    }

    #[inline]
    fn digits(&mut self) -> Result<(), Fault> {
        let start = self.at;
        while self.peek().is_some_and(|byte| byte.is_ascii_digit()) {
            self.at += 1;
        }
        if self.at == start {
            Err(self.fault("a digit"))
        } else {
            Ok(())
        }
    }
}
