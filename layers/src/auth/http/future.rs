use std::{
    fmt,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use http::{Request, Response};
use pin_project::pin_project;
use tower_service::Service;

use super::{HttpAuthBody, Refusal, settings::Settings};
use crate::auth::{AuthError, Verifier, error::log};

/// The response of an [`HttpAuth`](super::HttpAuth).
///
/// # Cancel safety
///
/// Dropping it withdraws the question, or drops the future of the service behind.
#[pin_project]
#[must_use = "futures do nothing unless polled"]
pub struct HttpAuthFuture<S: Service<Request<B>>, V: Verifier, B> {
    #[pin]
    stage: Stage<S::Future, V::Verify>,
    /// Taken when the service is called.
    waiting: Option<Waiting<S, B>>,
}

struct Waiting<S, B> {
    inner: S,
    request: Request<B>,
}

#[pin_project(project = StageProject)]
enum Stage<F, V> {
    /// Who is it?
    Verifying {
        #[pin]
        verify: V,
        settings: Arc<Settings>,
    },
    /// Let through; the service is not ready yet.
    Readying,
    /// Let through.
    Calling(#[pin] F),
    /// Not let through. Taken when it is handed out.
    Refused(Option<Response<HttpAuthBody<()>>>),
}

impl<S: Service<Request<B>>, V: Verifier, B> HttpAuthFuture<S, V, B> {
    pub(super) const fn verifying(
        verify: V::Verify,
        inner: S,
        request: Request<B>,
        settings: Arc<Settings>,
    ) -> Self {
        Self {
            stage: Stage::Verifying { verify, settings },
            waiting: Some(Waiting { inner, request }),
        }
    }

    pub(super) const fn let_through(inner: S, request: Request<B>) -> Self {
        Self {
            stage: Stage::Readying,
            waiting: Some(Waiting { inner, request }),
        }
    }

    pub(super) fn refused(error: &AuthError, request: &Request<B>, settings: &Settings) -> Self {
        log(error);
        let response = Refusal::new(error, request.uri().path()).response(settings);
        Self {
            stage: Stage::Refused(Some(response)),
            waiting: None,
        }
    }
}

impl<S, V, B, R> Future for HttpAuthFuture<S, V, B>
where
    S: Service<Request<B>, Response = Response<R>>,
    V: Verifier,
{
    type Output = Result<Response<HttpAuthBody<R>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        const TAKEN: &str = "polled after completion";
        let mut this = self.project();
        loop {
            match this.stage.as_mut().project() {
                StageProject::Verifying { verify, settings } => {
                    let who =
                        ready!(verify.poll(cx)).and_then(|who| settings.check(&who).map(|()| who));
                    let waiting = this.waiting.as_mut().expect(TAKEN);
                    match who {
                        Ok(who) => {
                            let extensions = waiting.request.extensions_mut();
                            extensions.insert(who.principal().clone());
                            extensions.insert(who);
                            this.stage.set(Stage::Readying);
                        }
                        Err(error) => {
                            log(&error);
                            let path = waiting.request.uri().path();
                            let response = Refusal::new(&error, path).response(settings);
                            *this.waiting = None;
                            return Poll::Ready(Ok(response));
                        }
                    }
                }
                StageProject::Readying => {
                    let waiting = this.waiting.as_mut().expect(TAKEN);
                    ready!(waiting.inner.poll_ready(cx))?;
                    let Waiting { mut inner, request } = this.waiting.take().expect(TAKEN);
                    this.stage.set(Stage::Calling(inner.call(request)));
                }
                StageProject::Calling(call) => {
                    return call
                        .poll(cx)
                        .map_ok(|response| response.map(HttpAuthBody::inner));
                }
                StageProject::Refused(response) => {
                    let response = response.take().expect(TAKEN);
                    return Poll::Ready(Ok(response.map(HttpAuthBody::of_nobody)));
                }
            }
        }
    }
}

impl<S: Service<Request<B>>, V: Verifier, B> fmt::Debug for HttpAuthFuture<S, V, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stage = match &self.stage {
            Stage::Verifying { .. } => "verifying",
            Stage::Readying => "readying",
            Stage::Calling(_) => "calling",
            Stage::Refused(_) => "refused",
        };
        f.debug_struct("HttpAuthFuture")
            .field("stage", &stage)
            .finish_non_exhaustive()
    }
}
