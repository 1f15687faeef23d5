use base64::{
    Engine,
    alphabet::{STANDARD, URL_SAFE},
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use portcullis::Json;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use super::{
    Context, Read, Wire,
    text::{one_line, string_of},
    wire::wrong,
};

/// Reads the text of one JSON value.
pub(crate) fn read_raw<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<&'de RawValue, D::Error> {
    <&RawValue>::deserialize(deserializer)
}

macro_rules! scalar {
    ($ty:ty, $parse:expr) => {
        impl Wire for $ty {
            fn read<'de, D: Deserializer<'de>>(
                cx: &mut Context,
                deserializer: D,
            ) -> Result<Read<Self>, D::Error> {
                let raw = read_raw(deserializer)?.get();
                if raw == "null" {
                    return Ok(Read::Unset);
                }
                let parse: fn(&str) -> Result<$ty, &'static str> = $parse;
                Ok(match parse(raw) {
                    Ok(value) => Read::Value(value),
                    Err(description) => wrong(cx, description),
                })
            }
        }
    };
}

scalar!(String, |raw| string_of(raw).ok_or("must be a string"));

scalar!(bool, |raw| match raw {
    "true" => Ok(true),
    "false" => Ok(false),
    _ => Err("must be true or false"),
});

scalar!(i32, int32);

/// A decimal in a string and a float without a fraction are numbers too (A2A-DATA-10).
fn int32(raw: &str) -> Result<i32, &'static str> {
    const NOT_A_NUMBER: &str = "must be a whole number";
    let text = raw
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or(raw);
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let is_number = text.starts_with(|c: char| c.is_ascii_digit() || c == '-')
        && text.ends_with(|c: char| c.is_ascii_digit());
    let number: f64 = match text.parse() {
        Ok(number) if is_number => number,
        _ => return Err(NOT_A_NUMBER),
    };
    if number.fract() != 0.0 {
        Err(NOT_A_NUMBER)
    } else if number < f64::from(i32::MIN) || number > f64::from(i32::MAX) {
        Err("must fit into 32 bits")
    } else {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within range")]
        Ok(number as i32)
    }
}

/// Bytes, in base64.
pub(crate) struct Bytes(pub(crate) Vec<u8>);

scalar!(Bytes, |raw| {
    let text = string_of(raw).ok_or("must be a string of base64")?;
    decode_base64(&text).map(Bytes).ok_or("must be base64")
});

/// The bytes of base64: either alphabet, padding or not (A2A-DATA-7).
pub(crate) fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let engine = if text.contains(['-', '_']) {
        &ANY_URL_SAFE
    } else {
        &ANY_STANDARD
    };
    engine.decode(text).ok()
}

const ANY_PADDING: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const ANY_STANDARD: GeneralPurpose = GeneralPurpose::new(&STANDARD, ANY_PADDING);
const ANY_URL_SAFE: GeneralPurpose = GeneralPurpose::new(&URL_SAFE, ANY_PADDING);

/// Any value. Null is a value here (A2A-DATA-14).
impl Wire for Json {
    fn read<'de, D: Deserializer<'de>>(
        _cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Self>, D::Error> {
        read_raw(deserializer).map(|raw| Read::Value(one_line(raw)))
    }
}
