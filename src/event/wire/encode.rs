use crate::{
    event::{
        AgentEvent, Completed, Cost, Failure, Retrying, ToolEnded, ToolStarted, Usage, UsageSource,
        failure::RETRY_AFTER,
    },
    json::{Sink, Writer},
};

pub(super) fn event(event: &AgentEvent, out: &mut impl Sink) {
    match event {
        AgentEvent::Text(text) => {
            let mut members = Writer::event(out, "text");
            members.string("delta", &text.delta);
            members.end(&text.extra);
        }
        AgentEvent::Thinking(thinking) => {
            let mut members = Writer::event(out, "thinking");
            members.string("delta", &thinking.delta);
            members.end(&thinking.extra);
        }
        AgentEvent::ToolStarted(tool) => tool_started(tool, out),
        AgentEvent::ToolEnded(tool) => tool_ended(tool, out),
        AgentEvent::Retrying(event) => retrying(event, out),
        AgentEvent::Usage(record) => usage(record, out),
        AgentEvent::Extension(extension) => out.push_str(extension.json().as_str()),
        AgentEvent::Completed(event) => completed(event, out),
        AgentEvent::Failed(failure) => failed(failure, out),
    }
}

fn tool_started(tool: &ToolStarted, out: &mut impl Sink) {
    let mut members = Writer::event(out, "tool_started");
    members.string("id", &tool.id);
    members.string("name", &tool.name);
    members.raw("args", tool.args.as_str());
    members.end(&tool.extra);
}

fn tool_ended(tool: &ToolEnded, out: &mut impl Sink) {
    let mut members = Writer::event(out, "tool_ended");
    members.string("id", &tool.id);
    members.bool("isError", tool.is_error);
    members.raw("content", tool.content.as_str());
    members.end(&tool.extra);
}

fn retrying(retrying: &Retrying, out: &mut impl Sink) {
    let mut members = Writer::event(out, "retrying");
    members.raw("attempt", retrying.attempt.as_str());
    members.raw("maxAttempts", retrying.max_attempts.as_str());
    members.raw("delayMs", retrying.delay_ms.as_str());
    members.string("reason", &retrying.reason);
    members.end(&retrying.extra);
}

fn completed(completed: &Completed, out: &mut impl Sink) {
    let mut members = Writer::event(out, "completed");
    if let Some(data) = &completed.data {
        members.raw("data", data.as_str());
    }
    members.end(&completed.extra);
}

fn failed(failure: &Failure, out: &mut impl Sink) {
    let mut members = Writer::event(out, "failed");
    members.string("details", failure.details());
    members.bool("retryable", failure.is_retryable());
    if let Some(code) = failure.code() {
        members.string("code", code.as_str());
    }
    if let Some(delay) = failure.after() {
        members.u64(
            RETRY_AFTER,
            u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
        );
    }
    members.end(failure.extra());
}

fn usage(usage: &Usage, out: &mut impl Sink) {
    let mut members = Writer::event(out, "usage");
    members.string("id", &usage.id);
    if let Some(provider) = &usage.provider {
        members.string("provider", provider);
    }
    if let Some(model) = &usage.model {
        members.string("model", model);
    }
    for (name, counter) in [
        ("input", usage.input),
        ("output", usage.output),
        ("cacheRead", usage.cache_read),
        ("cacheWrite", usage.cache_write),
        ("reasoning", usage.reasoning),
        ("total", usage.total),
    ] {
        if let Some(tokens) = counter {
            members.u64(name, tokens);
        }
    }
    if let Some(money) = &usage.cost {
        members.with("cost", |out| cost(money, out));
    }
    if let Some(source) = usage.source.as_ref().map(UsageSource::as_str) {
        members.string("source", source);
    }
    if let Some(is_final) = usage.is_final {
        members.bool("final", is_final);
    }
    members.end(&usage.extra);
}

fn cost(cost: &Cost, out: &mut impl Sink) {
    let mut members = Writer::new(out);
    members.string("amount", &cost.amount);
    members.string("currency", &cost.currency);
    members.end(&cost.extra);
}
