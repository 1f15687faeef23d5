use serde::Deserializer;

use super::{
    Context, Read, Wire,
    wire::{read_list, wrong},
};

/// How a member of a type is read, where that says more than the type.
pub(crate) trait Kind<T> {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<T>, D::Error>;
}

/// As its type says.
pub(crate) enum Plain {}

impl<T: Wire> Kind<T> for Plain {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<T>, D::Error> {
        T::read(cx, deserializer)
    }
}

/// An opaque identifier: bounded, without control characters (A2A-DATA-24).
pub(crate) enum Id {}

impl Kind<String> for Id {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<String>, D::Error> {
        let read = String::read(cx, deserializer)?;
        let Read::Value(id) = &read else {
            return Ok(read);
        };
        let Some(bounds) = cx.bounds() else {
            return Ok(read);
        };
        Ok(if id.len() > bounds.id_bytes {
            let limit = bounds.id_bytes;
            wrong(cx, &format!("longer than {limit} bytes"))
        } else if id.chars().any(char::is_control) {
            wrong(cx, "must not hold control characters")
        } else {
            read
        })
    }
}

impl Kind<Vec<String>> for Id {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Vec<String>>, D::Error> {
        read_list::<Self, String, D>(cx, deserializer)
    }
}

/// How many messages of the history: not negative (A2A-OP-36).
pub(crate) enum Length {}

impl Kind<Option<i32>> for Length {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Option<i32>>, D::Error> {
        Ok(match i32::read(cx, deserializer)? {
            Read::Value(length) if length < 0 && cx.is_strict() => {
                wrong(cx, "must not be negative")
            }
            read => read.map(Some),
        })
    }
}

/// How many tasks a page has (A2A-OP-76).
pub(crate) enum PageSize {}

impl Kind<Option<i32>> for PageSize {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<Option<i32>>, D::Error> {
        Ok(match i32::read(cx, deserializer)? {
            Read::Value(size) if !(1..=100).contains(&size) && cx.is_strict() => {
                wrong(cx, "must be between 1 and 100")
            }
            read => read.map(Some),
        })
    }
}

/// An opaque cursor, bounded.
pub(crate) enum PageToken {}

impl Kind<String> for PageToken {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<String>, D::Error> {
        let limit = cx
            .bounds()
            .map_or(usize::MAX, |bounds| bounds.page_token_bytes);
        Ok(match String::read(cx, deserializer)? {
            Read::Value(token) if token.len() > limit => {
                wrong(cx, &format!("longer than {limit} bytes"))
            }
            read => read,
        })
    }
}

/// Where a webhook is: absolute, http or https, without user and fragment
/// (A2A-OP-97). Which schemes and addresses are allowed is for whoever delivers.
pub(crate) enum WebhookUrl {}

impl Kind<String> for WebhookUrl {
    fn read<'de, D: Deserializer<'de>>(
        cx: &mut Context,
        deserializer: D,
    ) -> Result<Read<String>, D::Error> {
        Ok(match String::read(cx, deserializer)? {
            Read::Value(url) if cx.is_strict() && !url.is_empty() && !is_webhook(&url) => wrong(
                cx,
                "must be an absolute http or https URL without user and fragment",
            ),
            read => read,
        })
    }
}

fn is_webhook(url: &str) -> bool {
    let Some((scheme, rest)) = url.split_once("://") else {
        return false;
    };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    (scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("http"))
        && !authority.is_empty()
        && !authority.contains('@')
        && !rest.contains('#')
        && url.bytes().all(|byte| byte.is_ascii_graphic())
}
