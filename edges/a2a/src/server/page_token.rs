use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use sha2::{Digest, Sha256};

use crate::{
    log::{Cursor, Owner},
    model::ListTasksRequest,
};

/// A cursor that fits one owner and one set of filters (A2A-OP-82).
///
/// Eight bytes of digest tell a token of another list from one of this. They need no key:
/// whatever a client forges, the list still holds its own tasks only.
pub(super) fn encode(cursor: &Cursor, owner: &Owner, request: &ListTasksRequest) -> String {
    let mut bytes = fingerprint(owner, request).to_vec();
    bytes.extend_from_slice(&cursor.millis().to_be_bytes());
    bytes.extend_from_slice(cursor.id().as_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// `None` if the token is not one of this list.
pub(super) fn decode(token: &str, owner: &Owner, request: &ListTasksRequest) -> Option<Cursor> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let (print, rest) = bytes.split_first_chunk::<8>()?;
    let (millis, id) = rest.split_first_chunk::<8>()?;
    if *print != fingerprint(owner, request) {
        return None;
    }
    let id = str::from_utf8(id).ok()?;
    Some(Cursor::new(i64::from_be_bytes(*millis), id))
}

fn fingerprint(owner: &Owner, request: &ListTasksRequest) -> [u8; 8] {
    let since = request
        .status_timestamp_after
        .map(|time| time.unix_millis().to_be_bytes());
    let mut digest = Sha256::new();
    for part in [
        owner.tenant().as_bytes(),
        owner.account().as_bytes(),
        request.context_id.as_bytes(),
        &[request.status.number()],
        since.as_ref().map_or(&[], |since| since.as_slice()),
    ] {
        digest.update((part.len() as u64).to_be_bytes());
        digest.update(part);
    }
    let digest = digest.finalize();
    let mut print = [0; 8];
    print.copy_from_slice(&digest[..8]);
    print
}
