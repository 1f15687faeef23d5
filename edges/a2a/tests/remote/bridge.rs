//! Servers for a test on a paused clock: they live in a runtime of their own, on the real one.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::mpsc as threads,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as HttpBody, Frame};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis_a2a::binding::OnePort;
use portcullis_net::bind;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::{mpsc, oneshot},
};
use tower::{Service, ServiceExt};

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;
pub(crate) type Body = UnsyncBoxBody<Bytes, Failed>;
type Answer = Result<Response<mpsc::Receiver<Result<Frame<Bytes>, Failed>>>, Failed>;

/// The other runtime.
pub(crate) struct Elsewhere(Option<Runtime>);

impl Elsewhere {
    pub(crate) fn new() -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build();
        Self(Some(runtime.unwrap()))
    }

    fn handle(&self) -> Handle {
        let runtime = self.0.as_ref().expect("until it is dropped");
        runtime.handle().clone()
    }

    /// Serves on a socket, and says where.
    pub(crate) fn listen(&self, make: impl FnOnce(&str) -> OnePort) -> String {
        let handle = self.handle();
        // A runtime must not wait in another one.
        let bound = std::thread::spawn(move || handle.block_on(bind("127.0.0.1:0")).unwrap());
        let listener = bound.join().unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let serving = portcullis_net::Server::new();
        let port = make(&origin);
        self.handle()
            .spawn(serving.serve(listener, port, std::future::pending()));
        origin
    }

    /// A transport that sends from there, and stops there when it is dropped here.
    pub(crate) fn bridge<S>(&self, service: S) -> Bridge<S> {
        Bridge {
            handle: self.handle(),
            service,
        }
    }
}

impl Drop for Elsewhere {
    fn drop(&mut self) {
        // A runtime must not wait in another one.
        self.0.take().expect("once").shutdown_background();
    }
}

#[derive(Clone)]
pub(crate) struct Bridge<S> {
    handle: Handle,
    service: S,
}

impl<S, B> Service<Request<Full<Bytes>>> for Bridge<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<Failed> + Send,
    S::Future: Send,
    B: HttpBody<Data = Bytes> + Send + Unpin + 'static,
    B::Error: Into<Failed> + Send,
{
    type Response = Response<Body>;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Failed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let (answer, answered) = oneshot::channel();
        self.handle
            .spawn(carry(self.service.clone(), request, answer));
        Box::pin(async move {
            let response = Unhurried::new(answered).await??;
            Ok(response.map(|frames| {
                let frames = futures_util::stream::unfold(frames, async |mut frames| {
                    let frame = Unhurried::new(Box::pin(frames.recv())).await?;
                    Some((frame, frames))
                });
                StreamBody::new(frames).boxed_unsync()
            }))
        })
    }
}

async fn carry<S, B>(service: S, request: Request<Full<Bytes>>, mut answer: oneshot::Sender<Answer>)
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>>,
    S::Error: Into<Failed> + Send,
    B: HttpBody<Data = Bytes> + Unpin,
    B::Error: Into<Failed> + Send,
{
    let response = tokio::select! {
        response = service.oneshot(request) => response,
        () = answer.closed() => return,
    };
    let (head, mut body) = match response {
        Ok(response) => response.into_parts(),
        Err(error) => return drop(answer.send(Err(error.into()))),
    };
    let (frames, received) = mpsc::channel(1);
    if answer
        .send(Ok(Response::from_parts(head, received)))
        .is_err()
    {
        return;
    }
    loop {
        let frame = tokio::select! {
            frame = body.frame() => frame,
            () = frames.closed() => return,
        };
        let Some(frame) = frame else { return };
        if frames.send(frame.map_err(Into::into)).await.is_err() {
            return;
        }
    }
}

/// While it waits, the paused clock of its runtime does not jump ahead: what it waits for comes from
/// outside.
struct Unhurried<F> {
    future: F,
    waits: Option<threads::Sender<Infallible>>,
}

impl<F> Unhurried<F> {
    const fn new(future: F) -> Self {
        Self {
            future,
            waits: None,
        }
    }
}

impl<F: Future + Unpin> Future for Unhurried<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let polled = Pin::new(&mut self.future).poll(cx);
        if polled.is_ready() {
            self.waits = None;
        } else if self.waits.is_none() {
            let (waits, over) = threads::channel::<Infallible>();
            // The clock stands still while a blocking task runs.
            tokio::task::spawn_blocking(move || over.recv());
            self.waits = Some(waits);
        }
        polled
    }
}
