use std::{
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll, ready},
    time::Duration,
};

use futures_core::Stream;
use tokio::time::{Instant, Sleep, sleep};
use tonic::Streaming;

use super::{
    error::CallError,
    frames::Told,
    grpc::{self, failed, is_broken},
    limits::Limits,
};
use crate::proto::a2a;

/// The events of a stream over gRPC.
pub(super) struct Messages {
    inner: Streaming<a2a::StreamResponse>,
    /// What was read to know that it is a stream.
    first: Option<Told>,
    limits: Limits,
    /// Only where somebody has set it: nothing comes while an agent thinks.
    silence: Option<(Duration, Pin<Box<Sleep>>)>,
}

impl Messages {
    /// A refusal before the first event is one of the call.
    pub(super) async fn open(
        inner: Streaming<a2a::StreamResponse>,
        limits: Limits,
    ) -> Result<Self, CallError> {
        let mut messages = Self {
            inner,
            first: None,
            limits,
            silence: limits.idle.map(|idle| (idle, Box::pin(sleep(idle)))),
        };
        messages.first = poll_fn(|cx| messages.poll_next(cx)).await.transpose()?;
        Ok(messages)
    }

    pub(super) fn poll_next(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Told, CallError>>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let Poll::Ready(next) = Pin::new(&mut self.inner).poll_next(cx) else {
            let Some((_, silence)) = &mut self.silence else {
                return Poll::Pending;
            };
            ready!(silence.as_mut().poll(cx));
            return Poll::Ready(Some(Err(CallError::Idle)));
        };
        if let Some((idle, silence)) = &mut self.silence {
            silence.as_mut().reset(Instant::now() + *idle);
        }
        Poll::Ready(match next {
            Some(Ok(message)) => {
                Some(grpc::event(&message).map(|response| Told { id: None, response }))
            }
            Some(Err(status)) if !is_broken(&status) => {
                Some(Err(failed(status, self.limits.piece)))
            }
            Some(Err(error)) => {
                tracing::debug!(%error, "the connection broke");
                None
            }
            None => None,
        })
    }
}
