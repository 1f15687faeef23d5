use std::{
    fmt,
    pin::Pin,
    task::{Context, Poll, ready},
};

use pin_project::pin_project;
use portcullis::{Failure, Prompt, Scope};

use super::{AuthError, Authorize, Identity, error::log};

/// Waits until it is known who asks, and whether they may.
///
/// # Cancel safety
///
/// Dropping it withdraws both questions.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct Admit<E, P: Authorize> {
    #[pin]
    stage: Stage<E, P::Authorize>,
    policy: P,
    /// Taken when the turn is admitted.
    request: Option<(Scope, Prompt)>,
}

#[pin_project(project = StageProject)]
enum Stage<E, A> {
    /// Who is it?
    Establishing(#[pin] E),
    /// May they?
    Authorizing(#[pin] A),
}

impl<E, P: Authorize> Admit<E, P> {
    pub(super) const fn new(establish: E, policy: P, scope: Scope, prompt: Prompt) -> Self {
        Self {
            stage: Stage::Establishing(establish),
            policy,
            request: Some((scope, prompt)),
        }
    }
}

impl<E, P> Future for Admit<E, P>
where
    E: Future<Output = Result<Identity, AuthError>>,
    P: Authorize,
{
    type Output = Result<(Scope, Prompt, ()), Failure>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut this = self.project();
        loop {
            match this.stage.as_mut().project() {
                StageProject::Establishing(establish) => {
                    let who = match ready!(establish.poll(cx)) {
                        Ok(who) => who,
                        Err(error) => return refuse(error),
                    };
                    let (scope, prompt) = this.request.as_mut().expect("polled after completion");
                    scope.set_principal(Some(who.principal().clone()));
                    let authorize = this.policy.authorize(&who, scope, prompt);
                    scope.extensions_mut().insert(who);
                    this.stage.set(Stage::Authorizing(authorize));
                }
                StageProject::Authorizing(authorize) => {
                    if let Err(error) = ready!(authorize.poll(cx)) {
                        return refuse(error);
                    }
                    let (scope, prompt) = this.request.take().expect("polled after completion");
                    return Poll::Ready(Ok((scope, prompt, ())));
                }
            }
        }
    }
}

fn refuse<T>(error: AuthError) -> Poll<Result<T, Failure>> {
    log(&error);
    Poll::Ready(Err(error.into()))
}

impl<E, P: Authorize> fmt::Debug for Admit<E, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Establishing(_) => "establishing",
            Stage::Authorizing(_) => "authorizing",
        };
        f.debug_struct("Admit")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
