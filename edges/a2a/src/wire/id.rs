use std::fmt;

/// The id of a call, as the text it came in: a reply repeats value and type (A2A-RPC-6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Id(Box<str>);

impl Id {
    /// What a reply has when the id could not be determined (A2A-RPC-7).
    #[cfg(feature = "jsonrpc")]
    pub(crate) fn null() -> Self {
        Self("null".into())
    }

    /// `None` for what no id may be: an object, a list, a boolean, a number with a fraction or an
    /// exponent (O-J02).
    #[cfg(feature = "jsonrpc")]
    pub(crate) fn from_json(text: &str) -> Option<Self> {
        let is_integer = || {
            let digits = text.strip_prefix('-').unwrap_or(text);
            !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
        };
        (text == "null" || text.starts_with('"') || is_integer()).then(|| Self(text.into()))
    }

    #[cfg(feature = "client")]
    pub(crate) fn number(number: u64) -> Self {
        Self(number.to_string().into())
    }

    /// JSON text.
    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
