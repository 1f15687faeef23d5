use regex_automata::{
    Anchored, Input,
    dfa::{Automaton, StartKind, dense},
    meta,
    nfa::thompson,
    util::{primitives::StateID, start},
};
use regex_syntax::hir::{Hir, HirKind, Repetition};

use super::{Look, error::Why};

/// Nobody may make a guard hold more than this.
pub(super) const LONGEST: usize = 64 * 1024;

/// What a match may look at behind its end: one character.
pub(super) const AHEAD: usize = 4;

/// A regular expression that is matched piece by piece, with the result of the whole text.
///
/// Two automata. `open` says how long a match that begins at a place can still become one: it
/// knows no assertions (and perhaps no counts), so it may say yes too often, never too rarely.
/// Once it says no, or `longest` is reached, whatever comes changes nothing, and `exact` is
/// asked.
#[derive(Debug)]
pub(super) struct Pattern {
    open: dense::DFA<Vec<u32>>,
    start: StateID,
    exact: meta::Regex,
    longest: usize,
    /// Whether what is behind a match may matter.
    asserts: bool,
}

/// How far a match that may begin somewhere has been followed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Walk {
    state: StateID,
    bytes: usize,
    over: bool,
    /// `open` has seen a match.
    matched: bool,
    pub(super) epoch: u64,
}

impl Walk {
    pub(super) const NEW: Self = Self {
        state: StateID::ZERO,
        bytes: 0,
        over: false,
        matched: false,
        epoch: 0,
    };
}

impl Pattern {
    pub(super) fn new(pattern: &str, bound: Option<usize>) -> Result<Self, Why> {
        let hir = regex_syntax::Parser::new()
            .parse(pattern)
            .map_err(|error| {
                // The whole message shows the pattern.
                Why::Syntax(match error {
                    regex_syntax::Error::Parse(error) => error.kind().to_string(),
                    regex_syntax::Error::Translate(error) => error.kind().to_string(),
                    _ => "it is no regular expression".to_owned(),
                })
            })?;
        let shortest = hir.properties().minimum_len().ok_or(Why::Never)?;
        if shortest == 0 {
            return Err(Why::Empty);
        }
        let longest = bound
            .or(hir.properties().maximum_len())
            .ok_or(Why::Unbounded)?;
        if longest < shortest {
            return Err(Why::BadBound);
        }
        if longest > LONGEST {
            return Err(Why::TooLong);
        }
        let open = automaton(&plain(&hir, true), 256 << 10)
            .or_else(|| automaton(&plain(&hir, false), 8 << 20))
            .ok_or(Why::TooBig)?;
        let start = start::Config::new().anchored(Anchored::Yes);
        let start = open.start_state(&start).map_err(|_| Why::TooBig)?;
        let exact = meta::Builder::new()
            .build_from_hir(&hir)
            .map_err(|_| Why::TooBig)?;
        Ok(Self {
            open,
            start,
            exact,
            longest,
            asserts: !hir.properties().look_set().is_empty(),
        })
    }

    pub(super) fn begins_with(&self, byte: u8) -> bool {
        !self
            .open
            .is_dead_state(self.open.next_state(self.start, byte))
    }

    pub(super) const fn begin(&self, epoch: u64) -> Walk {
        Walk {
            state: self.start,
            epoch,
            ..Walk::NEW
        }
    }

    pub(super) fn look(&self, text: &str, at: usize, more: bool, walk: &mut Walk) -> Look {
        let bytes = text.as_bytes();
        let window = at + self.longest + AHEAD;
        let until = window.min(bytes.len());
        while !walk.over && at + walk.bytes < until {
            walk.state = self.open.next_state(walk.state, bytes[at + walk.bytes]);
            walk.bytes += 1;
            if self.open.is_special_state(walk.state) {
                // A match shows one byte late, so what is behind it has come.
                let matches = self.open.is_match_state(walk.state);
                walk.matched |= matches;
                walk.over =
                    self.open.is_dead_state(walk.state) || matches && self.is_spent(walk.state);
            }
        }
        if !walk.over && until < window {
            let end = self.open.next_eoi_state(walk.state);
            let matches = self.open.is_match_state(end);
            if more && !(matches && self.is_complete(walk.state)) {
                return Look::More;
            }
            walk.matched |= matches;
        }
        if !walk.matched {
            return Look::No;
        }
        let end = text.floor_char_boundary(at + self.longest);
        let input = Input::new(text).span(at..end).anchored(Anchored::Yes);
        match self.exact.find(input) {
            Some(found) => Look::Match(found.end()),
            None => Look::No,
        }
    }

    /// Whether nothing longer can come of a match, whatever is behind it.
    fn is_complete(&self, state: StateID) -> bool {
        let mut spent = None;
        !self.asserts
            && (0..=u8::MAX).all(|byte| {
                let next = self.open.next_state(state, byte);
                // Mostly it is the same for all.
                if spent != Some(next) && self.is_spent(next) {
                    spent = Some(next);
                }
                spent == Some(next)
            })
    }

    /// Whether nothing can follow.
    fn is_spent(&self, state: StateID) -> bool {
        (0..=u8::MAX).all(|byte| {
            let next = self.open.next_state(state, byte);
            self.open.is_dead_state(next)
        })
    }
}

fn automaton(hir: &Hir, most: usize) -> Option<dense::DFA<Vec<u32>>> {
    let nfa = thompson::Compiler::new()
        .configure(
            thompson::Config::new()
                .which_captures(thompson::WhichCaptures::None)
                .nfa_size_limit(Some(8 << 20)),
        )
        .build_from_hir(hir)
        .ok()?;
    dense::Builder::new()
        .configure(
            dense::Config::new()
                .start_kind(StartKind::Anchored)
                // All: a match must not end what another one, with an assertion that
                // is not in here, may still become.
                .match_kind(regex_automata::MatchKind::All)
                .dfa_size_limit(Some(most))
                .determinize_size_limit(Some(2 * most)),
        )
        .build_from_nfa(&nfa)
        .ok()
}

/// The pattern without assertions, and without counts unless they are to be kept: whatever
/// the pattern matches, this one does too.
fn plain(hir: &Hir, counts: bool) -> Hir {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) => hir.clone(),
        HirKind::Look(_) => Hir::empty(),
        HirKind::Capture(capture) => plain(&capture.sub, counts),
        HirKind::Repetition(repetition) => {
            let (min, max) = match (repetition.min, repetition.max) {
                (min, max @ Some(0 | 1)) => (min, max),
                (min, max) if counts => (min, max),
                (min, _) => (min.min(1), None),
            };
            Hir::repetition(Repetition {
                min,
                max,
                greedy: repetition.greedy,
                sub: Box::new(plain(&repetition.sub, counts)),
            })
        }
        HirKind::Concat(parts) => Hir::concat(each(parts, counts)),
        HirKind::Alternation(parts) => Hir::alternation(each(parts, counts)),
    }
}

fn each(parts: &[Hir], counts: bool) -> Vec<Hir> {
    parts.iter().map(|part| plain(part, counts)).collect()
}
