use serde_json::value::RawValue;

use crate::{
    model::{Error, ErrorKind},
    wire::{self, Members, json_string},
};

/// The JSON object that a body is. Nothing, and null, are an empty one: clients send either where
/// no body is due (A2A-REST-6, O-R04).
///
/// # Errors
/// The body is no JSON. An array or a number goes through: what reads it says what is wrong.
pub(super) fn object(body: &[u8]) -> Result<&str, Error> {
    // Nothing here recurses, however deep the body nests (O-W12).
    let text = str::from_utf8(body).map_err(|_| ErrorKind::Parse)?.trim();
    if text.is_empty() {
        return Ok("{}");
    }
    let whole: &RawValue = serde_json::from_str(text).map_err(|_| ErrorKind::Parse)?;
    Ok(match whole.get() {
        "null" => "{}",
        text => text,
    })
}

/// A body, and members that the address holds. Where both have one, they must be the same
/// (A2A-REST-5).
///
/// # Errors
/// The body says something else than the address.
pub(super) fn with_members(
    body: &str,
    of_address: &[(&'static str, String)],
) -> Result<String, Error> {
    if of_address.is_empty() {
        return Ok(body.to_owned());
    }
    let Ok(Members(of_body)) = serde_json::from_str(body) else {
        // No object: for whoever reads it.
        return Ok(body.to_owned());
    };
    let mut members: Vec<(String, String)> = of_address
        .iter()
        .map(|(name, value)| ((*name).to_owned(), json_string(value)))
        .collect();
    for (name, value) in of_body {
        let twin = of_address
            .iter()
            .find(|(known, _)| name == *known || (*known == "taskId" && name == "task_id"));
        match twin {
            Some((known, said)) => agrees(known, said, value)?,
            None => members.push((name, value.get().to_owned())),
        }
    }
    Ok(wire::object(&members))
}

fn agrees(name: &str, of_address: &str, of_body: &RawValue) -> Result<(), Error> {
    let unset = matches!(of_body.get(), "null" | "\"\"");
    let same =
        || serde_json::from_str::<String>(of_body.get()).is_ok_and(|of_body| of_body == of_address);
    if unset || same() {
        return Ok(());
    }
    Err(Error::invalid_param(name, "does not match the address"))
}
