use std::time::{Duration, Instant};

use super::Scope;
use crate::json::{DecodeError, Extra, Member, Members, Sink, Writer, nests};

pub(super) const KNOWN: [&str; 4] = ["session", "source", "constraints", "outputSchema"];
pub(super) const KNOWN_CONSTRAINTS: [&str; 1] = ["deadlineMs"];

impl Scope {
    /// How many bytes `session` and `source` may have on a wire, each. Layers keep things by
    /// these names, so a stranger must not choose how much memory a name takes.
    pub const MAX_NAME: usize = 1024;

    /// Reads what may come over a wire: `session`, `source`, `constraints.deadlineMs`,
    /// `outputSchema`. Everything else is kept and means nothing: a `principal`, `tenant` or
    /// `grant` in the text gives nobody a name or a right.
    ///
    /// The deadline is counted from now, see [`from_json_at`](Self::from_json_at).
    ///
    /// # Errors
    /// When the text is not one JSON object with a string `session`; when a known member has
    /// another type, null included; when `deadlineMs` is not written as digits only, or does not
    /// fit a clock; when a name is longer than [`MAX_NAME`](Self::MAX_NAME); when a
    /// member name occurs twice in the scope or its constraints; when it nests deeper than 128.
    pub fn from_json(text: &str) -> Result<Self, DecodeError> {
        Self::from_json_at(text, Instant::now())
    }

    /// Reads a scope that came in at a given time, see [`from_json`](Self::from_json). On a
    /// wire the deadline is the milliseconds that remain, so that no two clocks have to agree.
    ///
    /// # Errors
    /// As [`from_json`](Self::from_json).
    pub fn from_json_at(text: &str, now: Instant) -> Result<Self, DecodeError> {
        decode(text, now).map_err(|error| error.within("scope"))
    }

    /// What may go over a wire, on one line. The deadline is counted from now.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_json_at(Instant::now())
    }

    /// What may go over a wire, on one line, to be sent at a given time. What remains of the
    /// deadline is rounded down to whole milliseconds; a deadline that has passed is 0.
    #[must_use]
    pub fn to_json_at(&self, now: Instant) -> String {
        let mut out = String::new();
        encode(self, now, &mut out);
        out
    }
}

nests!(Scope);

fn decode(text: &str, now: Instant) -> Result<Scope, DecodeError> {
    let mut session = None;
    let mut scope = Scope::new("");
    let inner = scope.inner();
    for member in Members::read(text)?.iter() {
        match &*member.name() {
            b"session" => session = Some(name(member)?),
            b"source" => inner.source = Some(name(member)?),
            b"constraints" => {
                (inner.deadline, inner.constraints_extra) =
                    constraints(member, now).map_err(|error| error.within("scope constraints"))?;
            }
            b"outputSchema" => inner.output_schema = Some(member.json()),
            _ => inner.extra.push(member),
        }
    }
    inner.session = session.ok_or_else(|| DecodeError::missing("session"))?;
    Ok(scope)
}

fn name(member: &Member<'_>) -> Result<String, DecodeError> {
    let name = member.string()?;
    if name.len() > Scope::MAX_NAME {
        return Err(member.unfit("at most 1024 bytes", "more"));
    }
    Ok(name.into_owned())
}

fn constraints(member: &Member<'_>, now: Instant) -> Result<(Option<Instant>, Extra), DecodeError> {
    let (mut deadline, mut extra) = (None, Extra::new());
    for member in member.object()?.iter() {
        match &*member.name() {
            // Wrong digits are refused: a deadline that is passed on unread binds nobody.
            b"deadlineMs" => {
                let millis = member
                    .digits()
                    .ok_or_else(|| member.wrong("a whole number"))?;
                deadline = Some(now.checked_add(Duration::from_millis(millis)).ok_or_else(
                    || member.unfit("a time that the clock can show", "a later one"),
                )?);
            }
            _ => extra.push(member),
        }
    }
    Ok((deadline, extra))
}

fn encode(scope: &Scope, now: Instant, out: &mut impl Sink) {
    let scope = &*scope.0;
    let mut members = Writer::new(out);
    members.string("session", &scope.session);
    if let Some(source) = &scope.source {
        members.string("source", source);
    }
    if scope.deadline.is_some() || !scope.constraints_extra.is_empty() {
        members.with("constraints", |out| {
            let mut members = Writer::new(out);
            if let Some(deadline) = scope.deadline {
                let remains = deadline.saturating_duration_since(now).as_millis();
                members.u64("deadlineMs", u64::try_from(remains).unwrap_or(u64::MAX));
            }
            members.end(&scope.constraints_extra);
        });
    }
    if let Some(schema) = &scope.output_schema {
        members.raw("outputSchema", schema.as_str());
    }
    members.end(&scope.extra);
}
