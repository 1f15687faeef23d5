use std::{fs, path::Path};

use portcullis_a2a::signing::TrustedKeys;

use crate::complaint::Complaint;

/// The public keys of a file: a JSON Web Key, or a set of them.
pub(super) fn read(file: &Path) -> Result<TrustedKeys, Complaint> {
    let shown = file.display();
    let text = fs::read_to_string(file)
        .map_err(|error| Complaint::usage(format!("cannot read {shown}: {error}")))?;
    let keys = TrustedKeys::from_jwks(&text)
        .or_else(|_| TrustedKeys::from_jwks(&format!(r#"{{"keys":[{text}]}}"#)))
        .map_err(|error| Complaint::usage(format!("{shown}: {error}")))?;
    if keys.is_empty() {
        return Err(Complaint::usage(format!(
            "{shown} has no key with an id that verifies cards: P-256, Ed25519 and RSA do"
        )));
    }
    Ok(keys)
}
