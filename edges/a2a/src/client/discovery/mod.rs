//! From an address to a client: the card, whether it is to be believed, and which of its
//! interfaces is called.

mod cards;
mod choice;
mod discovered;
mod freshness;
#[cfg(feature = "sign")]
mod jwks;
#[cfg(feature = "sign")]
mod keys;
mod place;
mod reach;
mod reference;

pub use self::{
    cards::Cards,
    choice::{Choice, Unusable},
    discovered::Discovered,
    place::fetch_card,
    reach::Reach,
};
#[cfg(feature = "sign")]
#[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
pub use self::{
    jwks::Jwks,
    keys::{KeySource, LookingUp},
};
