//! A turn becomes a span in a collector: a real one, over a socket, that reads what real ones read.

use std::{
    error::Error,
    sync::{Arc, Mutex},
};

use axum::{Router, body::Bytes, extract::State, routing::post};
use opentelemetry_proto::tonic::{
    collector::trace::v1::{ExportTraceServiceRequest, ExportTraceServiceResponse},
    common::v1::any_value::Value,
    trace::v1::{Span, span::SpanKind, status::StatusCode},
};
use portcullis::{
    AgentEvent, BoxAgent, Cost, Emitter, Failure, FailureCode, Prompt, Scope, TraceContext, Usage,
    agent_fn,
};
use portcullis_a2a::{
    binding::JsonRpc,
    client::Client,
    model::{Message, Part, SendMessageRequest},
    server::Server,
};
use portcullis_examples::{
    card,
    otlp::{Exporter, bridge},
};
use portcullis_layers::{ServiceBuilderExt, trace::TraceLayer};
use prost::Message as _;
use tower::ServiceBuilder;
use tracing_subscriber::{
    Layer, filter::LevelFilter, layer::SubscriberExt, util::SubscriberInitExt,
};

/// What a collector has received: the name of the service, and each span.
type Received = Arc<Mutex<Vec<(String, Span)>>>;

async fn collect(State(received): State<Received>, body: Bytes) -> Vec<u8> {
    let request = ExportTraceServiceRequest::decode(body).expect("protobuf");
    for resource in request.resource_spans {
        let attributes = resource.resource.expect("a resource").attributes;
        let service = attributes.iter().find(|at| at.key == "service.name");
        let service = text(&service.expect("a name").value);
        let spans = resource
            .scope_spans
            .into_iter()
            .flat_map(|scope| scope.spans);
        received
            .lock()
            .unwrap()
            .extend(spans.map(|span| (service.clone(), span)));
    }
    ExportTraceServiceResponse::default().encode_to_vec()
}

fn text(value: &Option<opentelemetry_proto::tonic::common::v1::AnyValue>) -> String {
    match value.as_ref().and_then(|value| value.value.as_ref()) {
        Some(Value::StringValue(text)) => text.clone(),
        Some(Value::IntValue(number)) => number.to_string(),
        Some(Value::DoubleValue(number)) => number.to_string(),
        Some(Value::BoolValue(flag)) => flag.to_string(),
        other => panic!("{other:?}"),
    }
}

/// An attribute of a span.
fn attribute(span: &Span, key: &str) -> Option<String> {
    let attribute = span.attributes.iter().find(|at| at.key == key)?;
    Some(text(&attribute.value))
}

