use portcullis::Scope;
use portcullis_session::{RESERVED_PREFIX, session_key};

/// Whose turn it is: nobody else can read it, or learn that it exists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::server) struct Owner(String);

impl Owner {
    /// Of a scope that has its tenant and principal.
    pub(in crate::server) fn of(scope: &Scope) -> Self {
        let tenant = scope.tenant().filter(|tenant| !tenant.is_empty());
        // A name that is a digest for everybody, nobody included.
        Self(session_key(tenant, scope.principal(), RESERVED_PREFIX))
    }
}
