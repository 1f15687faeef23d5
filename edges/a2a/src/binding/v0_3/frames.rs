use std::{
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;

use crate::{
    log::Seq,
    model::{
        Error, StreamResponse, Task,
        v0_3::{Form, ends_stream},
    },
    server,
};

/// The frames of a stream in a form of 0.3. It ends after the frame that says that it is the last
/// (A2A-COMPAT-4).
#[derive(Debug)]
pub(in crate::binding) struct Frames {
    form: Form,
    first: Option<Frame>,
    rest: Option<server::Frames>,
}

/// One frame.
#[derive(Debug)]
pub(in crate::binding) struct Frame {
    pub(in crate::binding) seq: Option<Seq>,
    pub(in crate::binding) json: String,
}

impl Frames {
    pub(super) const fn new(form: Form, frames: server::Frames) -> Self {
        Self {
            form,
            first: None,
            rest: Some(frames),
        }
    }

    /// A task and nothing after it.
    pub(super) fn of_task(form: Form, task: Task) -> Self {
        let frame = Frame {
            seq: None,
            json: json_of(form, &StreamResponse::Task(task)),
        };
        Self {
            form,
            first: Some(frame),
            rest: None,
        }
    }
}

impl Stream for Frames {
    type Item = Result<Frame, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if let Some(first) = self.first.take() {
            return Poll::Ready(Some(Ok(first)));
        }
        let Some(rest) = &mut self.rest else {
            return Poll::Ready(None);
        };
        let item = ready!(Pin::new(rest).poll_next(cx)).map(|frame| {
            let frame = frame?;
            let response = frame.decode().map_err(|invalid| {
                tracing::error!(%invalid, "the store is damaged");
                Error::internal(invalid)
            })?;
            Ok((frame.seq(), response))
        });
        let is_last = match &item {
            Some(Ok((_, response))) => ends_stream(response),
            Some(Err(_)) | None => true,
        };
        if is_last {
            self.rest = None;
        }
        let form = self.form;
        Poll::Ready(item.map(|item| {
            item.map(|(seq, response)| Frame {
                seq,
                json: json_of(form, &response),
            })
        }))
    }
}

fn json_of(form: Form, response: &StreamResponse) -> String {
    serde_json::to_string(&form.write(response)).expect("the model always encodes")
}
