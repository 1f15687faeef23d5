use std::{error::Error, fmt};

use jsonwebtoken::{Algorithm, DecodingKey, jwk::Jwk};
use serde::Deserialize;
use serde_json::Value;

use super::Family;

/// How many keys of a set are looked at.
const MAX_KEYS: usize = 64;

/// The keys of an issuer that can verify something here.
#[derive(Default)]
pub(super) struct KeySet(Vec<Key>);

struct Key {
    id: Option<String>,
    algorithm: Option<Algorithm>,
    key: DecodingKey,
}

/// Which key verifies a token.
pub(super) enum Found<'a> {
    Key(&'a DecodingKey),
    /// None that we know now.
    Unknown,
    /// The token does not name its key, and there is more than one.
    Ambiguous,
}

impl KeySet {
    /// Reads a JWK set (RFC 7517). A key that is broken, or for something else, is no reason to
    /// do without the others.
    pub(super) fn parse(text: &[u8], family: Family) -> Result<Self, BadKeySet> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(text).map_err(|_| BadKeySet::NoSet)?;
        if set.keys.len() > MAX_KEYS {
            return Err(BadKeySet::TooMany);
        }
        let keys: Vec<Key> = set
            .keys
            .into_iter()
            .filter_map(|key| Key::read(key, family))
            .collect();
        if keys.is_empty() {
            return Err(BadKeySet::NoneFits);
        }
        Ok(Self(keys))
    }

    pub(super) fn find(&self, id: Option<&str>, algorithm: Algorithm) -> Found<'_> {
        let mut fits = self.0.iter().filter(|key| {
            key.algorithm.is_none_or(|of_key| of_key == algorithm)
                && id.is_none_or(|id| key.id.as_deref() == Some(id))
        });
        match (fits.next(), fits.next()) {
            (None, _) => Found::Unknown,
            (Some(key), None) => Found::Key(&key.key),
            (Some(_), Some(_)) => Found::Ambiguous,
        }
    }
}

impl Key {
    fn read(value: Value, family: Family) -> Option<Self> {
        let for_signatures = value.get("use").is_none_or(|of| of == "sig");
        let verifies = value.get("key_ops").is_none_or(|ops| {
            ops.as_array()
                .is_some_and(|ops| ops.iter().any(|op| op == "verify"))
        });
        if !for_signatures || !verifies {
            return None;
        }
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        // A set holds public keys; one of another kind verifies nothing for this issuer.
        if key.family() != family.theirs() {
            return None;
        }
        let algorithm = match jwk.common.key_algorithm {
            None => None,
            Some(algorithm) => Some(Algorithm::try_from(algorithm).ok()?),
        };
        Some(Self {
            id: jwk.common.key_id,
            algorithm,
            key,
        })
    }
}

/// Why a key set is none.
#[derive(Debug)]
pub(super) enum BadKeySet {
    NoSet,
    TooMany,
    NoneFits,
}

impl fmt::Display for BadKeySet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSet => f.write_str("the text is no JWK set"),
            Self::TooMany => write!(f, "the JWK set has more than {MAX_KEYS} keys"),
            Self::NoneFits => {
                f.write_str("no key of the JWK set verifies signatures of the pinned family")
            }
        }
    }
}

impl Error for BadKeySet {}
