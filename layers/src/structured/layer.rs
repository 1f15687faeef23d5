use std::{fmt, sync::Arc};

use portcullis::{Prompt, Scripted};
use tower_layer::Layer;

use super::{JsonSchema, Repair, Validator, cache::Cache};

pub(super) type MakePrompt = dyn Fn(&Repair<'_>) -> Prompt + Send + Sync;

/// Checks the data of turns that ask for it, and repairs them. See the [module docs](super).
///
/// Clones, and all services that one value makes, share its compiled schemas.
pub struct StructuredLayer<V: Validator = JsonSchema> {
    pub(super) validator: Arc<V>,
    pub(super) schemas: Arc<Cache<V::Schema>>,
    pub(super) repairs: u32,
    pub(super) text_as_data: bool,
    pub(super) most_held: usize,
    pub(super) make_prompt: Arc<MakePrompt>,
}

/// An agent whose data fits. See the [module docs](super).
pub type Structured<S, V = JsonSchema> = Scripted<S, StructuredLayer<V>>;

impl StructuredLayer {
    /// JSON Schema, and two repairs.
    #[must_use]
    pub fn new() -> Self {
        Self::with_validator(JsonSchema::new())
    }
}

impl Default for StructuredLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Validator> StructuredLayer<V> {
    /// Another language of schemas, or other bounds; and two repairs.
    #[must_use]
    pub fn with_validator(validator: V) -> Self {
        Self {
            validator: Arc::new(validator),
            schemas: Arc::new(Cache::new(64)),
            repairs: 2,
            text_as_data: false,
            most_held: 1 << 20,
            make_prompt: Arc::new(|repair: &Repair<'_>| repair.to_prompt()),
        }
    }

    /// So many repairs a turn. Zero is none.
    #[must_use]
    pub const fn repairs(mut self, repairs: u32) -> Self {
        self.repairs = repairs;
        self
    }

    /// Where a run has no data, its text is the data, if it is JSON. A fence of Markdown around it is
    /// not looked at.
    #[must_use]
    pub const fn text_as_data(mut self) -> Self {
        self.text_as_data = true;
        self
    }

    /// Holds so many bytes of text back, instead of a mebibyte. A run that says more is dropped.
    #[must_use]
    pub const fn max_text(mut self, bytes: usize) -> Self {
        self.most_held = bytes;
        self
    }

    /// Keeps so many compiled schemas, instead of 64. It begins anew: set it before the layer is used.
    #[must_use]
    pub fn max_schemas(mut self, schemas: usize) -> Self {
        self.schemas = Arc::new(Cache::new(schemas));
        self
    }

    /// Makes the prompt of a repair, instead of [`Repair::to_prompt`].
    #[must_use]
    pub fn repair_prompt(
        mut self,
        make: impl Fn(&Repair<'_>) -> Prompt + Send + Sync + 'static,
    ) -> Self {
        self.make_prompt = Arc::new(make);
        self
    }

    /// How many compiled schemas there are, for a gauge.
    #[must_use]
    pub fn schemas(&self) -> usize {
        self.schemas.len()
    }
}

impl<S, V: Validator> Layer<S> for StructuredLayer<V> {
    type Service = Structured<S, V>;

    fn layer(&self, inner: S) -> Structured<S, V> {
        Scripted::new(inner, self.clone())
    }
}

impl<V: Validator> Clone for StructuredLayer<V> {
    fn clone(&self) -> Self {
        Self {
            validator: Arc::clone(&self.validator),
            schemas: Arc::clone(&self.schemas),
            repairs: self.repairs,
            text_as_data: self.text_as_data,
            most_held: self.most_held,
            make_prompt: Arc::clone(&self.make_prompt),
        }
    }
}

impl<V: Validator> fmt::Debug for StructuredLayer<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StructuredLayer")
            .field("schemas", &self.schemas)
            .field("repairs", &self.repairs)
            .field("text_as_data", &self.text_as_data)
            .finish_non_exhaustive()
    }
}
