use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http::Request;
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use portcullis::{AgentEvent, Emitter, Failure, Prompt, Scope, agent_fn};
use portcullis_http::server::TurnService;
use tower::ServiceExt;

use crate::support::*;

async fn status_of<B>(service: TurnService, body: B) -> u16
where
    B: http_body::Body + Send + 'static,
    B::Data: Send,
{
    let request = Request::post("/")
        .header("content-type", "application/json")
        .body(body)
        .unwrap();
    let Ok(response) = service.oneshot(request).await;
    response.status().as_u16()
}

/// O-M04: nothing is kept of a body that is longer, and one that says so is not read.
#[tokio::test(start_paused = true)]
async fn a_body_is_bounded_in_size() {
    let service = emits([]).body_limit(64);
    let fits = asking("p");
    assert!(fits.len() <= 64);
    assert_eq!(exchange(&service, post(SSE, fits)).await.status, 200);
    let long = asking(&"p".repeat(64));
    assert_eq!(exchange(&service, post(SSE, long)).await.status, 413);

    let taken = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&taken);
    let endless = StreamBody::new(stream::repeat(()).map(move |()| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok::<_, Infallible>(Frame::data(Bytes::from_static(&[b' '; 16])))
    }));
    assert_eq!(status_of(service.clone(), endless).await, 413);
    assert!(taken.load(Ordering::Relaxed) <= 6);

    let mut lies = post(SSE, asking("p"));
    let headers = lies.headers_mut();
    headers.insert("content-length", "65".parse().unwrap());
    assert_eq!(exchange(&service, lies).await.status, 413);
}

/// Critique A16.
#[tokio::test(start_paused = true)]
async fn images_are_bounded_in_number() {
    let service = emits([]).image_limit(2);
    for (count, status) in [(0, 200), (2, 200), (3, 400)] {
        let images = vec![serde_json::json!({"mimeType": "image/png", "data": "AA=="}); count];
        let body = serde_json::json!({
            "scope": {"session": "s"}, "prompt": {"text": "p", "images": images},
        });
        let read = exchange(&service, post(SSE, body.to_string())).await;
        assert_eq!(read.status, status, "{count}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_is_bounded_in_time() {
    let service = emits([]).body_timeout(Duration::from_secs(5));
    let began = tokio::time::Instant::now();
    let slow = StreamBody::new(stream::unfold((), async |()| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Some((
            Ok::<_, Infallible>(Frame::data(Bytes::from_static(b" "))),
            (),
        ))
    }));
    let slow = slow.boxed_unsync();
    assert_eq!(status_of(service, slow).await, 408);
    assert_eq!(began.elapsed(), Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_breaks_off_is_none() {
    let broken = StreamBody::new(stream::iter([
        Ok(Frame::data(Bytes::from_static(b"{"))),
        Err(std::io::Error::other("reset")),
    ]));
    assert_eq!(status_of(emits([]), broken).await, 400);
}

#[tokio::test(start_paused = true)]
async fn an_event_is_bounded() {
    let repeats = agent_fn(async |_: Scope, prompt: Prompt, out: Emitter| {
        out.emit(AgentEvent::text("a")).await;
        out.emit(AgentEvent::text(prompt.as_text())).await;
        Ok::<_, Failure>(())
    });
    let service = TurnService::new(repeats).event_limit(100);
    let fits = lines_of(&service, &"x".repeat(74)).await;
    assert_eq!(fits.len(), 3);
    assert_eq!(fits[1].len(), 100);
    let cut = lines_of(&service, &"x".repeat(75)).await;
    assert_eq!(cut.len(), 2);
    assert!(cut[1].contains("invalid_output"), "{cut:?}");
}

/// Nothing runs ahead of a reader.
#[tokio::test(start_paused = true)]
async fn an_agent_waits_for_its_reader() {
    let said = Arc::new(AtomicUsize::new(0));
    let counts = Arc::clone(&said);
    let floods = agent_fn(move |_: Scope, _: Prompt, out: Emitter| {
        let counts = Arc::clone(&counts);
        async move {
            loop {
                counts.fetch_add(1, Ordering::Relaxed);
                out.emit(AgentEvent::text("x")).await;
            }
            #[expect(unreachable_code, reason = "says what the block answers")]
            Ok::<(), Failure>(())
        }
    });
    let service = TurnService::new(floods);
    let mut body = send(&service, post(SSE, asking("p"))).await.into_body();
    for taken in 1..100 {
        assert!(body.frame().await.is_some());
        tokio::task::yield_now().await;
        assert!(said.load(Ordering::Relaxed) <= taken + 1);
    }
}
