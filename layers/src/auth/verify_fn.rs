use std::fmt;

use super::{AuthError, Credentials, Identity, Verifier};

/// A verifier that is an async function.
///
/// ```
/// use portcullis::Principal;
/// use portcullis_layers::auth::{AuthError, Credentials, Identity, Scheme, verify_fn};
///
/// let passwords = verify_fn(async |presented: Credentials| {
///     if presented.scheme() != Scheme::Basic {
///         return Err(AuthError::unrecognized());
///     }
///     match ask_the_directory(presented.user(), presented.secret()).await {
///         true => Ok(Identity::new(Principal::new("user", "directory", presented.user()))),
///         false => Err(AuthError::invalid("the user or the password is wrong")),
///     }
/// });
/// # async fn ask_the_directory(_: &str, _: &str) -> bool { true }
/// # let _ = passwords;
/// ```
pub const fn verify_fn<F, Fut>(verify: F) -> VerifyFn<F>
where
    F: Fn(Credentials) -> Fut,
    Fut: Future<Output = Result<Identity, AuthError>>,
{
    VerifyFn(verify)
}

/// A verifier that is an async function: [`verify_fn`].
#[derive(Clone)]
pub struct VerifyFn<F>(F);

impl<F, Fut> Verifier for VerifyFn<F>
where
    F: Fn(Credentials) -> Fut,
    Fut: Future<Output = Result<Identity, AuthError>>,
{
    type Verify = Fut;

    fn verify(&self, credentials: &Credentials) -> Fut {
        self.0(credentials.clone())
    }
}

impl<F> fmt::Debug for VerifyFn<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyFn").finish_non_exhaustive()
    }
}
