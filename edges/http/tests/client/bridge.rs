//! Sockets for a test on a paused clock: the other end lives in a runtime of its own, on the real one.

use std::{
    convert::Infallible,
    future::Future,
    pin::Pin,
    sync::mpsc as threads,
    task::{Context, Poll},
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::{Body as _, Frame};
use http_body_util::{BodyExt, Full, StreamBody, combinators::UnsyncBoxBody};
use portcullis_http::server::TurnService;
use portcullis_net::{HttpClient, bind};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::{mpsc, oneshot},
};
use tower::Service;

pub(crate) type Failed = Box<dyn std::error::Error + Send + Sync>;
type Body = UnsyncBoxBody<Bytes, Failed>;
type Answer = Result<Response<mpsc::Receiver<Result<Frame<Bytes>, Failed>>>, Failed>;

/// A server on a socket.
pub(crate) struct Served {
    runtime: Option<Runtime>,
    pub(crate) url: http::Uri,
}

impl Served {
    pub(crate) fn new(service: TurnService) -> Self {
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let handle = runtime.handle().clone();
        // A runtime must not wait in another one.
        let address = std::thread::spawn(move || {
            let listener = handle.block_on(bind("127.0.0.1:0")).unwrap();
            let address = listener.local_addr().unwrap();
            let serving = portcullis_net::Server::new();
            handle.spawn(serving.serve(listener, service, std::future::pending()));
            address
        });
        let url = format!("http://{}/", address.join().unwrap());
        Self {
            runtime: Some(runtime),
            url: url.parse().unwrap(),
        }
    }

    pub(crate) fn transport(&self) -> Bridge {
        Bridge(
            self.runtime
                .as_ref()
                .expect("until it is dropped")
                .handle()
                .clone(),
        )
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // A runtime must not wait in another one.
        self.runtime.take().expect("once").shutdown_background();
    }
}

/// A transport that sends from the other runtime, and stops there when it is dropped here.
#[derive(Clone)]
pub(crate) struct Bridge(Handle);

impl Service<Request<Full<Bytes>>> for Bridge {
    type Response = Response<Body>;
    type Error = Failed;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Failed>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Failed>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let (answer, answered) = oneshot::channel();
        self.0.spawn(carry(request, answer));
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

async fn carry(request: Request<Full<Bytes>>, mut answer: oneshot::Sender<Answer>) {
    let mut client = HttpClient::new();
    let response = tokio::select! {
        response = client.call(request) => response,
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
        if frames.send(frame.map_err(Into::into)).await.is_err() || body.is_end_stream() {
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
