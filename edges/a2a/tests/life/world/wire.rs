use std::{
    convert::Infallible,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::future::{BoxFuture, Either, FutureExt, select};
use http::{HeaderValue, Request, Response, StatusCode, header::CONTENT_TYPE};
use http_body::{Body, Frame};
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use portcullis::Principal;
use portcullis_a2a::client::{Binding, Client};
use tokio::sync::watch;
use tower::{Service, ServiceExt, util::BoxCloneSyncService};

use super::host::Host;

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// What carries the calls of a client, whatever is below it.
#[derive(Clone)]
pub(crate) struct Line(BoxCloneSyncService<Request<Full<Bytes>>, Reply, BoxError>);

type Reply = Response<UnsyncBoxBody<Bytes, BoxError>>;

impl Service<Request<Full<Bytes>>> for Line {
    type Response = Reply;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Reply, BoxError>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.0.poll_ready(cx)
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        self.0.call(request)
    }
}

/// How clients reach the host.
pub(crate) trait Road: Send + Sync + 'static {
    fn line(&self, binding: Binding) -> Line;

    /// Scheme, host and port.
    fn origin(&self) -> String;

    /// Takes it down, with all that stands on it.
    fn close(self: Box<Self>) -> BoxFuture<'static, ()> {
        async {}.boxed()
    }
}

/// A road without sockets.
pub(crate) struct InProcess(pub(crate) Front);

impl Road for InProcess {
    fn line(&self, _: Binding) -> Line {
        line(self.0.clone())
    }

    fn origin(&self) -> String {
        "http://in.process".to_owned()
    }
}

/// A line over any service.
pub(crate) fn line<S, B>(service: S) -> Line
where
    S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync + 'static,
    S::Error: Into<BoxError>,
    S::Future: Send + 'static,
    B: Body<Data = Bytes> + Send + 'static,
    B::Error: Into<BoxError>,
{
    let service = service
        .map_response(|response: Response<B>| {
            response.map(|body| body.map_err(Into::into).boxed_unsync())
        })
        .map_err(Into::into);
    Line(BoxCloneSyncService::new(service))
}

/// A client on behalf of somebody.
pub(crate) fn client(road: &dyn Road, binding: Binding, who: &str) -> Client<Line> {
    let who = HeaderValue::from_str(who).expect("a name");
    let line = road
        .line(binding)
        .map_request(move |mut request: Request<Full<Bytes>>| {
            request.headers_mut().insert(WHO, who.clone());
            request
        });
    let path = if binding == Binding::Rest {
        "/rest"
    } else {
        "/"
    };
    let url = format!("{}{path}", road.origin())
        .parse()
        .expect("an address");
    Client::over(binding, Line(BoxCloneSyncService::new(line)), url)
}

/// Who a name in the header is, as a layer that authenticates would say.
pub(crate) fn principal(who: &str) -> Principal {
    Principal::new("user", "https://issuer.example.com", who)
}

const WHO: &str = "x-who";

/// The server that the host runs now, as a service. Its replies are cut when that one dies.
#[derive(Clone)]
pub(crate) struct Front(pub(crate) Arc<Host>);

impl<B> Service<Request<B>> for Front
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Reply;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Reply, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let who = request.headers().get(WHO).and_then(|who| who.to_str().ok());
        if let Some(who) = who.map(principal) {
            request.extensions_mut().insert(who);
        }
        let Some((service, cut)) = self.0.service() else {
            return async { Ok(nobody()) }.boxed();
        };
        async move {
            let mut died = died(cut);
            Ok(match select(service.oneshot(request), &mut died).await {
                Either::Left((Ok(response), _)) => {
                    let is_stream = response.headers()[CONTENT_TYPE] == "text/event-stream";
                    let ends = is_stream.then_some(false);
                    response.map(|body| Cut { body, died, ends }.boxed_unsync())
                }
                Either::Right(_) => nobody(),
            })
        }
        .boxed()
    }
}

fn nobody() -> Reply {
    let mut response = Response::new(Full::<Bytes>::default().map_err(Into::into).boxed_unsync());
    *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
    response
}

fn died(mut cut: watch::Receiver<bool>) -> BoxFuture<'static, ()> {
    // A host that is gone has died too.
    async move { drop(cut.wait_for(|cut| *cut).await) }.boxed()
}

/// A body that breaks off when its server dies.
struct Cut<B> {
    body: B,
    died: BoxFuture<'static, ()>,
    /// Of an event stream: whether the last event has come. Clients may go then, so it is seen here
    /// that the server ends it too (A2A-OP-58).
    ends: Option<bool>,
}

/// Whether this is the end of a task, as a stream tells it.
fn is_last(event: &[u8]) -> bool {
    let event = std::str::from_utf8(event).expect("JSON");
    let states = ["COMPLETED", "FAILED", "CANCELED", "REJECTED"];
    event.contains(r#""statusUpdate""#)
        && states
            .iter()
            .any(|state| event.contains(&format!(r#""state":"TASK_STATE_{state}""#)))
}

impl<B: Body<Data = Bytes, Error = Infallible> + Unpin> Body for Cut<B> {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.died.poll_unpin(cx).is_ready() {
            return Poll::Ready(Some(Err("the server died".into())));
        }
        if self.ends == Some(true) {
            return Poll::Ready(None);
        }
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(event) = frame.data_ref()
            && self.ends.is_some()
            && is_last(event)
        {
            let rest = Pin::new(&mut self.body).poll_frame(cx);
            assert!(
                matches!(rest, Poll::Ready(None)),
                "a stream goes on behind {event:?}"
            );
            self.ends = Some(true);
        }
        polled.map_err(|never| match never {})
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }
}
