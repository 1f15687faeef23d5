use serde::Deserialize;

use super::{
    canonical::CanonicalError,
    header::Header,
    verify::{MAX_SIGNATURES, VerifyError},
};

/// Who claims to have signed a card. Nothing of it is proved before the card is verified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signer {
    key_id: String,
    jku: Option<String>,
}

impl Signer {
    /// The id of the key.
    #[must_use]
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Where the set with the key is, if the signature says so (`jku`).
    #[must_use]
    pub fn jku(&self) -> Option<&str> {
        self.jku.as_deref()
    }
}

/// Those who claim to have signed a card, by the protected headers of its signatures. Headers that
/// cannot be read are nobody's.
///
/// # Errors
/// When the card is no JSON object.
pub fn signers(card: &str) -> Result<Vec<Signer>, VerifyError> {
    #[derive(Deserialize)]
    struct Signed {
        #[serde(default)]
        signatures: Vec<Signature>,
    }
    #[derive(Deserialize)]
    struct Signature {
        #[serde(default)]
        protected: String,
    }
    let signed: Signed = serde_json::from_str(card)
        .map_err(|source| VerifyError::Card(CanonicalError::Json(source)))?;
    let headers = signed.signatures.iter().take(MAX_SIGNATURES);
    let headers = headers.filter_map(|signature| Header::decode(&signature.protected));
    Ok(headers
        .map(|header| Signer {
            key_id: header.kid,
            jku: header.jku,
        })
        .collect())
}
