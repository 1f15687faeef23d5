use num_rational::BigRational;
use serde_json::json;

use super::{
    calc::{self, CalcError, Expr},
    calendar::{self, Question},
    tools::{Outcome, ToolError},
    units::{self, Unit},
};

/// What the agent says of itself.
pub(super) const HELP: &str = "I am desk, a program with a few tools; I am not a language model. \
I answer questions about one directory: \"how many lines of Rust are there\", \
\"count files by extension\", \"find TODO in src\", \"which files mention tower\", \
\"show me lines 3 to 10 of Cargo.toml\", \"what is in src\", \"what is the longest file\", \
\"scan everything\". I calculate exactly: \"what is 12*34\", \"and that in hex?\", \"20% of 50\". \
I convert units: \"how many feet are in a mile\". I know the calendar: \
\"how many days until 2027-01-01\". \"that\" is the last result. I only read, and I never leave \
my directory; hidden files and target I leave alone.";

/// For who asked something else.
pub(super) const HINT: &str = "I am a program with a few tools and not a language model; \
ask \"what can you do\" to see what I understand";

/// Works out a sum.
pub(super) fn sum(
    expr: &Expr,
    base: u32,
    that: Option<&BigRational>,
) -> Result<Outcome, ToolError> {
    let value = calc::evaluate(expr, that)?;
    let decimal = calc::decimal(&value);
    let mut data = json!({ "value": decimal.exact });
    if let Some(about) = &decimal.about {
        data["about"] = about.as_str().into();
    }
    let asked = expr.written(that);
    let mut sentence = if asked == decimal.exact {
        String::new()
    } else {
        format!("{asked} = {}", decimal.sentence())
    };
    if base != 10 {
        let based = calc::in_base(&value, base)?;
        let name = base_name(base);
        sentence = if sentence.is_empty() {
            format!("{} in {name} is {based}", decimal.exact)
        } else {
            format!("{sentence}, which in {name} is {based}")
        };
        data["base"] = base.into();
        data["inBase"] = based.into();
    } else if sentence.is_empty() {
        sentence = format!("That is {}", decimal.sentence());
    }
    let mut outcome = Outcome::said(format!("{sentence}."), data);
    outcome.number = Some((value, None));
    Ok(outcome)
}

fn base_name(base: u32) -> String {
    match base {
        2 => "binary".to_owned(),
        8 => "octal".to_owned(),
        16 => "hexadecimal".to_owned(),
        base => format!("base {base}"),
    }
}

/// Converts a quantity.
pub(super) fn convert(
    value: &Expr,
    from: &'static Unit,
    to: &'static Unit,
    that: Option<&BigRational>,
) -> Result<Outcome, ToolError> {
    let value = calc::evaluate(value, that)?;
    let converted = units::convert(&value, from, to).ok_or(ToolError::Units(from.name, to.name))?;
    let (written, result) = (calc::decimal(&value), calc::decimal(&converted));
    // A fraction of units is hard to read; the data has it exactly.
    let shown = result
        .about
        .as_ref()
        .map_or_else(|| result.exact.clone(), |about| format!("about {about}"));
    let sentence = format!("{} {} is {shown} {}.", written.exact, from.name, to.name);
    let mut data = json!({ "value": result.exact, "unit": to.name, "from": from.name });
    if let Some(about) = result.about {
        data["about"] = about.into();
    }
    let mut outcome = Outcome::said(sentence, data);
    outcome.number = Some((converted, Some(to)));
    Ok(outcome)
}

/// Answers about the calendar.
pub(super) fn date(question: &Question) -> Result<Outcome, ToolError> {
    let reply = calendar::answer(question, calendar::now()).ok_or(ToolError::Calendar)?;
    let mut outcome = Outcome::said(reply.sentence, json!({ "value": reply.value }));
    outcome.number = reply.number.map(|number| {
        (
            BigRational::from(num_bigint::BigInt::from(number)),
            Unit::named("days"),
        )
    });
    Ok(outcome)
}

/// Whether a tool failed because "that" refers to nothing.
pub(super) const fn nothing_before(error: &ToolError) -> bool {
    matches!(error, ToolError::Calc(CalcError::NothingBefore))
}
