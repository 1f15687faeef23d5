use std::{error::Error, fmt};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use serde::Deserialize;

use super::{
    TrustedKeys,
    canonical::{CanonicalError, Form, canonical_card},
    header::{Header, signing_input},
};

/// Verifies a card as it was received: at least one of its signatures is a trusted key's.
///
/// The algorithm is the key's; only ES256, EdDSA, RS256 and PS256 exist here. Nothing is taken from
/// the unprotected header, and no `jku` is followed.
///
/// # Errors
/// When no signature holds; the error tells whether none is there, none is by a trusted
/// key, or the card was changed.
pub fn verify_card(card: &str, keys: &TrustedKeys) -> Result<Verified, VerifyError> {
    verify(card, keys, &[Form::Strict])
}

/// The same, and if the strict form does not match, the form that some SDKs sign (A2A-SIG-10).
/// [`Verified::form`] tells which it was.
///
/// # Errors
/// As [`verify_card`].
pub fn verify_card_leniently(card: &str, keys: &TrustedKeys) -> Result<Verified, VerifyError> {
    verify(card, keys, &[Form::Strict, Form::Pruned])
}

fn verify(card: &str, keys: &TrustedKeys, forms: &[Form]) -> Result<Verified, VerifyError> {
    #[derive(Deserialize)]
    struct Signed {
        #[serde(default)]
        signatures: Vec<Signature>,
    }
    #[derive(Deserialize)]
    struct Signature {
        #[serde(default)]
        protected: String,
        #[serde(default)]
        signature: String,
    }
    // First, since it also refuses what has two readings.
    let mut payloads = Vec::with_capacity(forms.len());
    for form in forms {
        payloads.push(canonical_card(card, *form).map_err(VerifyError::Card)?);
    }
    let signed: Signed = serde_json::from_str(card)
        .map_err(|source| VerifyError::Card(CanonicalError::Json(source)))?;
    if signed.signatures.is_empty() {
        return Err(VerifyError::Unsigned);
    }
    let mut known = false;
    for signature in signed.signatures.iter().take(MAX_SIGNATURES) {
        let Some(header) = Header::decode(&signature.protected) else {
            continue;
        };
        // A parameter that has to be understood, and is not (RFC 7515, section 4.1.11).
        if header.crit.is_some() {
            continue;
        }
        let (Some(key), Ok(bytes)) = (
            keys.get(&header.kid),
            BASE64_URL_SAFE_NO_PAD.decode(&signature.signature),
        ) else {
            continue;
        };
        known = true;
        for (form, payload) in forms.iter().zip(&payloads) {
            let input = signing_input(&signature.protected, payload);
            if key.verifies(&header.alg, input.as_bytes(), &bytes) {
                return Ok(Verified {
                    key_id: header.kid,
                    form: *form,
                });
            }
        }
    }
    Err(if known {
        VerifyError::Changed
    } else {
        VerifyError::Untrusted
    })
}

/// How many signatures are looked at. More are somebody's mischief.
pub(super) const MAX_SIGNATURES: usize = 16;

/// A card whose signature holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    key_id: String,
    form: Form,
}

impl Verified {
    /// The key that signed it.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The form that it signed.
    #[must_use]
    pub const fn form(&self) -> Form {
        self.form
    }
}

/// A card is not to be believed.
#[derive(Debug)]
#[non_exhaustive]
pub enum VerifyError {
    /// It has no canonical form.
    Card(CanonicalError),
    /// It is not signed.
    Unsigned,
    /// No signature is by a key that is trusted.
    Untrusted,
    /// A signature names a trusted key and does not hold: the card was changed, or the name is a
    /// lie.
    Changed,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Card(_) => "the card cannot be verified",
            Self::Unsigned => "the card is not signed",
            Self::Untrusted => "no signature of the card is by a trusted key",
            Self::Changed => "the card is not what the named key has signed",
        })
    }
}

impl Error for VerifyError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Card(source) => Some(source),
            Self::Unsigned | Self::Untrusted | Self::Changed => None,
        }
    }
}
