use crate::model::Violation;

/// What was found so far.
#[derive(Debug, Default)]
pub(super) struct Findings {
    pub(super) faults: Vec<Violation>,
    pub(super) advice: Vec<Violation>,
}

impl Findings {
    pub(super) fn fault(&mut self, path: impl Into<String>, what: impl Into<String>) {
        self.faults.push(Violation::new(path, what));
    }

    pub(super) fn advise(&mut self, path: impl Into<String>, what: impl Into<String>) {
        self.advice.push(Violation::new(path, what));
    }

    /// A text that has to say something. Answers whether it does.
    pub(super) fn required(&mut self, path: &str, text: &str) -> bool {
        let says = !text.trim().is_empty();
        if !says {
            self.fault(path, "required");
        }
        says
    }

    /// A text that may be empty by the letter (A2A-DATA-20).
    pub(super) fn wanted(&mut self, path: &str, text: &str) {
        if text.trim().is_empty() {
            self.advise(path, "says nothing");
        }
    }
}
