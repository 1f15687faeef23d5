use std::fmt::Write;

use super::super::{Bounds, Invalid, Violation};

/// Where a decoder is, and what it found so far.
pub(crate) struct Context {
    /// `None` when reading leniently.
    bounds: Option<Bounds>,
    path: Vec<Segment>,
    violations: Vec<Violation>,
}

enum Segment {
    Member(&'static str),
    Index(usize),
    Key(String),
}

impl Context {
    /// Reads strictly within bounds, leniently without.
    pub(super) const fn new(bounds: Option<Bounds>) -> Self {
        Self {
            bounds,
            path: Vec::new(),
            violations: Vec::new(),
        }
    }

    /// The bounds, when reading strictly.
    pub(crate) const fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_ref()
    }

    pub(crate) const fn is_strict(&self) -> bool {
        self.bounds.is_some()
    }

    /// Goes into a member while `f` runs.
    pub(crate) fn within<R>(&mut self, member: &'static str, f: impl FnOnce(&mut Self) -> R) -> R {
        self.enter(Segment::Member(member), f)
    }

    pub(super) fn within_index<R>(&mut self, index: usize, f: impl FnOnce(&mut Self) -> R) -> R {
        self.enter(Segment::Index(index), f)
    }

    pub(super) fn within_key<R>(&mut self, key: String, f: impl FnOnce(&mut Self) -> R) -> R {
        self.enter(Segment::Key(key), f)
    }

    fn enter<R>(&mut self, segment: Segment, f: impl FnOnce(&mut Self) -> R) -> R {
        self.path.push(segment);
        let result = f(self);
        self.path.pop();
        result
    }

    /// Notes a fault of what is being read.
    pub(crate) fn violation(&mut self, description: impl Into<String>) {
        if self.violations.len() < MAX_VIOLATIONS {
            let path = self.path();
            self.violations.push(Violation::new(path, description));
        }
    }

    fn path(&self) -> String {
        let mut path = String::new();
        for segment in &self.path {
            if !path.is_empty() && !matches!(segment, Segment::Index(_)) {
                path.push('.');
            }
            match segment {
                Segment::Member(name) => path.push_str(name),
                Segment::Index(index) => {
                    write!(path, "[{index}]").expect("writing to a string does not fail");
                }
                Segment::Key(key) => path.push_str(key),
            }
        }
        path
    }

    pub(crate) const fn is_clean(&self) -> bool {
        self.violations.is_empty()
    }

    pub(super) fn into_invalid(self) -> Invalid {
        Invalid::new(self.violations)
    }
}

/// Nobody reads more, and a hostile body could have a million.
const MAX_VIOLATIONS: usize = 32;
