use crate::json::{Extra, ExtraMut, Json};

macro_rules! delta {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $name {
            pub(super) delta: String,
            pub(super) extra: Extra,
        }

        impl $name {
            /// A piece.
            #[must_use]
            pub fn new(delta: impl Into<String>) -> Self {
                Self { delta: delta.into(), extra: Extra::new() }
            }

            /// The piece.
            #[must_use]
            pub fn delta(&self) -> &str {
                &self.delta
            }

            /// The piece, to be edited.
            pub const fn delta_mut(&mut self) -> &mut String {
                &mut self.delta
            }

            /// The piece, taken out.
            #[must_use]
            pub fn into_delta(self) -> String {
                self.delta
            }

            /// Members that this version does not know.
            #[must_use]
            pub const fn extra(&self) -> &Extra {
                &self.extra
            }

            /// Members that this version does not know, to be edited.
            pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
                ExtraMut::new(&mut self.extra, &["type", "delta"])
            }
        }
    };
}

delta! {
    /// A piece of the answer. All textual output of a turn is its text pieces, joined.
    Text
}

delta! {
    /// A piece of the model's reasoning: process, never folded into the answer.
    Thinking
}

/// Terminal: success. It does not repeat the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completed {
    pub(super) data: Option<Json>,
    pub(super) extra: Extra,
}

impl Completed {
    /// Success without data.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            data: None,
            extra: Extra::new(),
        }
    }

    /// Success with structured data. `Json::null()` is data too: null is not absent.
    #[must_use]
    pub const fn with_data(data: Json) -> Self {
        Self {
            data: Some(data),
            extra: Extra::new(),
        }
    }

    /// The structured data, if the engine made any.
    #[must_use]
    pub const fn data(&self) -> Option<&Json> {
        self.data.as_ref()
    }

    /// Sets or removes the structured data.
    pub fn set_data(&mut self, data: Option<Json>) {
        self.data = data;
    }

    /// The structured data, taken out.
    #[must_use]
    pub fn into_data(self) -> Option<Json> {
        self.data
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, &["type", "data"])
    }
}

impl From<()> for Completed {
    fn from((): ()) -> Self {
        Self::new()
    }
}

impl From<Json> for Completed {
    fn from(data: Json) -> Self {
        Self::with_data(data)
    }
}
