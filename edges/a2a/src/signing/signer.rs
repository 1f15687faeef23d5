use std::{error::Error, fmt, sync::Arc};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair},
};

use super::{
    PublicKey,
    canonical::{CanonicalError, Form, canonical_card},
    header::{Header, signing_input},
};
use crate::model::{AgentCard, AgentCardSignature};

/// Signs cards with one private key.
///
/// Cloning shares the key. `Debug` shows its id and nothing else.
#[derive(Clone)]
pub struct CardSigner {
    key_id: String,
    jku: Option<String>,
    key: Arc<Key>,
}

enum Key {
    Es256(EcdsaKeyPair),
    EdDsa(Ed25519KeyPair),
}

impl CardSigner {
    /// ES256, with a P-256 key in PKCS#8.
    ///
    /// # Errors
    /// When it is no such key.
    pub fn es256(key_id: impl Into<String>, pkcs8: &[u8]) -> Result<Self, SigningError> {
        let random = SystemRandom::new();
        let key = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, pkcs8, &random)
            .map_err(|rejected| SigningError::Key(rejected.to_string()))?;
        Ok(Self::new(key_id, Key::Es256(key)))
    }

    /// EdDSA, with an Ed25519 key in PKCS#8.
    ///
    /// # Errors
    /// When it is no such key.
    pub fn ed25519(key_id: impl Into<String>, pkcs8: &[u8]) -> Result<Self, SigningError> {
        // With or without the public key beside it: OpenSSL leaves it out.
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(pkcs8)
            .map_err(|rejected| SigningError::Key(rejected.to_string()))?;
        Ok(Self::new(key_id, Key::EdDsa(key)))
    }

    fn new(key_id: impl Into<String>, key: Key) -> Self {
        Self {
            key_id: key_id.into(),
            jku: None,
            key: Arc::new(key),
        }
    }

    /// A new Ed25519 key, in PKCS#8: a secret, to be stored as one.
    ///
    /// # Panics
    /// When the system has no random numbers.
    #[must_use]
    pub fn generate_ed25519() -> Vec<u8> {
        Ed25519KeyPair::generate_pkcs8(&SystemRandom::new())
            .expect("the system has random numbers")
            .as_ref()
            .to_vec()
    }

    /// Another id for the key.
    #[must_use]
    pub fn key_id(mut self, key_id: impl Into<String>) -> Self {
        self.key_id = key_id.into();
        self
    }

    /// Where the public key is published: the address of a JSON Web Key Set.
    #[must_use]
    pub fn jku(mut self, url: impl Into<String>) -> Self {
        self.jku = Some(url.into());
        self
    }

    /// The key that verifies what this one signs.
    #[must_use]
    pub fn public_key(&self) -> PublicKey {
        match &*self.key {
            Key::Es256(key) => PublicKey::es256(key.public_key().as_ref().to_vec()),
            Key::EdDsa(key) => PublicKey::ed25519(key.public_key().as_ref().to_vec()),
        }
    }

    /// The public key as a JSON Web Key, to be published.
    #[must_use]
    pub fn jwk(&self) -> String {
        let (kind, curve, x, y) = self.coordinates();
        let mut jwk = serde_json::json!({
            "kty": kind, "crv": curve, "alg": self.algorithm(), "use": "sig", "kid": self.key_id, "x": x,
        });
        if let Some(y) = y {
            jwk["y"] = y.into();
        }
        jwk.to_string()
    }

    /// What makes the key, in the one form that a thumbprint is of (RFC 7638, section 3).
    pub(super) fn bare_jwk(&self) -> String {
        let (kind, curve, x, y) = self.coordinates();
        let y = y.map(|y| format!(r#","y":"{y}""#)).unwrap_or_default();
        format!(r#"{{"crv":"{curve}","kty":"{kind}","x":"{x}"{y}}}"#)
    }

    fn coordinates(&self) -> (&'static str, &'static str, String, Option<String>) {
        let encode = |bytes: &[u8]| BASE64_URL_SAFE_NO_PAD.encode(bytes);
        match &*self.key {
            Key::Es256(key) => {
                // One byte says that both follow.
                let (x, y) = key.public_key().as_ref()[1..].split_at(32);
                ("EC", "P-256", encode(x), Some(encode(y)))
            }
            Key::EdDsa(key) => ("OKP", "Ed25519", encode(key.public_key().as_ref()), None),
        }
    }

    fn algorithm(&self) -> &'static str {
        match &*self.key {
            Key::Es256(_) => "ES256",
            Key::EdDsa(_) => "EdDSA",
        }
    }

    /// Adds a signature over the card as it is now. Later changes of the card make it
    /// worthless; other signatures do not (A2A-SIG-1).
    ///
    /// # Errors
    /// When the card has no canonical form, or the system no random numbers.
    ///
    /// # Panics
    /// Never: each card can be written.
    pub fn sign(&self, card: &mut AgentCard) -> Result<(), SigningError> {
        let text = serde_json::to_string(card).expect("the model always encodes");
        let payload = canonical_card(&text, Form::Strict).map_err(SigningError::Card)?;
        let header = Header {
            alg: self.algorithm().to_owned(),
            jku: self.jku.clone(),
            kid: self.key_id.clone(),
            typ: Some("JOSE".to_owned()),
            crit: None,
        };
        let protected = header.encode();
        let input = signing_input(&protected, &payload);
        let signature = match &*self.key {
            Key::Es256(key) => {
                let signed = key.sign(&SystemRandom::new(), input.as_bytes());
                let signed = signed.map_err(|_| SigningError::NoRandomness)?;
                BASE64_URL_SAFE_NO_PAD.encode(signed)
            }
            Key::EdDsa(key) => BASE64_URL_SAFE_NO_PAD.encode(key.sign(input.as_bytes())),
        };
        card.signatures
            .push(AgentCardSignature::new(protected, signature));
        Ok(())
    }
}

impl fmt::Debug for CardSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CardSigner")
            .field("key_id", &self.key_id)
            .finish_non_exhaustive()
    }
}

/// A card could not be signed.
#[derive(Debug)]
#[non_exhaustive]
pub enum SigningError {
    /// The key is no private key of this kind in PKCS#8.
    Key(String),
    /// The card has no canonical form.
    Card(CanonicalError),
    /// The system gave no random numbers.
    NoRandomness,
}

impl fmt::Display for SigningError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Key(why) => write!(f, "the key cannot be used: {why}"),
            Self::Card(_) => f.write_str("the card cannot be signed"),
            Self::NoRandomness => f.write_str("the system gave no random numbers"),
        }
    }
}

impl Error for SigningError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Card(source) => Some(source),
            Self::Key(_) | Self::NoRandomness => None,
        }
    }
}
