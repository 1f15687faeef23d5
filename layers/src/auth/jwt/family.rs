use jsonwebtoken::AlgorithmFamily;

/// The algorithms that an issuer signs with: one kind of key, pinned when the verifier is made.
///
/// What a token says of its algorithm is not trusted: one of another family is refused before
/// its signature is looked at. There are no shared secrets (HMAC), so a public key cannot be
/// taken for one, and `none` is no algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Family {
    /// RS256, RS384, RS512, PS256, PS384, PS512. Keys of at least 2048 bits.
    Rsa,
    /// ES256, ES384.
    Ec,
    /// EdDSA over Ed25519.
    Ed,
}

impl Family {
    pub(super) const fn theirs(self) -> AlgorithmFamily {
        match self {
            Self::Rsa => AlgorithmFamily::Rsa,
            Self::Ec => AlgorithmFamily::Ec,
            Self::Ed => AlgorithmFamily::Ed,
        }
    }
}
