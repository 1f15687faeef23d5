//! Compares what a server said with what the examples say it says.
//!
//! Ids are the server's to make and times are of its clock, so an id of an example stands for
//! whichever id came in its place, the same one from then on, and a time for any time in the form
//! of the protocol. Ids that the client made (`m-u…`, `my-own-id`, `nope`) stand for themselves.

use std::collections::HashMap;

use serde_json::{Map, Value};

#[derive(Debug, Default)]
pub(crate) struct Names {
    real: HashMap<String, String>,
    example: HashMap<String, String>,
}

impl Names {
    /// Puts the real ids into a request of the examples.
    pub(crate) fn resolve(&self, request: &str) -> String {
        // Each quoted text once: a real id may be what another example is called.
        let pieces: Vec<_> = request
            .split('"')
            .map(|piece| self.real.get(piece).map_or(piece, String::as_str))
            .collect();
        pieces.join("\"")
    }

    pub(crate) fn real(&self, example: &str) -> &str {
        &self.real[example]
    }

    /// # Panics
    /// When they differ, saying where.
    pub(crate) fn same(&mut self, got: &Value, want: &str) {
        let want: Value =
            serde_json::from_str(want).unwrap_or_else(|error| panic!("{error}: {want}"));
        if let Err(at) = self.value("", got, &want) {
            panic!("differs at {at}\n got: {got:#}\nwant: {want:#}");
        }
    }

    fn value(&mut self, at: &str, got: &Value, want: &Value) -> Result<(), String> {
        let same = match (got, want) {
            (Value::Object(got), Value::Object(want)) => return self.object(at, got, want),
            (Value::Array(got), Value::Array(want)) => {
                if got.len() != want.len() {
                    return Err(format!("{at}: {} items, not {}", got.len(), want.len()));
                }
                for (index, (got, want)) in got.iter().zip(want).enumerate() {
                    self.value(&format!("{at}[{index}]"), got, want)?;
                }
                true
            }
            (Value::Number(got), Value::Number(want)) => got.as_f64() == want.as_f64(),
            (got, want) => got == want,
        };
        same.then_some(())
            .ok_or_else(|| format!("{at}: {got}, not {want}"))
    }

    fn object(
        &mut self,
        at: &str,
        got: &Map<String, Value>,
        want: &Map<String, Value>,
    ) -> Result<(), String> {
        if let Some(more) = got.keys().find(|key| !want.contains_key(*key)) {
            return Err(format!("{at}: there is {more:?}"));
        }
        for (key, want) in want {
            let at = format!("{at}.{key}");
            let got = got.get(key).ok_or_else(|| format!("{at}: missing"))?;
            match (key.as_str(), got, want) {
                ("timestamp", Value::String(got), Value::String(_)) => time(got).ok_or(at)?,
                // The id of a call is a member of the same name beside `jsonrpc`.
                (
                    "id" | "taskId" | "contextId" | "messageId",
                    Value::String(got),
                    Value::String(want),
                ) if !at.starts_with(".id") => {
                    self.id(got, want)
                        .ok_or_else(|| format!("{at}: {got:?}, not {want:?}"))?;
                }
                ("nextPageToken", Value::String(got), Value::String(want)) if !want.is_empty() => {
                    self.id(got, want).ok_or(at)?;
                }
                _ => self.value(&at, got, want)?,
            }
        }
        Ok(())
    }

    fn id(&mut self, got: &str, want: &str) -> Option<()> {
        if ["m-u", "my-own", "nope"]
            .iter()
            .any(|own| want.starts_with(own))
        {
            return (got == want).then_some(());
        }
        let real = self
            .real
            .entry(want.to_owned())
            .or_insert_with(|| got.to_owned());
        let example = self
            .example
            .entry(got.to_owned())
            .or_insert_with(|| want.to_owned());
        (real == got && example == want).then_some(())
    }
}

/// `2026-01-15T10:00:00.000Z`
fn time(text: &str) -> Option<()> {
    let form = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect::<String>();
    (form == "0000-00-00T00:00:00.000Z").then_some(())
}
