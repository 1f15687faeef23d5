use std::future::{Future, poll_fn};

use bytes::{Buf, Bytes};
use http::{Request, Response};
use http_body::Body;
use http_body_util::{BodyExt, Full, combinators::UnsyncBoxBody};
use tower_service::Service;

use super::{BoxError, retry::Unsent};

pub(super) type ReplyBody = UnsyncBoxBody<Bytes, BoxError>;

/// What carries the requests of a client: every `tower` service of HTTP requests with a
/// `Full<Bytes>` for a body is one.
pub trait Transport: sealed::Sealed + Clone + Send + Sync + 'static {}

impl<S: sealed::Sealed + Clone + Send + Sync + 'static> Transport for S {}

mod sealed {
    use super::*;

    pub trait Sealed {
        #[doc(hidden)]
        fn exchange(
            &self,
            request: Request<Full<Bytes>>,
        ) -> impl Future<Output = Result<Response<ReplyBody>, BoxError>> + Send;
    }

    impl<S, B> Sealed for S
    where
        S: Service<Request<Full<Bytes>>, Response = Response<B>> + Clone + Send + Sync,
        S::Error: Into<BoxError>,
        S::Future: Send,
        B: Body + Send + 'static,
        B::Data: Send,
        B::Error: Into<BoxError>,
    {
        async fn exchange(
            &self,
            request: Request<Full<Bytes>>,
        ) -> Result<Response<ReplyBody>, BoxError> {
            let mut service = self.clone();
            poll_fn(|cx| service.poll_ready(cx))
                .await
                .map_err(Unsent::new)?;
            let response = service.call(request).await.map_err(Into::into)?;
            Ok(response.map(|body| {
                body.map_frame(|frame| {
                    frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))
                })
                .map_err(Into::into)
                .boxed_unsync()
            }))
        }
    }
}
