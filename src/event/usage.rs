use std::fmt;

use super::Cost;
use crate::json::{Extra, ExtraMut};

/// What one model call, or another billed operation, consumed.
///
/// One record a call, never a running total. `id` is unique within one run, and a
/// later record with the same id replaces the earlier one, counter by counter: an
/// absent counter keeps its value. Counters are inclusive: cache reads and writes
/// lie inside `input`, reasoning inside `output`. Absent means unknown, never zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    pub(super) id: String,
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) input: Option<u64>,
    pub(super) output: Option<u64>,
    pub(super) cache_read: Option<u64>,
    pub(super) cache_write: Option<u64>,
    pub(super) reasoning: Option<u64>,
    pub(super) total: Option<u64>,
    pub(super) cost: Option<Cost>,
    pub(super) source: Option<UsageSource>,
    pub(super) is_final: Option<bool>,
    pub(super) extra: Extra,
}

const KNOWN: [&str; 13] = [
    "type",
    "id",
    "provider",
    "model",
    "input",
    "output",
    "cacheRead",
    "cacheWrite",
    "reasoning",
    "total",
    "cost",
    "source",
    "final",
];

macro_rules! counters {
    ($($(#[$doc:meta])* $name:ident, $with:ident;)*) => {
        $($(#[$doc])*
        #[must_use]
        pub const fn $name(&self) -> Option<u64> {
            self.$name
        }

        #[doc = concat!("Sets [`", stringify!($name), "`](Self::", stringify!($name), ").")]
        #[must_use]
        pub const fn $with(mut self, tokens: u64) -> Self {
            self.$name = Some(tokens);
            self
        })*
    };
}

impl Usage {
    /// A record without any counter.
    #[must_use]
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// The call that the record is of.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Replaces the id; what a layer that invokes again does, so that nobody's bill
    /// is overwritten.
    pub fn set_id(&mut self, id: impl Into<String>) {
        self.id = id.into();
    }

    /// Makes the id unique over the runs of a turn: those of the second run begin with
    /// `2/`, and so on. What a layer that invokes again does with every record, in the
    /// stream and in the sink.
    ///
    /// No two runs of nested layers may give the same id: a first run is numbered too
    /// where its id looks numbered.
    pub fn number(&mut self, run: u32) {
        let looks_numbered = || {
            let number = self.id.split_once('/').map(|(number, _)| number);
            number.is_some_and(|number| {
                !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())
            })
        };
        if run > 1 || looks_numbered() {
            self.id = format!("{run}/{}", self.id);
        }
    }

    counters! {
        /// Tokens that went in, cached ones included.
        input, with_input;
        /// Tokens that came out, reasoning included.
        output, with_output;
        /// Tokens of `input` that a cache served.
        cache_read, with_cache_read;
        /// Tokens of `input` that were written to a cache.
        cache_write, with_cache_write;
        /// Tokens of `output` that the caller does not see.
        reasoning, with_reasoning;
        /// All tokens, where the provider says only that.
        total, with_total;
    }

    /// `total`, or else `input` + `output` with what is known of them.
    #[must_use]
    pub const fn tokens(&self) -> Option<u64> {
        match (self.total, self.input, self.output) {
            (Some(total), _, _) => Some(total),
            (None, None, None) => None,
            (None, Some(one), None) | (None, None, Some(one)) => Some(one),
            (None, Some(input), Some(output)) => Some(input.saturating_add(output)),
        }
    }

    /// Who made the call possible, `anthropic` for instance.
    #[must_use]
    pub fn provider(&self) -> Option<&str> {
        self.provider.as_deref()
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// Names the model.
    #[must_use]
    pub fn with_model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// Names the provider.
    #[must_use]
    pub fn with_provider(mut self, provider: impl Into<String>) -> Self {
        self.provider = Some(provider.into());
        self
    }

    /// What it cost. Absent means unpriced, never free.
    #[must_use]
    pub const fn cost(&self) -> Option<&Cost> {
        self.cost.as_ref()
    }

    /// Says what it cost.
    #[must_use]
    pub fn with_cost(mut self, cost: Cost) -> Self {
        self.cost = Some(cost);
        self
    }

    /// Who counted.
    #[must_use]
    pub const fn source(&self) -> Option<&UsageSource> {
        self.source.as_ref()
    }

    /// Says who counted.
    #[must_use]
    pub fn with_source(mut self, source: UsageSource) -> Self {
        self.source = Some(source);
        self
    }

    /// Whether the call is over. Until then the figures may be placeholders.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        !matches!(self.is_final, Some(false))
    }

    /// Says whether the call is over.
    #[must_use]
    pub const fn with_final(mut self, is_final: bool) -> Self {
        self.is_final = Some(is_final);
        self
    }

    /// Takes over what a later record of the same call says.
    pub fn replace_with(&mut self, later: &Self) {
        fn take<T: Clone>(mine: &mut Option<T>, theirs: Option<&T>) {
            if let Some(theirs) = theirs {
                *mine = Some(theirs.clone());
            }
        }
        take(&mut self.provider, later.provider.as_ref());
        take(&mut self.model, later.model.as_ref());
        take(&mut self.input, later.input.as_ref());
        take(&mut self.output, later.output.as_ref());
        take(&mut self.cache_read, later.cache_read.as_ref());
        take(&mut self.cache_write, later.cache_write.as_ref());
        take(&mut self.reasoning, later.reasoning.as_ref());
        take(&mut self.total, later.total.as_ref());
        take(&mut self.cost, later.cost.as_ref());
        take(&mut self.source, later.source.as_ref());
        take(&mut self.is_final, later.is_final.as_ref());
    }

    /// Members that this version does not know.
    #[must_use]
    pub const fn extra(&self) -> &Extra {
        &self.extra
    }

    /// Members that this version does not know, to be edited.
    pub const fn extra_mut(&mut self) -> ExtraMut<'_> {
        ExtraMut::new(&mut self.extra, &KNOWN)
    }
}

/// Who counted.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum UsageSource {
    /// The provider of the model.
    Provider,
    /// The engine, by its own reckoning.
    Estimate,
    /// Somebody else.
    Other(String),
}

impl UsageSource {
    /// The word on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Provider => "provider",
            Self::Estimate => "estimate",
            Self::Other(word) => word,
        }
    }

    pub(super) fn from_word(word: String) -> Self {
        match word.as_str() {
            "provider" => Self::Provider,
            "estimate" => Self::Estimate,
            _ => Self::Other(word),
        }
    }
}

impl fmt::Display for UsageSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
