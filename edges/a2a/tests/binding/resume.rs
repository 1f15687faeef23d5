//! Streams of a real server that are cut at every place: over each binding the caller reads what it
//! would have read.

use std::{
    collections::VecDeque,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, future::BoxFuture};
use http::{Request, Response};
use http_body::{Body, Frame};
use http_body_util::Full;
use portcullis_a2a::{
    binding::{OnePort, ResponseBody},
    client::{Binding, CallError, Client, Resume},
    model::{Message, Part, SendMessageRequest, StreamResponse},
};
use tower::Service;

use crate::support::{Step, rig};

/// Something new every ten seconds, so that every cut is taken up before the next.
fn slowly(_: &str) -> Vec<Step> {
    let pause = || Step::sleep(Duration::from_secs(10));
    vec![
        Step::working(),
        pause(),
        Step::artifact(r#"{"artifactId": "a", "parts": [{"text": "né "}]}"#),
        pause(),
        Step::append(r#"{"artifactId": "a", "parts": [{"text": "漢"}]}"#, false),
        pause(),
        Step::Status(portcullis_a2a::model::TaskState::Working, "half way"),
        pause(),
        Step::artifact(r#"{"artifactId": "b", "parts": [{"data": {"n": 1.5}}, {"text": "x"}]}"#),
        pause(),
        Step::append(r#"{"artifactId": "a", "parts": [{"raw": "AAEC"}]}"#, true),
        pause(),
        Step::completed(),
    ]
}

/// Cuts the responses that stream: each after as many bytes as it is told.
#[derive(Clone)]
struct Cutting {
    service: OnePort,
    cuts: Arc<Mutex<VecDeque<usize>>>,
}

struct CutBody {
    inner: ResponseBody,
    left: usize,
}

impl Body for CutBody {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.left == 0 {
            return Poll::Ready(Some(Err(std::io::ErrorKind::ConnectionReset.into())));
        }
        let frame = ready!(Pin::new(&mut self.inner).poll_frame(cx));
        let Some(frame) = frame else {
            return Poll::Ready(None);
        };
        let frame = frame.unwrap();
        Poll::Ready(Some(Ok(match frame.into_data() {
            Ok(mut data) => {
                data.truncate(self.left);
                self.left -= data.len();
                Frame::data(data)
            }
            Err(trailers) => trailers,
        })))
    }
}

impl Service<Request<Full<Bytes>>> for Cutting {
    type Response = Response<CutBody>;
    type Error = std::convert::Infallible;
    type Future = BoxFuture<'static, Result<Self::Response, Self::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Full<Bytes>>) -> Self::Future {
        let path = request.uri().path();
        let is_unary = path.ends_with("/GetTask") || request.method() == http::Method::GET;
        let answer = self.service.call(request);
        let cuts = Arc::clone(&self.cuts);
        Box::pin(async move {
            let response = answer.await?;
            let type_ = response.headers()["content-type"].to_str().unwrap();
            let streams = !is_unary && !type_.ends_with("json");
            let cut = streams.then(|| cuts.lock().unwrap().pop_front()).flatten();
            let left = cut.unwrap_or(usize::MAX);
            Ok(response.map(|inner| CutBody { inner, left }))
        })
    }
}

/// What a caller reads: one line an event.
async fn read(binding: Binding, cuts: &[usize]) -> Result<Vec<String>, CallError> {
    let rig = rig(slowly);
    let service = Cutting {
        service: rig.service(),
        cuts: Arc::new(Mutex::new(cuts.iter().copied().collect())),
    };
    let url = match binding {
        Binding::JsonRpc => "http://in.process/rpc",
        Binding::Rest => "http://in.process/rest",
        _ => "http://in.process",
    };
    let client = Client::over(binding, service, url.parse().unwrap());
    let message = SendMessageRequest::new(Message::user("m-1", [Part::text("go")]));
    let stream = client.send_streaming_message(&message).await?;
    let mut stream = client.resuming(stream, Resume::new());
    let mut lines = Vec::new();
    while let Some(event) = stream.next().await {
        lines.push(match event?.response {
            StreamResponse::Task(task) => format!("task {}", task.status.state.as_str()),
            StreamResponse::StatusUpdate(update) => {
                let said = update.status.message.as_ref().map(Message::text);
                format!("{} {said:?}", update.status.state.as_str())
            }
            StreamResponse::ArtifactUpdate(update) => {
                let parts = serde_json::to_string(&update.artifact.parts).unwrap();
                format!("{} {} {parts}", update.artifact.artifact_id, update.append)
            }
            other => format!("{other:?}"),
        });
    }
    Ok(lines)
}

#[tokio::test(start_paused = true)]
async fn a_cut_anywhere_is_not_seen() {
    // A2A-OP-61, O-S10, ruling 16
    for binding in [Binding::JsonRpc, Binding::Rest, Binding::Grpc] {
        let whole = read(binding, &[]).await.unwrap();
        assert_eq!(whole.len(), 8, "{whole:?}");
        let mut resumed = 0;
        for cut in (0..2_200).step_by(23) {
            // Once more soon after, then late, then never.
            match read(binding, &[cut, 11 + cut % 300, 600]).await {
                Ok(lines) => {
                    assert_eq!(lines, whole, "{binding}, cut after {cut} bytes");
                    resumed += 1;
                }
                // No task was named, so there is none to come back to.
                Err(error) => {
                    let is_early = matches!(
                        error,
                        CallError::Cut { task_id: None, .. } | CallError::Transport(_)
                    );
                    assert!(is_early, "{binding}, cut after {cut} bytes: {error:?}");
                }
            }
        }
        assert!(resumed > 70, "{binding}: {resumed}");
    }
}
