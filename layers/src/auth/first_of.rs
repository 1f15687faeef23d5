use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project::pin_project;

use super::{AuthError, AuthErrorKind, Credentials, Identity, Verifier};

/// Two verifiers: the first that recognises the credentials decides. See [`Verifier::or`].
#[derive(Clone, Debug)]
pub struct FirstOf<A, B> {
    first: A,
    second: B,
}

impl<A, B> FirstOf<A, B> {
    pub(super) const fn new(first: A, second: B) -> Self {
        Self { first, second }
    }
}

impl<A: Verifier, B: Verifier + Clone> Verifier for FirstOf<A, B> {
    type Verify = VerifyFirst<A, B>;

    fn verify(&self, credentials: &Credentials) -> Self::Verify {
        VerifyFirst(Stage::First {
            verify: self.first.verify(credentials),
            second: Some((self.second.clone(), credentials.clone())),
        })
    }
}

/// The decision of a [`FirstOf`].
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct VerifyFirst<A: Verifier, B: Verifier>(#[pin] Stage<A, B>);

#[pin_project(project = StageProject)]
enum Stage<A: Verifier, B: Verifier> {
    First {
        #[pin]
        verify: A::Verify,
        second: Option<(B, Credentials)>,
    },
    Second(#[pin] B::Verify),
}

impl<A: Verifier, B: Verifier> Future for VerifyFirst<A, B> {
    type Output = Result<Identity, AuthError>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().0;
        loop {
            match stage.as_mut().project() {
                StageProject::First { verify, second } => {
                    // An invalid key stays invalid: only what is of another kind goes on, and a
                    // verifier that cannot tell is no reason to ask a weaker one.
                    let verified = ready!(verify.poll(cx));
                    match verified {
                        Err(error) if error.kind() == AuthErrorKind::Unrecognized => {}
                        verified => return Poll::Ready(verified),
                    }
                    let (verifier, credentials) = second.take().expect("polled after completion");
                    let verify = verifier.verify(&credentials);
                    stage.set(Stage::Second(verify));
                }
                StageProject::Second(verify) => return verify.poll(cx),
            }
        }
    }
}

impl<A: Verifier, B: Verifier> fmt::Debug for VerifyFirst<A, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("VerifyFirst").finish_non_exhaustive()
    }
}
