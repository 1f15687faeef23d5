use std::sync::Arc;

use super::{
    Action, Look, Matcher,
    action::Kind,
    pattern::{AHEAD, LONGEST, Pattern, Walk},
};

/// The rules of a guard, made ready.
pub(super) struct Compiled {
    finders: Vec<(Finder, Action)>,
    /// For each byte, the rules whose matches may begin with it.
    first: Box<[u64; 256]>,
}

pub(super) enum Finder {
    Pattern(Box<Pattern>),
    Matcher(Arc<dyn Matcher>),
}

/// How the text goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    /// More may come: what may still become a match is held back.
    More,
    /// Something else comes in between: nothing is held back, and what may still become a
    /// match is remembered.
    Pause,
    /// It is over.
    End,
}

/// A rule says that the turn has to stop.
#[derive(Debug)]
pub(super) struct Stopped;

/// Where a scan stands in its text.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    /// What comes before is decided.
    pub(super) from: usize,
    /// What comes before has left. Beyond `from` after a pause.
    pub(super) shown: usize,
}

/// What leaves a scan.
#[derive(Default)]
pub(super) struct Out {
    pub(super) text: String,
    pub(super) changed: bool,
}

/// The walks of all rules, for the place that is looked at.
pub(super) struct Walks {
    walks: Vec<Walk>,
    epoch: u64,
}

impl Walks {
    pub(super) fn new(rules: &Compiled) -> Self {
        Self {
            walks: vec![Walk::NEW; rules.finders.len()],
            epoch: 1,
        }
    }

    pub(super) const fn reset(&mut self) {
        self.epoch += 1;
    }
}

impl Compiled {
    pub(super) fn new(finders: Vec<(Finder, Action)>) -> Self {
        let mut first = Box::new([0; 256]);
        for (rule, (finder, _)) in finders.iter().enumerate() {
            for byte in 0..=u8::MAX {
                let begins = match finder {
                    Finder::Pattern(pattern) => pattern.begins_with(byte),
                    // A character does not begin with these.
                    Finder::Matcher(_) if (0x80..0xC0).contains(&byte) => false,
                    Finder::Matcher(matcher) => matcher.begins_with(byte),
                };
                first[usize::from(byte)] |= u64::from(begins) << rule;
            }
        }
        Self { finders, first }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.finders.is_empty()
    }

    /// Whether text can go on without another look.
    #[inline]
    pub(super) fn is_harmless(&self, text: &str) -> bool {
        text.bytes().all(|byte| self.first[usize::from(byte)] == 0)
    }

    /// Goes on with `text` from `place`.
    pub(super) fn run(
        &self,
        text: &str,
        place: &mut Place,
        walks: &mut Walks,
        then: Then,
        out: &mut Out,
    ) -> Result<(), Stopped> {
        let mut open = None;
        loop {
            let begin = text.as_bytes()[place.from..]
                .iter()
                .position(|byte| self.first[usize::from(*byte)] != 0)
                .map_or(text.len(), |skipped| place.from + skipped);
            if begin > place.from {
                // A walk belongs to the place where it began.
                walks.reset();
                pass(text, place, begin, out);
            }
            let Some(char) = text[begin..].chars().next() else {
                break;
            };
            let (mut rule, mut look) = self.look(text, begin, then != Then::End, walks);
            if look == Look::More {
                if then == Then::More {
                    break;
                }
                open = open.or(Some(begin));
                (rule, look) = self.look(text, begin, false, walks);
            }
            if let Look::Match(end) = look {
                let action = &self.finders[rule].1;
                act(action, text, begin, end, place.shown, out)?;
                place.from = end;
                open = None;
            } else {
                pass(text, place, begin + char.len_utf8(), out);
            }
            walks.reset();
        }
        if then == Then::Pause {
            place.shown = text.len();
            place.from = open.unwrap_or(text.len());
        }
        Ok(())
    }

    /// What the rules see at a place. The first rule that has a match there wins.
    fn look(&self, text: &str, at: usize, more: bool, walks: &mut Walks) -> (usize, Look) {
        let mut rules = self.first[usize::from(text.as_bytes()[at])];
        let mut waits = false;
        while rules != 0 {
            let rule = rules.trailing_zeros() as usize;
            rules &= rules - 1;
            let look = match &self.finders[rule].0 {
                Finder::Pattern(pattern) => {
                    let walk = &mut walks.walks[rule];
                    if walk.epoch != walks.epoch {
                        *walk = pattern.begin(walks.epoch);
                    }
                    pattern.look(text, at, more, walk)
                }
                Finder::Matcher(matcher) => ask(&**matcher, text, at, more),
            };
            match look {
                Look::Match(_) if !waits => return (rule, look),
                Look::More => waits = true,
                Look::Match(_) | Look::No => {}
            }
        }
        (0, if waits { Look::More } else { Look::No })
    }

    /// A text that is whole: `None` if nothing in it changes.
    pub(super) fn whole(&self, text: &str, walks: &mut Walks) -> Result<Option<String>, Stopped> {
        if self.is_harmless(text) {
            return Ok(None);
        }
        walks.reset();
        let (mut place, mut out) = (Place::default(), Out::default());
        self.run(text, &mut place, walks, Then::End, &mut out)?;
        Ok(out.changed.then_some(out.text))
    }
}

/// Asks a matcher of somebody else, which may have bugs.
fn ask(matcher: &dyn Matcher, text: &str, at: usize, more: bool) -> Look {
    let longest = matcher.longest().min(LONGEST);
    let window = at + longest + AHEAD;
    // The answer must not depend on how much happens to be there.
    let more = more && text.len() < window;
    let text = &text[..text.floor_char_boundary(window)];
    match matcher.look(text, at, more) {
        Look::More if !more => Look::No,
        Look::Match(end) => Look::Match(text.ceil_char_boundary(end.max(at + 1))),
        look => look,
    }
}

/// Lets text go that is in no match.
fn pass(text: &str, place: &mut Place, until: usize, out: &mut Out) {
    let begin = place.from.max(place.shown).min(until);
    out.text.push_str(&text[begin..until]);
    place.from = until;
}

fn act(
    action: &Action,
    text: &str,
    begin: usize,
    end: usize,
    shown: usize,
    out: &mut Out,
) -> Result<(), Stopped> {
    if matches!(action.0, Kind::Stop) {
        return Err(Stopped);
    }
    if end <= shown {
        // It has left already, in a pause.
        return Ok(());
    }
    out.changed = true;
    match &action.0 {
        Kind::Stop => {}
        Kind::Text(mask) => out.text.push_str(mask),
        Kind::Replace(replace) => out.text.push_str(&replace(&text[begin..end])),
        Kind::Chars(mask) => {
            let left = text[begin.max(shown)..end].chars();
            out.text.extend(left.map(|_| *mask));
        }
    }
    Ok(())
}
