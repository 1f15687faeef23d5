use std::{future::poll_fn, pin::Pin, sync::Arc, task::ready};

use futures_core::Stream;
use futures_util::{StreamExt, future::BoxFuture};

use super::cleanup::Cleanup;
use crate::{
    client::{CallError, Client, Resume, ResumedStream, Transport},
    model::{CancelTaskRequest, SendMessageRequest, StreamResponse},
};

/// One request and its stream. Dropped before its end, it has the task cancelled.
pub(super) struct Call<T: Transport> {
    client: Client<T>,
    state: State<T>,
    /// Who cancels; nobody if the task is to be left.
    cleanup: Option<Arc<Cleanup>>,
}

enum State<T> {
    /// The server has not answered. Nothing was sent before the first poll.
    Opening {
        reply: Reply<T>,
        is_sent: bool,
    },
    Open(Box<ResumedStream<T>>),
    Over,
}

type Reply<T> = BoxFuture<'static, Result<ResumedStream<T>, CallError>>;

impl<T: Transport> Call<T> {
    pub(super) fn new(
        client: Client<T>,
        request: SendMessageRequest,
        resume: Resume,
        cleanup: Option<Arc<Cleanup>>,
    ) -> Self {
        let sender = client.clone();
        let reply = async move {
            let stream = sender.send_streaming_message(&request).await?;
            Ok(sender.resuming(stream, resume))
        };
        Self {
            client,
            state: State::Opening {
                reply: Box::pin(reply),
                is_sent: false,
            },
            cleanup,
        }
    }

    /// The next frame. After an error or the end there is none.
    pub(super) async fn next(&mut self) -> Option<Result<StreamResponse, CallError>> {
        poll_fn(|cx| {
            loop {
                match &mut self.state {
                    State::Opening { reply, is_sent } => {
                        *is_sent = true;
                        match ready!(reply.as_mut().poll(cx)) {
                            Ok(stream) => self.state = State::Open(Box::new(stream)),
                            Err(error) => {
                                self.state = State::Over;
                                return Some(Err(error)).into();
                            }
                        }
                    }
                    State::Open(stream) => {
                        let next = ready!(Pin::new(&mut **stream).poll_next(cx));
                        return next.map(|event| event.map(|event| event.response)).into();
                    }
                    State::Over => return None.into(),
                }
            }
        })
        .await
    }

    /// Nothing is left to be cancelled.
    pub(super) fn finish(&mut self) {
        self.state = State::Over;
    }
}

impl<T: Transport> Drop for Call<T> {
    fn drop(&mut self) {
        let state = std::mem::replace(&mut self.state, State::Over);
        let Some(cleanup) = &self.cleanup else {
            return;
        };
        let client = self.client.clone();
        match state {
            State::Opening { is_sent: false, .. } | State::Over => {}
            State::Opening { reply, .. } => cleanup.take(Box::pin(async move {
                if let Ok(stream) = reply.await {
                    cancel_stream(client, stream).await;
                }
            })),
            State::Open(stream) => cleanup.take(Box::pin(cancel_stream(client, *stream))),
        }
    }
}

/// Cancels what a stream is about; reads on until it says so.
async fn cancel_stream<T: Transport>(client: Client<T>, mut stream: ResumedStream<T>) {
    while stream.task_id().is_none() {
        let Some(Ok(_)) = stream.next().await else {
            return;
        };
    }
    let Some(id) = stream.task_id().map(str::to_owned) else {
        return;
    };
    drop(stream);
    if let Err(error) = client.cancel_task(&CancelTaskRequest::new(&id)).await {
        // It may be over by now.
        tracing::debug!(%error, task = id, "a remote task was not cancelled");
    }
}
