use super::{
    pattern::AHEAD,
    scan::{Compiled, Out, Place, Stopped, Then, Walks},
};

/// One text that comes in pieces, and what of it is held back.
pub(super) struct Held {
    /// What is held back, behind as much of what has left as an assertion may look at.
    text: String,
    place: Place,
    walks: Walks,
    out: Out,
}

/// What becomes of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Pushed<'a> {
    /// It leaves as it came, and nothing else does.
    Same,
    /// This leaves, which may be nothing.
    Text(&'a str),
}

impl Held {
    pub(super) fn new(rules: &Compiled) -> Self {
        Self {
            text: String::new(),
            place: Place::default(),
            walks: Walks::new(rules),
            out: Out::default(),
        }
    }

    /// Whether something has not left yet.
    pub(super) fn is_holding(&self) -> bool {
        self.text.len() > self.place.from.max(self.place.shown)
    }

    /// Adds a piece.
    ///
    /// # Errors
    /// When a rule stops the turn. What may leave before is in [`Self::safe`].
    pub(super) fn push(&mut self, rules: &Compiled, piece: &str) -> Result<Pushed<'_>, Stopped> {
        let is_open = self.place.from < self.text.len();
        if !is_open && rules.is_harmless(piece) {
            self.forget(piece);
            return Ok(Pushed::Same);
        }
        let held = self.is_holding();
        self.text.push_str(piece);
        self.run(rules, Then::More)?;
        if !held && !self.out.changed && self.out.text.len() == piece.len() {
            return Ok(Pushed::Same);
        }
        Ok(Pushed::Text(&self.out.text))
    }

    /// Lets go what is held back, to [`Self::safe`]: all of it, masked as far as it matches by
    /// now.
    ///
    /// # Errors
    /// As [`push`](Self::push).
    pub(super) fn flush(&mut self, rules: &Compiled) -> Result<(), Stopped> {
        self.run(rules, Then::Pause)
    }

    /// What leaves; before the match, if one stopped the turn.
    pub(super) fn safe(&self) -> &str {
        &self.out.text
    }

    fn run(&mut self, rules: &Compiled, then: Then) -> Result<(), Stopped> {
        self.out.text.clear();
        self.out.changed = false;
        rules.run(
            &self.text,
            &mut self.place,
            &mut self.walks,
            then,
            &mut self.out,
        )?;
        let far = self.place.from.saturating_sub(AHEAD);
        let far = self.text.floor_char_boundary(far);
        self.text.drain(..far);
        self.place.from -= far;
        self.place.shown = self.place.shown.saturating_sub(far);
        Ok(())
    }

    /// Keeps of a harmless piece what an assertion may look at.
    fn forget(&mut self, piece: &str) {
        let Some(last) = piece.chars().next_back() else {
            return;
        };
        self.text.clear();
        self.text.push(last);
        self.place = Place {
            from: self.text.len(),
            shown: 0,
        };
    }
}
