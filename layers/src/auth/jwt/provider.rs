use jsonwebtoken::{
    Algorithm, DecodingKey, DecodingKeyKind, EncodingKey,
    crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils},
    errors::{Error, ErrorKind, new_error},
    signature,
};
use ring::signature::{
    ECDSA_P256_SHA256_FIXED, ECDSA_P384_SHA384_FIXED, ED25519, RSA_PKCS1_2048_8192_SHA256,
    RSA_PKCS1_2048_8192_SHA384, RSA_PKCS1_2048_8192_SHA512, RSA_PSS_2048_8192_SHA256,
    RSA_PSS_2048_8192_SHA384, RSA_PSS_2048_8192_SHA512, RsaParameters, RsaPublicKeyComponents,
    UnparsedPublicKey, VerificationAlgorithm,
};

/// Makes sure that `jsonwebtoken` can verify.
///
/// It keeps one provider for the process and panics where there is none. One that somebody
/// has chosen, by a feature or by installing it, stays; ours is over `ring`, and verifies only:
/// whoever signs tokens too chooses one first.
pub(super) fn install() {
    static OURS: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    if CryptoProvider::try_get_default().is_none() {
        // Somebody else may have been faster, which is as good.
        let _ = OURS.install_default();
    }
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(new_error(ErrorKind::UnsupportedAlgorithm))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    if key.family() != algorithm.family() {
        return Err(new_error(ErrorKind::InvalidAlgorithm));
    }
    Ok(Box::new(Verifier {
        algorithm: *algorithm,
        key: key.kind().clone(),
    }))
}

struct Verifier {
    algorithm: Algorithm,
    key: DecodingKeyKind,
}

impl Verifier {
    fn rsa(&self) -> Option<&'static RsaParameters> {
        Some(match self.algorithm {
            Algorithm::RS256 => &RSA_PKCS1_2048_8192_SHA256,
            Algorithm::RS384 => &RSA_PKCS1_2048_8192_SHA384,
            Algorithm::RS512 => &RSA_PKCS1_2048_8192_SHA512,
            Algorithm::PS256 => &RSA_PSS_2048_8192_SHA256,
            Algorithm::PS384 => &RSA_PSS_2048_8192_SHA384,
            Algorithm::PS512 => &RSA_PSS_2048_8192_SHA512,
            _ => return None,
        })
    }

    fn other(&self) -> Option<&'static dyn VerificationAlgorithm> {
        Some(match self.algorithm {
            Algorithm::ES256 => &ECDSA_P256_SHA256_FIXED,
            Algorithm::ES384 => &ECDSA_P384_SHA384_FIXED,
            Algorithm::EdDSA => &ED25519,
            // No shared secrets.
            _ => return None,
        })
    }
}

impl signature::Verifier<Vec<u8>> for Verifier {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match &self.key {
            DecodingKeyKind::RsaModulusExponent { n, e } => self.rsa().and_then(|rsa| {
                RsaPublicKeyComponents { n, e }
                    .verify(rsa, message, signature)
                    .ok()
            }),
            DecodingKeyKind::SecretOrDer(key) => self
                .rsa()
                .map(|rsa| rsa as &'static dyn VerificationAlgorithm)
                .or_else(|| self.other())
                .and_then(|algorithm| {
                    UnparsedPublicKey::new(algorithm, key)
                        .verify(message, signature)
                        .ok()
                }),
        };
        verified.ok_or_else(signature::Error::new)
    }
}

impl JwtVerifier for Verifier {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
