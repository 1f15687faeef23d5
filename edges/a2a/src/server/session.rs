use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use portcullis::Principal;
use sha2::{Digest, Sha256};

/// What session keys that are digests begin with. A client's own context id may not, where
/// it is the key.
pub(super) const RESERVED_PREFIX: &str = "ctx:";

/// The session that the agent sees (ruling 18).
///
/// The context id itself where nobody is known; else a digest, so that a caller who names
/// another's context id gets a conversation of its own (O-A01).
pub(super) fn session_key(
    tenant: Option<&str>,
    principal: Option<&Principal>,
    context_id: &str,
) -> String {
    if tenant.is_none() && principal.is_none() {
        return context_id.to_owned();
    }
    let of_principal = |part: fn(&Principal) -> &str| principal.map(part);
    let mut digest = Sha256::new();
    for part in [
        tenant,
        of_principal(Principal::issuer),
        of_principal(Principal::kind),
        of_principal(Principal::subject),
        Some(context_id),
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
