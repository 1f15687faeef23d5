use std::{fmt, sync::Arc};

use portcullis::{Peer, Scope};

/// Says which turns share a bucket. Also implemented by closures.
pub trait Key {
    /// The bucket of a turn.
    fn key(&self, scope: &Scope) -> LimitKey;
}

impl<F, K> Key for F
where
    F: Fn(&Scope) -> K,
    K: Into<LimitKey>,
{
    fn key(&self, scope: &Scope) -> LimitKey {
        self(scope).into()
    }
}

/// The name of a bucket.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct LimitKey {
    name: Arc<str>,
    anonymous: bool,
}

impl LimitKey {
    /// A name.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>) -> Self {
        Self {
            name: name.into(),
            anonymous: false,
        }
    }

    /// A name of several parts. Whatever stands in them, other parts give another name.
    #[must_use]
    pub fn of(parts: &[&str]) -> Self {
        let mut name = String::new();
        for part in parts {
            name.push_str(&part.len().to_string());
            name.push(':');
            name.push_str(part);
        }
        Self::new(name)
    }

    /// Nobody vouches for the name: it is counted apart.
    #[must_use]
    pub fn anonymous(mut self) -> Self {
        self.anonymous = true;
        self
    }

    /// Whether nobody vouches for it.
    #[must_use]
    pub const fn is_anonymous(&self) -> bool {
        self.anonymous
    }

    /// The name, for a store.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

impl From<String> for LimitKey {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

impl From<&str> for LimitKey {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

/// Without the name, which may be somebody's secret.
impl fmt::Debug for LimitKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LimitKey")
            .field("anonymous", &self.anonymous)
            .finish_non_exhaustive()
    }
}

macro_rules! keys {
    ($($(#[$doc:meta])* $name:ident: $key:expr;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default)]
        pub struct $name(());

        impl $name {
            pub(super) const fn new() -> Self {
                Self(())
            }
        }

        impl Key for $name {
            fn key(&self, scope: &Scope) -> LimitKey {
                let key: fn(&Scope) -> LimitKey = $key;
                key(scope)
            }
        }
    )*};
}

keys! {
    /// All turns share one bucket.
    Everybody: |_| LimitKey::new("");

    /// Turns of one principal share a bucket; without one, turns from one [`Peer`].
    ByPrincipal: |scope| match scope.principal() {
        Some(who) => LimitKey::of(&["principal", who.kind(), who.issuer(), who.subject()]),
        None => match scope.extensions().get::<Peer>() {
            Some(peer) => LimitKey::of(&["peer", &peer.network()]).anonymous(),
            None => LimitKey::of(&["nobody"]).anonymous(),
        },
    };

    /// Turns of one session share a bucket, each principal's apart.
    BySession: |scope| match scope.principal() {
        Some(who) => LimitKey::of(&[
            "session", scope.session(), who.kind(), who.issuer(), who.subject(),
        ]),
        None => LimitKey::of(&["session", scope.session()]).anonymous(),
    };

    /// Turns of one source share a bucket.
    BySource: |scope| match scope.source() {
        Some(source) => LimitKey::of(&["source", source]),
        None => LimitKey::of(&["nowhere"]).anonymous(),
    };

    /// Turns of one tenant share a bucket.
    ByTenant: |scope| match scope.tenant() {
        Some(tenant) => LimitKey::of(&["tenant", tenant]),
        None => LimitKey::of(&["nobody"]).anonymous(),
    };
}
