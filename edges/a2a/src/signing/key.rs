use std::{collections::BTreeMap, error::Error, fmt};

use base64::{Engine, prelude::BASE64_URL_SAFE_NO_PAD};
use ring::signature::{
    self, ECDSA_P256_SHA256_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256, RSA_PSS_2048_8192_SHA256,
    RsaPublicKeyComponents, UnparsedPublicKey,
};
use serde::Deserialize;

/// A key that signatures are verified with. It fixes the algorithm, whatever a header says
/// (A2A-SIG-9).
#[derive(Clone, PartialEq, Eq)]
pub struct PublicKey(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    /// The uncompressed point.
    Es256(Vec<u8>),
    EdDsa(Vec<u8>),
    Rsa {
        modulus: Vec<u8>,
        exponent: Vec<u8>,
        algorithm: Rsa,
    },
}

/// An RSA key may say which of the two it is for, or be for both.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rsa {
    Rs256,
    Ps256,
    Either,
}

impl PublicKey {
    pub(super) const fn es256(point: Vec<u8>) -> Self {
        Self(Kind::Es256(point))
    }

    pub(super) const fn ed25519(key: Vec<u8>) -> Self {
        Self(Kind::EdDsa(key))
    }

    /// From a JSON Web Key: `EC` on `P-256`, `OKP` on `Ed25519`, or `RSA`.
    ///
    /// # Errors
    /// When it is no such key, or one that is for something other than verifying.
    pub fn from_jwk(jwk: &str) -> Result<Self, JwkError> {
        let jwk: Jwk = serde_json::from_str(jwk).map_err(|_| JwkError::Malformed)?;
        jwk.key()
    }

    /// Whether the signature is this key's over the input.
    pub(super) fn verifies(&self, algorithm: &str, input: &[u8], signature: &[u8]) -> bool {
        match (&self.0, algorithm) {
            (Kind::Es256(point), "ES256") => {
                UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point)
                    .verify(input, signature)
                    .is_ok()
            }
            (Kind::EdDsa(key), "EdDSA" | "Ed25519") => UnparsedPublicKey::new(&ED25519, key)
                .verify(input, signature)
                .is_ok(),
            (
                Kind::Rsa {
                    modulus,
                    exponent,
                    algorithm: fixed,
                },
                name,
            ) => {
                let parameters: &signature::RsaParameters = match (name, fixed) {
                    ("RS256", Rsa::Rs256 | Rsa::Either) => &RSA_PKCS1_2048_8192_SHA256,
                    ("PS256", Rsa::Ps256 | Rsa::Either) => &RSA_PSS_2048_8192_SHA256,
                    _ => return false,
                };
                RsaPublicKeyComponents {
                    n: modulus,
                    e: exponent,
                }
                .verify(parameters, input, signature)
                .is_ok()
            }
            _ => false,
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Kind::Es256(_) => "PublicKey(ES256)",
            Kind::EdDsa(_) => "PublicKey(EdDSA)",
            Kind::Rsa { .. } => "PublicKey(RSA)",
        })
    }
}

/// The keys whose signatures are believed, by their ids.
///
/// Take a key out, and nothing that it signed is believed any more.
#[derive(Clone, Debug, Default)]
pub struct TrustedKeys(BTreeMap<String, PublicKey>);

impl TrustedKeys {
    /// None.
    #[must_use]
    pub const fn new() -> Self {
        Self(BTreeMap::new())
    }

    /// And this one. It takes the place of one with the same id.
    #[must_use]
    pub fn with(mut self, key_id: impl Into<String>, key: PublicKey) -> Self {
        self.0.insert(key_id.into(), key);
        self
    }

    /// The keys of a JSON Web Key Set that have an id and are of a kind that is known; others are
    /// none of ours.
    ///
    /// # Errors
    /// When the text is no such set.
    pub fn from_jwks(jwks: &str) -> Result<Self, JwkError> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<serde_json::Value>,
        }
        let set: Set = serde_json::from_str(jwks).map_err(|_| JwkError::Malformed)?;
        let mut keys = Self::new();
        for value in set.keys {
            let Ok(jwk) = serde_json::from_value::<Jwk>(value) else {
                continue;
            };
            if let (Some(id), Ok(key)) = (&jwk.kid, jwk.key()) {
                keys.0.insert(id.clone(), key);
            }
        }
        Ok(keys)
    }

    /// The key of this id.
    #[must_use]
    pub fn get(&self, key_id: &str) -> Option<&PublicKey> {
        self.0.get(key_id)
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[derive(Deserialize)]
struct Jwk {
    kty: String,
    #[serde(default)]
    kid: Option<String>,
    #[serde(default)]
    alg: Option<String>,
    #[serde(default, rename = "use")]
    usage: Option<String>,
    #[serde(default)]
    crv: Option<String>,
    #[serde(default)]
    x: Option<String>,
    #[serde(default)]
    y: Option<String>,
    #[serde(default)]
    n: Option<String>,
    #[serde(default)]
    e: Option<String>,
}

impl Jwk {
    fn key(&self) -> Result<PublicKey, JwkError> {
        if self.usage.as_deref().is_some_and(|usage| usage != "sig") {
            return Err(JwkError::Unsupported);
        }
        let kind = match (&*self.kty, self.crv.as_deref(), self.alg.as_deref()) {
            ("EC", Some("P-256"), None | Some("ES256")) => {
                let mut point = vec![0x04];
                point.extend(bytes(self.x.as_ref(), Some(32))?);
                point.extend(bytes(self.y.as_ref(), Some(32))?);
                Kind::Es256(point)
            }
            ("OKP", Some("Ed25519"), None | Some("EdDSA" | "Ed25519")) => {
                Kind::EdDsa(bytes(self.x.as_ref(), Some(32))?)
            }
            ("RSA", None, algorithm) => Kind::Rsa {
                modulus: bytes(self.n.as_ref(), None)?,
                exponent: bytes(self.e.as_ref(), None)?,
                algorithm: match algorithm {
                    None => Rsa::Either,
                    Some("RS256") => Rsa::Rs256,
                    Some("PS256") => Rsa::Ps256,
                    Some(_) => return Err(JwkError::Unsupported),
                },
            },
            _ => return Err(JwkError::Unsupported),
        };
        Ok(PublicKey(kind))
    }
}

fn bytes(member: Option<&String>, length: Option<usize>) -> Result<Vec<u8>, JwkError> {
    let text = member.ok_or(JwkError::Malformed)?;
    let bytes = BASE64_URL_SAFE_NO_PAD
        .decode(text)
        .map_err(|_| JwkError::Malformed)?;
    if length.is_some_and(|length| length != bytes.len()) {
        return Err(JwkError::Malformed);
    }
    Ok(bytes)
}

/// A JSON Web Key cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum JwkError {
    /// It is not what RFC 7517 describes.
    Malformed,
    /// It is of another kind, for another algorithm or another use.
    Unsupported,
}

impl fmt::Display for JwkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "not a JSON Web Key",
            Self::Unsupported => {
                "a key that verifies no card: P-256, Ed25519 and RSA with SHA-256 do"
            }
        })
    }
}

impl Error for JwkError {}
