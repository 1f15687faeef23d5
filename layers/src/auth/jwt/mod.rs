//! Bearer tokens that are JWTs.

mod cache;
mod claims;
mod family;
mod fetch;
mod jwks;
mod key_set;
mod provider;
mod verifier;

pub use self::{
    family::Family,
    jwks::Jwks,
    verifier::{InvalidJwt, Jwt, VerifyJwt},
};
