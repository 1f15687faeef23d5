use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use portcullis::Principal;

use super::hash::hash;

/// Whose tasks: a tenant and who asked within it.
///
/// It is part of every key, so that a stranger who knows an id finds nothing, exactly
/// as for an id that never existed (A2A-OP-70, A2A-OP-72). Neither tenant nor principal
/// is an owner as well: the anonymous one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Owner(Option<Arc<Names>>);

#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Names {
    tenant: Box<str>,
    account: Box<str>,
}

impl Owner {
    /// The owner without a tenant and without a principal.
    pub const ANONYMOUS: Self = Self(None);

    /// The owner that a caller is. An empty tenant is no tenant.
    #[must_use]
    pub fn new(tenant: Option<&str>, principal: Option<&Principal>) -> Self {
        let account = principal.map(account).unwrap_or_default();
        Self::from_parts(tenant.unwrap_or_default(), &account)
    }

    /// What a store wrote down: [`tenant`](Self::tenant) and [`account`](Self::account).
    #[must_use]
    pub fn from_parts(tenant: &str, account: &str) -> Self {
        if tenant.is_empty() && account.is_empty() {
            return Self::ANONYMOUS;
        }
        Self(Some(Arc::new(Names {
            tenant: tenant.into(),
            account: account.into(),
        })))
    }

    /// The same owner among the tasks of one server of several that share a log: tasks of other
    /// namespaces do not exist for it, and it takes none of them over. An empty name is no namespace.
    ///
    /// # Panics
    /// When the name holds a control character.
    #[must_use]
    pub fn in_namespace(&self, name: &str) -> Self {
        assert!(
            !name.contains(char::is_control),
            "a name without control characters"
        );
        let (_, tenant) = self.split();
        if name.is_empty() {
            return Self::from_parts(tenant, self.account());
        }
        Self::from_parts(&format!("{MARK}{name}{MARK}{tenant}"), self.account())
    }

    /// The tenant as stores write it, or an empty text. In a namespace, that stands before it.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.0.as_deref().map_or("", |names| &names.tenant)
    }

    /// The namespace, or an empty text.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.split().0
    }

    /// The tenant as callers name it, or an empty text.
    #[must_use]
    pub fn tenant_in_namespace(&self) -> &str {
        self.split().1
    }

    fn split(&self) -> (&str, &str) {
        let tenant = self.tenant();
        tenant
            .strip_prefix(MARK)
            .and_then(|rest| rest.split_once(MARK))
            .unwrap_or(("", tenant))
    }

    /// The principal as one text: a JSON array of kind, issuer and subject, so that no
    /// two principals share it. Empty without a principal.
    #[must_use]
    pub fn account(&self) -> &str {
        self.0.as_deref().map_or("", |names| &names.account)
    }
}

/// Around a namespace: no tenant of a caller holds a control character.
const MARK: char = '\u{1f}';

impl Default for Owner {
    fn default() -> Self {
        Self::ANONYMOUS
    }
}

impl fmt::Debug for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owner")
            .field("tenant", &self.tenant())
            .field("account", &self.account())
            .finish()
    }
}

/// What names a task: its owner and its id.
///
/// Cloning is two reference counts.
#[derive(Clone, Debug)]
pub struct TaskKey {
    /// Of the id. An owner's id hardly ever is another owner's as well.
    hash: u64,
    id: Arc<str>,
    owner: Owner,
}

impl TaskKey {
    /// The key of an owner's task.
    #[must_use]
    pub fn new(owner: Owner, id: impl Into<Arc<str>>) -> Self {
        let id = id.into();
        Self {
            hash: hash(&id),
            id,
            owner,
        }
    }

    /// Whose it is.
    #[must_use]
    pub const fn owner(&self) -> &Owner {
        &self.owner
    }

    /// The tenant, or an empty text.
    #[must_use]
    pub fn tenant(&self) -> &str {
        self.owner.tenant()
    }

    /// The task's id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }
}

impl TaskKey {
    /// The id, to be kept.
    pub(super) fn shared_id(&self) -> Arc<str> {
        Arc::clone(&self.id)
    }

    /// One of `count` shards.
    pub(super) const fn shard(&self, count: usize) -> usize {
        // The maps in the shards use the upper and the lower bits.
        (self.hash >> 32) as usize % count
    }
}

impl PartialEq for TaskKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.id == other.id && self.owner == other.owner
    }
}

impl Eq for TaskKey {}

impl Hash for TaskKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash);
    }
}

/// An injective text of a principal.
fn account(principal: &Principal) -> String {
    let parts = [principal.kind(), principal.issuer(), principal.subject()];
    serde_json::to_string(&parts).expect("strings always encode")
}
