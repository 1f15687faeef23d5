use crate::{
    event::{
        AgentEvent, Completed, Cost, Extension, Failure, Retrying, Text, Thinking, ToolEnded,
        ToolStarted, Usage, UsageSource, failure::RETRY_AFTER,
    },
    json::{DecodeError, Extra, Members},
};

pub(super) fn event(text: &str) -> Result<AgentEvent, DecodeError> {
    let members = Members::read(text).map_err(|error| error.within("event"))?;
    let type_name = match members.find(b"type") {
        Some(member) => member.string(),
        None => Err(DecodeError::missing("type")),
    }
    .map_err(|error| error.within("event"))?;
    match &*type_name {
        "text" => delta(&members)
            .map(|(delta, extra)| AgentEvent::Text(Text { delta, extra }))
            .map_err(|error| error.within("text event")),
        "thinking" => delta(&members)
            .map(|(delta, extra)| AgentEvent::Thinking(Thinking { delta, extra }))
            .map_err(|error| error.within("thinking event")),
        "tool_started" => tool_started(&members)
            .map(AgentEvent::from)
            .map_err(|error| error.within("tool_started event")),
        "tool_ended" => tool_ended(&members)
            .map(AgentEvent::from)
            .map_err(|error| error.within("tool_ended event")),
        "retrying" => retrying(&members)
            .map(AgentEvent::from)
            .map_err(|error| error.within("retrying event")),
        "completed" => Ok(AgentEvent::Completed(completed(&members))),
        "failed" => failed(&members)
            .map(AgentEvent::Failed)
            .map_err(|error| error.within("failed event")),
        "usage" => Ok(match usage(&members) {
            Ok(usage) => usage.into(),
            // Somebody else's `usage` passes as it is, unmetered.
            Err(_) => Extension::checked("usage", text).into(),
        }),
        unknown => Ok(Extension::checked(unknown, text).into()),
    }
}

/// A member that must be there.
fn required<T>(member: Option<T>, name: &'static str) -> Result<T, DecodeError> {
    member.ok_or_else(|| DecodeError::missing(name))
}

fn delta(members: &Members<'_>) -> Result<(String, Extra), DecodeError> {
    let (mut delta, mut extra) = (None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"delta" => delta = Some(member.string()?.into_owned()),
            _ => extra.push(member),
        }
    }
    Ok((required(delta, "delta")?, extra))
}

fn tool_started(members: &Members<'_>) -> Result<ToolStarted, DecodeError> {
    let (mut id, mut name, mut args, mut extra) = (None, None, None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"id" => id = Some(member.string()?.into_owned()),
            b"name" => name = Some(member.string()?.into_owned()),
            b"args" => args = Some(member.json()),
            _ => extra.push(member),
        }
    }
    Ok(ToolStarted {
        id: required(id, "id")?,
        name: required(name, "name")?,
        args: required(args, "args")?,
        extra,
    })
}

fn tool_ended(members: &Members<'_>) -> Result<ToolEnded, DecodeError> {
    let (mut id, mut is_error, mut content, mut extra) = (None, None, None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"id" => id = Some(member.string()?.into_owned()),
            b"isError" => is_error = Some(member.bool()?),
            b"content" => content = Some(member.json()),
            _ => extra.push(member),
        }
    }
    Ok(ToolEnded {
        id: required(id, "id")?,
        is_error: required(is_error, "isError")?,
        content: required(content, "content")?,
        extra,
    })
}

fn retrying(members: &Members<'_>) -> Result<Retrying, DecodeError> {
    let (mut attempt, mut max_attempts, mut delay_ms) = (None, None, None);
    let (mut reason, mut extra) = (None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"attempt" => attempt = Some(member.number()?),
            b"maxAttempts" => max_attempts = Some(member.number()?),
            b"delayMs" => delay_ms = Some(member.number()?),
            b"reason" => reason = Some(member.string()?.into_owned()),
            _ => extra.push(member),
        }
    }
    Ok(Retrying {
        attempt: required(attempt, "attempt")?,
        max_attempts: required(max_attempts, "maxAttempts")?,
        delay_ms: required(delay_ms, "delayMs")?,
        reason: required(reason, "reason")?,
        extra,
    })
}

fn completed(members: &Members<'_>) -> Completed {
    let (mut data, mut extra) = (None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"data" => data = Some(member.json()),
            _ => extra.push(member),
        }
    }
    Completed { data, extra }
}

fn failed(members: &Members<'_>) -> Result<Failure, DecodeError> {
    let (mut details, mut retryable, mut code) = (None, None, None);
    let (mut retry_after, mut extra) = (None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"type" => {}
            b"details" => details = Some(member.string()?.into_owned()),
            b"retryable" => retryable = Some(member.bool()?),
            b"code" => code = Some(member.string()?.into_owned()),
            name if name == RETRY_AFTER.as_bytes() => match member.digits() {
                Some(millis) => retry_after = Some(millis),
                // An addition of ours, so what others mean by it passes.
                None => extra.push(member),
            },
            _ => extra.push(member),
        }
    }
    let details = required(details, "details")?;
    let retryable = required(retryable, "retryable")?;
    Ok(Failure::from_wire(
        details,
        retryable,
        code,
        retry_after,
        extra,
    ))
}

fn usage(members: &Members<'_>) -> Result<Usage, DecodeError> {
    let (mut usage, mut id) = (Usage::default(), None);
    for member in members.iter() {
        let tokens = || {
            member
                .digits()
                .ok_or_else(|| member.wrong("a whole number"))
        };
        match &*member.name() {
            b"type" => {}
            b"id" => id = Some(member.string()?.into_owned()),
            b"provider" => usage.provider = Some(member.string()?.into_owned()),
            b"model" => usage.model = Some(member.string()?.into_owned()),
            b"input" => usage.input = Some(tokens()?),
            b"output" => usage.output = Some(tokens()?),
            b"cacheRead" => usage.cache_read = Some(tokens()?),
            b"cacheWrite" => usage.cache_write = Some(tokens()?),
            b"reasoning" => usage.reasoning = Some(tokens()?),
            b"total" => usage.total = Some(tokens()?),
            b"cost" => usage.cost = Some(cost(&member.object()?)?),
            b"source" => {
                usage.source = Some(UsageSource::from_word(member.string()?.into_owned()));
            }
            b"final" => usage.is_final = Some(member.bool()?),
            _ => usage.extra.push(member),
        }
    }
    usage.id = required(id, "id")?;
    Ok(usage)
}

fn cost(members: &Members<'_>) -> Result<Cost, DecodeError> {
    let (mut amount, mut currency, mut extra) = (None, None, Extra::new());
    for member in members.iter() {
        match &*member.name() {
            b"amount" => amount = Some(member.string()?.into_owned()),
            b"currency" => currency = Some(member.string()?.into_owned()),
            _ => extra.push(member),
        }
    }
    let currency = required(currency, "currency")?;
    let cost = Cost::new(required(amount, "amount")?, currency)
        .ok_or_else(|| DecodeError::new("a decimal number", "another text"))?;
    Ok(Cost { extra, ..cost })
}
