use std::{error::Error, fmt};

use serde::{Serialize, Serializer, ser::SerializeMap};

/// What was sent is not as the protocol has it: every fault that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    violations: Vec<Violation>,
}

impl Invalid {
    pub(in crate::model) const fn new(violations: Vec<Violation>) -> Self {
        Self { violations }
    }

    /// One fault, of a member; the whole body if `field` is empty.
    #[must_use]
    pub fn one(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self::new(vec![Violation::new(field, description)])
    }

    /// The faults.
    #[must_use]
    pub fn violations(&self) -> &[Violation] {
        &self.violations
    }

    pub(super) fn into_violations(self) -> Vec<Violation> {
        self.violations
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, violation) in self.violations.iter().enumerate() {
            if index > 0 {
                f.write_str("; ")?;
            }
            fmt::Display::fmt(violation, f)?;
        }
        Ok(())
    }
}

impl Error for Invalid {}

/// One fault: where, and what should be there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    field: String,
    description: String,
}

impl Violation {
    /// What is wrong with a member.
    #[must_use]
    pub fn new(field: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            field: field.into(),
            description: description.into(),
        }
    }

    /// The path of the member, as in `message.parts[0]`.
    #[must_use]
    pub fn field(&self) -> &str {
        &self.field
    }

    /// What should be there.
    #[must_use]
    pub fn description(&self) -> &str {
        &self.description
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.field.is_empty() {
            f.write_str(&self.description)
        } else {
            write!(f, "{}: {}", self.field, self.description)
        }
    }
}

impl Serialize for Violation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(Some(2))?;
        object.serialize_entry("field", &self.field)?;
        object.serialize_entry("description", &self.description)?;
        object.end()
    }
}
