use std::{
    fmt::Write as _,
    sync::{Arc, Mutex, PoisonError},
};

use portcullis_layers::receipt::Receipt;
use tracing::{
    Subscriber,
    field::{Field, Visit},
    span,
};
use tracing_subscriber::{Layer, layer::Context, registry::LookupSpan};

/// What layers tell through their hooks, until somebody prints it.
#[derive(Clone, Default)]
pub(crate) struct Witness(Arc<Mutex<Vec<String>>>);

impl Witness {
    pub(crate) fn say(&self, line: &str) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(line.to_owned());
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn receipt(&self, receipt: &Receipt) {
        let who = receipt
            .principal
            .as_ref()
            .map_or("nobody", |who| who.subject());
        self.say(&format!(
            "receipt: {who}, {} events, {} tools, {} attempts, {}",
            receipt.events,
            receipt.tools,
            receipt.attempts,
            receipt.outcome.as_str(),
        ));
    }
}

/// Tells of each span of a turn when it closes.
pub(crate) struct Spans(pub(crate) Witness);

#[derive(Default)]
struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        if ["otel.name", "portcullis.outcome", "error.type"].contains(&field.name()) {
            let _ = write!(self.0, " {}={value:?}", field.name());
        }
    }
}

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Spans {
    fn on_new_span(&self, attributes: &span::Attributes<'_>, id: &span::Id, cx: Context<'_, S>) {
        let mut fields = Fields::default();
        attributes.record(&mut fields);
        if let Some(span) = cx.span(id) {
            span.extensions_mut().insert(fields);
        }
    }

    fn on_record(&self, id: &span::Id, values: &span::Record<'_>, cx: Context<'_, S>) {
        if let Some(span) = cx.span(id)
            && let Some(fields) = span.extensions_mut().get_mut::<Fields>()
        {
            values.record(fields);
        }
    }

    fn on_close(&self, id: span::Id, cx: Context<'_, S>) {
        if let Some(span) = cx.span(&id)
            && let Some(fields) = span.extensions().get::<Fields>()
            && !fields.0.is_empty()
        {
            self.0.say(&format!("trace:{}", fields.0));
        }
    }
}