fn hex(id: &[u8]) -> String {
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn traced(name: &'static str, engine: BoxAgent) -> Client<JsonRpc> {
    let agent = ServiceBuilder::new()
        .catch()
        .layer(TraceLayer::new().agent(name).on_span(bridge))
        .conform()
        .service(engine);
    let server = Server::agent(BoxAgent::new(agent), card("http://in.process/"));
    let address = "http://in.process/".parse().expect("an address");
    Client::new(JsonRpc::new(server), address)
}

fn message(text: &str) -> SendMessageRequest {
    SendMessageRequest::new(Message::user("m-1", [Part::text(text)]))
}

/// Answers, or fails if it is told to.
async fn model(_: Scope, prompt: Prompt, out: Emitter) -> Result<(), Failure> {
    let cost = Cost::new("0.0125", "USD").expect("a decimal number");
    let usage = Usage::new("call-1").with_model("large").with_input(30);
    out.emit(AgentEvent::text("a secret")).await;
    out.emit(usage.with_output(4).with_cost(cost)).await;
    match prompt.as_text() {
        "fail" => Err(Failure::with_code(FailureCode::UNAVAILABLE, "it sleeps")),
        _ => Ok(()),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn spans_arrive_with_their_attributes_and_parents() -> Result<(), Box<dyn Error>> {
    let received = Received::default();
    let collector = Router::new()
        .route("/v1/traces", post(collect))
        .with_state(Arc::clone(&received));
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}/v1/traces", listener.local_addr()?);
    let mut tasks = tokio::task::JoinSet::new();
    tasks.spawn(async { axum::serve(listener, collector).await });

    let exporter = Exporter::new("the-program", Some(&address))?;
    tracing_subscriber::registry()
        .with(exporter.layer().with_filter(LevelFilter::INFO))
        .init();
    let inner = traced("inner", BoxAgent::new(agent_fn(model)));
    // Asks the inner agent over A2A, in the trace that it is in itself.
    let outer = traced(
        "outer",
        BoxAgent::new(agent_fn(
            move |scope: Scope, prompt: Prompt, _: Emitter<_>| {
                let inner = inner
                    .clone()
                    .in_trace(scope.extensions().get::<TraceContext>());
                async move {
                    let answer = inner.send_message(&message(prompt.as_text())).await;
                    answer.map(drop).map_err(Failure::internal)
                }
            },
        )),
    );
    let trace = "4bf92f3577b34da6a3ce929d0e0e4736";
    let parent: TraceContext = format!("00-{trace}-00f067aa0ba902b7-01").parse()?;
    let parent = parent.with_tracestate("congo=t61rcWkgMzE")?;
    outer
        .clone()
        .in_trace(Some(&parent))
        .send_message(&message("hello"))
        .await?;
    outer.send_message(&message("fail")).await?;
    // Who asks says that nobody records the trace: neither do we.
    let unwatched: TraceContext = format!("00-{trace}-00f067aa0ba902b8-00").parse()?;
    outer
        .in_trace(Some(&unwatched))
        .send_message(&message("hello"))
        .await?;
    exporter
        .end()
        .await
        .map_err(|error| error as Box<dyn Error>)?;

    let received = received.lock().unwrap();
    let spans: Vec<&Span> = received.iter().map(|(_, span)| span).collect();
    assert!(received.iter().all(|(service, _)| service == "the-program"));
    assert_eq!(spans.len(), 4, "{spans:#?}");
    let find = |name: &str, watched: bool| {
        let mut found = spans
            .iter()
            .filter(|span| span.name == name && (hex(&span.trace_id) == trace) == watched);
        *found
            .next()
            .unwrap_or_else(|| panic!("no {name}: {spans:#?}"))
    };
    let (outer, inner) = (
        find("invoke_agent outer", true),
        find("invoke_agent inner", true),
    );
    assert_eq!(hex(&outer.parent_span_id), "00f067aa0ba902b7");
    assert_eq!(outer.trace_state, "congo=t61rcWkgMzE");
    assert_eq!(inner.parent_span_id, outer.span_id);
    assert_eq!(inner.trace_state, "congo=t61rcWkgMzE");
    assert_eq!(inner.kind, SpanKind::Internal as i32);
    assert!(inner.end_time_unix_nano > inner.start_time_unix_nano);
    assert!(outer.end_time_unix_nano >= inner.end_time_unix_nano);
    for (key, value) in [
        ("gen_ai.operation.name", "invoke_agent"),
        ("gen_ai.agent.name", "inner"),
        ("gen_ai.response.model", "large"),
        ("gen_ai.usage.input_tokens", "30"),
        ("gen_ai.usage.output_tokens", "4"),
        ("portcullis.source", "a2a"),
        ("portcullis.outcome", "completed"),
        ("portcullis.events", "3"),
        ("portcullis.model_calls", "1"),
        ("portcullis.cost", "0.0125 USD"),
        ("parent_id", &hex(&outer.span_id)),
    ] {
        assert_eq!(attribute(inner, key).as_deref(), Some(value), "{key}");
    }
    assert!(attribute(inner, "gen_ai.conversation.id").is_some_and(|id| !id.is_empty()));
    assert_eq!(attribute(inner, "error.type"), None);
    assert!(
        inner
            .status
            .as_ref()
            .is_none_or(|status| status.code() != StatusCode::Error)
    );
    // A trace of its own where nobody sent one, and the failure of the inner agent in it.
    let failed = find("invoke_agent inner", false);
    let root = find("invoke_agent outer", false);
    assert!(root.parent_span_id.is_empty());
    assert_eq!(
        (&failed.trace_id, &failed.parent_span_id),
        (&root.trace_id, &root.span_id)
    );
    assert_eq!(
        attribute(failed, "error.type").as_deref(),
        Some("unavailable")
    );
    assert_eq!(
        attribute(failed, "portcullis.outcome").as_deref(),
        Some("failed")
    );
    assert_eq!(
        failed.status.as_ref().map(|status| status.code()),
        Some(StatusCode::Error)
    );
    // Off by default: no word of what was said.
    assert!(!format!("{spans:?}").contains("secret"));
    Ok(())
}
