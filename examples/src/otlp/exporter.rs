use std::{error::Error, time::Duration};

use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::{
    Resource,
    trace::{SdkTracerProvider, Tracer},
};
use tracing::Subscriber;
use tracing_opentelemetry::OpenTelemetryLayer;
use tracing_subscriber::registry::LookupSpan;

use super::client::Client;

/// Sends spans to a collector, in batches, from a thread of its own.
#[derive(Debug)]
pub struct Exporter {
    provider: SdkTracerProvider,
}

impl Exporter {
    /// Sends to `http://host:4318/v1/traces` for instance; without an address, where the
    /// environment says (`OTEL_EXPORTER_OTLP_ENDPOINT`), or else to this machine. Of `service`,
    /// which names the program.
    ///
    /// # Errors
    /// When the address is none.
    ///
    /// # Panics
    /// Outside of a tokio runtime.
    pub fn new(service: &'static str, traces: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let limit = Duration::from_secs(10);
        let mut exporter = SpanExporter::builder()
            .with_http()
            .with_http_client(Client::new(limit))
            .with_timeout(limit);
        if let Some(traces) = traces {
            exporter = exporter.with_endpoint(traces);
        }
        let resource = Resource::builder().with_service_name(service).build();
        let provider = SdkTracerProvider::builder()
            .with_batch_exporter(exporter.build()?)
            .with_resource(resource)
            .build();
        Ok(Self { provider })
    }

    /// What a subscriber needs: a layer that turns spans into OpenTelemetry's.
    #[must_use]
    pub fn layer<S>(&self) -> OpenTelemetryLayer<S, Tracer>
    where
        S: Subscriber + for<'a> LookupSpan<'a>,
    {
        tracing_opentelemetry::layer().with_tracer(self.provider.tracer("portcullis"))
    }

    /// Sends what is left, and ends.
    ///
    /// # Errors
    /// When the collector cannot be reached in time.
    pub async fn end(self) -> Result<(), Box<dyn Error + Send + Sync>> {
        // It blocks until its thread is done, which needs this runtime.
        let ended = tokio::task::spawn_blocking(move || self.provider.shutdown());
        Ok(ended.await??)
    }
}
