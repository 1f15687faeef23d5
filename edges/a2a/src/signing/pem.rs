use base64::{
    Engine,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE_NO_PAD},
};
use ring::digest::{SHA256, digest};

use super::{CardSigner, SigningError};

impl CardSigner {
    /// With a key from a PEM file: an unencrypted PKCS#8 of P-256 (ES256) or Ed25519 (EdDSA), as
    /// `openssl genpkey -algorithm ed25519` writes it. The id of the key is its
    /// [thumbprint](Self::thumbprint), until [another](Self::key_id) is set.
    ///
    /// ```
    /// # use portcullis_a2a::signing::{CardSigner, SigningError};
    /// let pem = "-----BEGIN PRIVATE KEY-----\n\
    ///     MC4CAQAwBQYDK2VwBCIEIAABAgMEBQYHCAkKCwwNDg8QERITFBUWFxgZGhscHR4f\n\
    ///     -----END PRIVATE KEY-----\n";
    /// let signer = CardSigner::from_pem(pem)?.key_id("2026-key");
    /// # Ok::<(), SigningError>(())
    /// ```
    ///
    /// # Errors
    /// When there is no such key.
    pub fn from_pem(pem: &str) -> Result<Self, SigningError> {
        let no_key = || {
            let why = "no unencrypted PKCS#8 key in PEM; openssl pkcs8 -topk8 -nocrypt makes one";
            SigningError::Key(why.to_owned())
        };
        let (_, rest) = pem.split_once(BEGIN).ok_or_else(no_key)?;
        let (body, _) = rest.split_once(END).ok_or_else(no_key)?;
        let body: String = body.split_ascii_whitespace().collect();
        let pkcs8 = BASE64_STANDARD.decode(body).map_err(|_| no_key())?;
        let signer = Self::ed25519("", &pkcs8)
            .or_else(|_| Self::es256("", &pkcs8))
            .map_err(|_| SigningError::Key("neither P-256 nor Ed25519".to_owned()))?;
        let thumbprint = signer.thumbprint();
        Ok(signer.key_id(thumbprint))
    }

    /// The thumbprint of the public key (RFC 7638): a name that anybody can compute.
    #[must_use]
    pub fn thumbprint(&self) -> String {
        BASE64_URL_SAFE_NO_PAD.encode(digest(&SHA256, self.bare_jwk().as_bytes()))
    }
}

const BEGIN: &str = "-----BEGIN PRIVATE KEY-----";
const END: &str = "-----END PRIVATE KEY-----";
