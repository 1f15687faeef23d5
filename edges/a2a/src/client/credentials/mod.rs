//! Showing who calls, as the security schemes of a card ask for it.

mod client_credentials;
mod credential;
mod layer;
mod placed;
mod service;
mod token;
mod wallet;

pub use self::{
    client_credentials::ClientCredentials,
    credential::Credential,
    layer::CredentialsLayer,
    service::Credentials,
    token::{Fetching, NoToken, TokenSource},
    wallet::{NoCredentials, Wallet},
};
