use crate::json::{Extra, ExtraMut, Json};

/// A tool begins. Pairing with [`ToolEnded`] is by id and is not guaranteed: after
/// a cancellation or a cut a start may dangle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolStarted {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) args: Json,
    pub(super) extra: Extra,
}

impl ToolStarted {
    /// A tool begins.
    #[must_use]
    pub fn new(id: impl Into<String>, name: impl Into<String>, args: Json) -> Self {
        Self {
            id: id.into(),
            name: name.into(),
            args,
            extra: Extra::new(),
        }
    }

    /// Pairs the start with its end.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The tool.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The arguments.
    #[must_use]
    pub const fn args(&self) -> &Json {
        &self.args
    }

    /// Replaces the arguments.
    pub fn set_args(&mut self, args: Json) {
        self.args = args;
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, &["type", "id", "name", "args"])
    }
}

/// A tool has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolEnded {
    pub(super) id: String,
    pub(super) is_error: bool,
    pub(super) content: Json,
    pub(super) extra: Extra,
}

impl ToolEnded {
    /// A tool has ended.
    #[must_use]
    pub fn new(id: impl Into<String>, is_error: bool, content: Json) -> Self {
        Self {
            id: id.into(),
            is_error,
            content,
            extra: Extra::new(),
        }
    }

    /// Pairs the end with its start.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Whether the tool failed.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        self.is_error
    }

    /// What the tool gave.
    #[must_use]
    pub const fn content(&self) -> &Json {
        &self.content
    }

    /// Replaces what the tool gave.
    pub fn set_content(&mut self, content: Json) {
        self.content = content;
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, &["type", "id", "isError", "content"])
    }
}
