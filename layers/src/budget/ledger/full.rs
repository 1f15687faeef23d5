use std::{error::Error, fmt};

/// There are as many accounts as a ledger may have, and none that could be forgotten without
/// giving somebody his budget again.
#[derive(Clone, Debug, Default)]
pub struct LedgerFull(());

impl LedgerFull {
    /// The error.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }
}

impl fmt::Display for LedgerFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the ledger has no room for another account")
    }
}

impl Error for LedgerFull {}
