use std::{borrow::Cow, fmt};

use portcullis::Scope;

use crate::budget::{Amounts, Currency, Limits, Window};

/// The name of an account: what it is of, and which one.
///
/// A window and a currency are parts of the name: what one principal may use an hour and a
/// day are two accounts, and so are dollars and euros.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Account {
    kind: Cow<'static, str>,
    id: String,
    window: Option<Window>,
    currency: Option<Currency>,
}

impl Account {
    /// An account. `kind` is for people as well: "the budget of the `session`".
    #[must_use]
    pub fn new(kind: impl Into<Cow<'static, str>>, id: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            id: id.into(),
            window: None,
            currency: None,
        }
    }

    /// The account of a session, each tenant's apart.
    #[must_use]
    pub fn session(scope: &Scope) -> Self {
        Self::new("session", within(scope, scope.session()))
    }

    /// The account of a principal, each tenant's apart. Whoever has no name shares one
    /// account with all others who have none.
    #[must_use]
    pub fn principal(scope: &Scope) -> Self {
        let name = scope.principal().map_or(String::new(), |principal| {
            let (kind, issuer) = (principal.kind(), principal.issuer());
            let subject = principal.subject();
            format!("{}/{kind}{}/{issuer}{subject}", kind.len(), issuer.len())
        });
        Self::new("principal", within(scope, &name))
    }

    /// The account of a tenant. Turns without one share one account.
    #[must_use]
    pub fn tenant(scope: &Scope) -> Self {
        Self::new("tenant", within(scope, ""))
    }

    /// The account for each window of this length.
    #[must_use]
    pub fn per(mut self, window: Window) -> Self {
        self.window = Some(window);
        self
    }

    /// The account that counts money of this currency.
    #[must_use]
    pub fn in_currency(mut self, currency: Currency) -> Self {
        self.currency = Some(currency);
        self
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

    /// In which time what was used comes back. `None`: never.
    #[must_use]
    pub const fn window(&self) -> Option<Window> {
        self.window
    }

    /// The currency of its money.
    #[must_use]
    pub const fn currency(&self) -> Option<Currency> {
        self.currency
    }
}

/// A name within a tenant. The length keeps ("a", "b/c") and ("a/b", "c") apart.
fn within(scope: &Scope, name: &str) -> String {
    match scope.tenant() {
        Some(tenant) => format!("{}/{tenant}/{name}", tenant.len()),
        None => format!("/{name}"),
    }
}

impl fmt::Debug for Account {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {:?}", self.kind, self.id)?;
        if let Some(window) = self.window {
            write!(f, " per {window}")?;
        }
        if let Some(currency) = self.currency {
            write!(f, " in {currency}")?;
        }
        Ok(())
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
