//! Keys that are handed out one by one.

mod digest;
mod file;
mod new_key;
mod table;

use std::{
    fmt,
    future::{Ready, ready},
    path::Path,
    sync::Arc,
};

use portcullis::Principal;

use self::{
    file::KeyFile,
    table::{Table, id_of},
};
use super::{AuthError, Credentials, Identity, Scheme, Verifier};

pub use self::{new_key::NewApiKey, table::InvalidKeys};

/// Verifies API keys, of which it knows no more than their SHA-256.
///
/// A key is `pck_`, an id, `_` and a secret; it comes as a bearer token or in a header of its
/// own. [`NewApiKey::generate`] makes one of 256 random bits, and no other should be in use: a
/// word that somebody chose can be guessed from its digest. The id finds the line, and the
/// digests are compared in constant time; an id that is not there takes as long and gets the
/// same answer.
///
/// # The file
///
/// One key a line, words apart by white space: id, digest, whose it is, and the scopes.
/// Empty lines and lines that begin with `#` mean nothing.
///
/// ```text
/// # id             SHA-256 of the whole key        subject  scopes
/// 3f0c2a9b11d47e60 9f86d081884c7d659a2feaa0c55ad… alice    read write
/// ```
///
/// An [opened](Self::open) file is read again when it has changed, when somebody next asks and
/// at most once a second. One that cannot be read or understood changes nothing and is an error
/// in the log; one without any key locks everybody out. Write it to one side and rename it, so
/// that nobody reads half of it.
///
/// The principal is of kind `service`, its issuer is `api-keys`, or what
/// [`issuer`](Self::issuer) says, and its subject is the third word.
#[derive(Clone)]
pub struct ApiKeys {
    source: Source,
    issuer: Arc<str>,
}

#[derive(Clone)]
enum Source {
    Fixed(Arc<Table>),
    File(Arc<KeyFile>),
}

impl ApiKeys {
    /// The keys of a file, which may change.
    ///
    /// # Errors
    /// When the file cannot be read, is longer than 4 MiB, is not in the form above, names an
    /// id twice, or has no key.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, InvalidKeys> {
        let file = KeyFile::open(path.as_ref())?;
        Ok(Self::of(Source::File(Arc::new(file))))
    }

    /// Keys that stay as they are, in the form of the file.
    ///
    /// # Errors
    /// When the text is not in that form, names an id twice, or has no key.
    pub fn from_text(text: &str) -> Result<Self, InvalidKeys> {
        let table = Table::parse(text)?;
        if table.is_empty() {
            return Err(InvalidKeys::empty());
        }
        Ok(Self::of(Source::Fixed(Arc::new(table))))
    }

    fn of(source: Source) -> Self {
        Self {
            source,
            issuer: "api-keys".into(),
        }
    }

    /// The issuer of the principals. Two files that name the same subjects need two.
    #[must_use]
    pub fn issuer(mut self, issuer: impl Into<Arc<str>>) -> Self {
        self.issuer = issuer.into();
        self
    }

    fn check(&self, credentials: &Credentials) -> Result<Identity, AuthError> {
        if !matches!(credentials.scheme(), Scheme::Bearer | Scheme::ApiKey) {
            return Err(AuthError::unrecognized());
        }
        let key = credentials.secret();
        let id = id_of(key).ok_or_else(AuthError::unrecognized)?;
        let table = match &self.source {
            Source::Fixed(table) => Arc::clone(table),
            Source::File(file) => file.table(),
        };
        let entry = table
            .find(id, key)
            .ok_or_else(|| AuthError::invalid("the key is not valid"))?;
        let principal = Principal::new("service", &*self.issuer, entry.subject.as_str());
        Ok(Identity::new(principal).with_scopes(entry.scopes.iter().cloned()))
    }
}

impl Verifier for ApiKeys {
    type Verify = Ready<Result<Identity, AuthError>>;

    fn verify(&self, credentials: &Credentials) -> Self::Verify {
        ready(self.check(credentials))
    }
}

impl fmt::Debug for ApiKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("ApiKeys");
        debug.field("issuer", &self.issuer);
        if let Source::File(file) = &self.source {
            debug.field("path", &file.path());
        }
        debug.finish_non_exhaustive()
    }
}
