use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::{
    digest::{Digest, hex},
    table::{InvalidKeys, PREFIX, is_word},
};

/// A key that was just made: the key for its holder, the line for the file.
///
/// The key is in no file and cannot be had again.
pub struct NewApiKey {
    key: SecretString,
    line: String,
}

impl NewApiKey {
    /// Makes a key of 256 bits from the system's random numbers.
    ///
    /// # Errors
    /// When `subject` or a scope is empty or holds white space or control characters, or when
    /// the system has no random numbers.
    pub fn generate<T: AsRef<str>>(
        subject: &str,
        scopes: impl IntoIterator<Item = T>,
    ) -> Result<Self, InvalidKeys> {
        let mut random = [0; 40];
        getrandom::fill(&mut random).map_err(|_| InvalidKeys::no_random())?;
        let (id, secret) = random.split_at(8);
        let id = hex(id);
        let key = SecretString::from(format!("{PREFIX}{id}_{}", hex(secret)));
        let mut line = format!(
            "{id} {} {subject}",
            Digest::of(key.expose_secret()).to_hex()
        );
        if !is_word(subject) {
            return Err(InvalidKeys::word("subject"));
        }
        for scope in scopes {
            let scope = scope.as_ref();
            if !is_word(scope) {
                return Err(InvalidKeys::word("scope"));
            }
            line.push(' ');
            line.push_str(scope);
        }
        Ok(Self { key, line })
    }

    /// The key, for its holder.
    #[must_use]
    pub fn reveal(&self) -> &str {
        self.key.expose_secret()
    }

    /// The line for the file, without a line break. It holds no secret.
    #[must_use]
    pub fn line(&self) -> &str {
        &self.line
    }
}

impl fmt::Debug for NewApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NewApiKey")
            .field("line", &self.line)
            .finish_non_exhaustive()
    }
}
