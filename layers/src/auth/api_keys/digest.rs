use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq;

/// What is kept of a key: its SHA-256.
///
/// A key has 256 random bits, so nobody finds it from the digest, and a slow hash such as a
/// password needs would only help those who want to keep a server busy. There is no `==` on
/// purpose: how long a comparison takes must not tell how much of it was right.
#[derive(Clone)]
pub(super) struct Digest([u8; 32]);

impl Digest {
    /// Matches no key that anybody knows.
    pub(super) const NOBODY: Self = Self([0; 32]);

    pub(super) fn of(key: &str) -> Self {
        Self(Sha256::digest(key).into())
    }

    /// Reads 64 hexadecimal digits.
    pub(super) fn from_hex(text: &str) -> Option<Self> {
        let mut bytes = [0; 32];
        let text = text.as_bytes();
        if text.len() != 64 {
            return None;
        }
        for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16);
            *byte = u8::try_from(digit(pair[0])? * 16 + digit(pair[1])?).ok()?;
        }
        Some(Self(bytes))
    }

    pub(super) fn to_hex(&self) -> String {
        hex(&self.0)
    }

    pub(super) fn matches(&self, other: &Self) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
