use std::{borrow::Cow, fmt};

use portcullis::Scope;

use crate::budget::{Amounts, Limits};

/// The name of an account: what it is of, and which one.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Account {
    kind: Cow<'static, str>,
    id: String,
}

impl Account {
    /// An account. `kind` is for people as well: "the budget of the `session`".
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, id: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
        }
    }

    /// The account of a session, each tenant's apart.
    #[must_use]
    pub fn session(scope: &Scope) -> Self {
        let session = scope.session();
        Self::new(
            "session",
            match scope.tenant() {
                // The length keeps ("a", "b/c") and ("a/b", "c") apart.
                Some(tenant) => format!("{}/{tenant}/{session}", tenant.len()),
                None => format!("/{session}"),
            },
        )
    }

    /// What it is of.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// Which one of its kind.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.id)
    }
}

/// What a turn asks of an account.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Claim {
    /// The account.
    pub account: Account,
    /// What it may come to.
    pub limits: Limits,
    /// What has to be left of it, and is reserved.
    pub slice: Amounts,
}

impl Claim {
    /// A claim.
    #[must_use]
    pub const fn new(account: Account, limits: Limits, slice: Amounts) -> Self {
        Self {
            account,
            limits,
            slice,
        }
    }
}
