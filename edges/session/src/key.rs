use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use portcullis::Principal;
use sha2::{Digest, Sha256};

/// What session keys that are digests begin with.
pub const RESERVED_PREFIX: &str = "ctx:";

/// The session that the agent sees, from what the caller calls it (ruling 18).
///
/// The name itself where nobody is known; else a digest of who it is and the name, so that a caller
/// who knows another's name gets a conversation of its own (O-A01). A bare name that looks like
/// a digest becomes another one, so that it is nobody else's either.
///
/// The key of a caller and a name never changes: conversations are kept by it.
///
/// ```
/// use portcullis::Principal;
/// use portcullis_session::session_key;
///
/// let ann = Principal::new("user", "example", "ann");
/// assert_eq!(session_key(None, None, "c-1"), "c-1");
/// assert_eq!(
///     session_key(None, Some(&ann), "c-1"),
///     "ctx:D3GPhCDFtNJNRNLFbV6sGVc_KVXGA8oz-KZbesR-JoA",
/// );
/// ```
#[must_use]
pub fn session_key(tenant: Option<&str>, principal: Option<&Principal>, name: &str) -> String {
    let nobody = tenant.is_none() && principal.is_none();
    if nobody && !name.starts_with(RESERVED_PREFIX) {
        return name.to_owned();
    }
    let of_principal = |part: fn(&Principal) -> &str| principal.map(part);
    let mut digest = Sha256::new();
    for part in [
        tenant,
        of_principal(Principal::issuer),
        of_principal(Principal::kind),
        of_principal(Principal::subject),
        Some(name),
    ] {
        // A length before each part, so that no two lists of parts read the same; one more
        // than the length, so that an absent part is not an empty one.
        let length = part.map_or(0, |part| part.len() as u64 + 1);
        digest.update(length.to_be_bytes());
        digest.update(part.unwrap_or_default());
    }
    format!(
        "{RESERVED_PREFIX}{}",
        URL_SAFE_NO_PAD.encode(digest.finalize())
    )
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_two_callers_share_a_session() {
        let who =
            |kind: &str, issuer: &str, subject: &str| Some(Principal::new(kind, issuer, subject));
        let principals = [
            None,
            who("", "", ""),
            who("user", "i", "ann"),
            who("user", "ia", "nn"),
            who("i", "user", "ann"),
            who("service", "i", "ann"),
            who("user", "i", "bob"),
        ];
        let tenants = [None, Some(""), Some("t"), Some("user")];
        let mut names = vec!["".to_owned(), "c".to_owned(), "ctx:".to_owned()];
        names.push(session_key(Some("t"), None, "c"));
        let mut keys = HashSet::new();
        for tenant in tenants {
            for principal in &principals {
                for name in &names {
                    let key = session_key(tenant, principal.as_ref(), name);
                    assert!(keys.insert(key), "{tenant:?} {principal:?} {name:?}");
                }
            }
        }
    }
}
