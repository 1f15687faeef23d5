//! Signatures over agent cards: JWS over the canonical form (section 8.4).
//!
//! A signature proves that the holder of a key wrote the card, and nothing about who that is:
//! [`TrustedKeys`] holds the keys that the application has decided to believe.
//!
//! ```
//! use portcullis_a2a::{
//!     model::{AgentCard, AgentInterface},
//!     signing::{CardSigner, PublicKey, TrustedKeys, verify_card},
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let pkcs8 = CardSigner::generate_ed25519();
//! let signer = CardSigner::ed25519("2026-key", &pkcs8)?;
//! let mut card = AgentCard::new("echo", "Says it again.", AgentInterface::json_rpc("https://a.example/"));
//! signer.sign(&mut card)?;
//!
//! let keys = TrustedKeys::new().with("2026-key", signer.public_key());
//! let received = serde_json::to_string(&card)?;
//! assert_eq!(verify_card(&received, &keys)?.key_id(), "2026-key");
//! # let _: PublicKey = signer.public_key();
//! # Ok(())
//! # }
//! ```

mod canonical;
mod header;
mod key;
mod pem;
mod schema;
mod signer;
mod signers;
mod unique;
mod verify;

pub use self::{
    canonical::{CanonicalError, Form, canonical_card},
    key::{JwkError, PublicKey, TrustedKeys},
    signer::{CardSigner, SigningError},
    signers::{Signer, signers},
    verify::{Verified, VerifyError, verify_card, verify_card_leniently},
};
