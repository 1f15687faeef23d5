use std::{future::Future, pin::Pin};

use http::Uri;

use crate::{
    client::{BoxError, error::CallError},
    signing::{PublicKey, Signer, TrustedKeys, signers, verify_card},
};

/// A key on its way.
pub type LookingUp<'a> =
    Pin<Box<dyn Future<Output = Result<Option<PublicKey>, BoxError>> + Send + 'a>>;

/// Where the keys are that cards are believed for: [`TrustedKeys`] that the application has, or
/// [`Jwks`](super::Jwks) that a card names.
///
/// A source has the last word on who is trusted: a signature proves only that somebody has the key.
pub trait KeySource: Send + Sync + 'static {
    /// The key of a signer, as the card from `card_url` names it; `None` if it is not trusted.
    fn key<'a>(&'a self, signer: &'a Signer, card_url: Option<&'a Uri>) -> LookingUp<'a>;
}

impl KeySource for TrustedKeys {
    fn key<'a>(&'a self, signer: &'a Signer, _: Option<&'a Uri>) -> LookingUp<'a> {
        Box::pin(std::future::ready(Ok(self.get(signer.key_id()).cloned())))
    }
}

/// The id of the key that has signed the card.
pub(super) async fn verify(
    source: &dyn KeySource,
    card: &str,
    url: Option<&Uri>,
) -> Result<String, CallError> {
    let untrusted = |error: BoxError| CallError::Untrusted(error);
    let mut keys = TrustedKeys::new();
    let mut failed = None;
    for signer in signers(card).map_err(|error| untrusted(error.into()))? {
        match source.key(&signer, url).await {
            Ok(Some(key)) => keys = keys.with(signer.key_id(), key),
            Ok(None) => {}
            // Another signature may do.
            Err(error) => failed = Some(error),
        }
    }
    match (verify_card(card, &keys), failed) {
        (Ok(verified), _) => Ok(verified.key_id().to_owned()),
        (Err(_), Some(error)) => Err(untrusted(error)),
        (Err(error), None) => Err(untrusted(error.into())),
    }
}
