//! Deliveries over a real socket.

use std::{
    convert::Infallible,
    sync::{Arc, Mutex},
    time::Duration,
};

use bytes::Bytes;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Empty, Full};
use hyper::body::Incoming;
use portcullis_a2a::server::{
    Caller, Limits, Server, executor_fn,
    push::{HttpDelivery, Push, Screening},
};
use portcullis_net::{ForbiddenAddress, Guard, HttpClientBuilder, Trust, bind};
use serde_json::{Value, json};
use tower::service_fn;

use crate::support::{ALL, card, named, sending, work};

type Got = Arc<Mutex<Vec<(HeaderMap, Value)>>>;

async fn take(got: Got, request: Request<Incoming>) -> Result<Response<Empty<Bytes>>, Infallible> {
    let (parts, body) = request.into_parts();
    assert_eq!(parts.method, "POST");
    assert_eq!(parts.uri.path_and_query().unwrap(), "/a2a?x=1");
    let body = body.collect().await.unwrap().to_bytes();
    let mut got = got.lock().unwrap();
    got.push((parts.headers, serde_json::from_slice(&body).unwrap()));
    // The second one is to come again.
    let status = if got.len() == 2 { 503 } else { 204 };
    Ok(Response::builder()
        .status(status)
        .body(Empty::new())
        .unwrap())
}

/// EX-16 as it is on the wire, with one retry, and a guard that has the last word.
#[tokio::test]
async fn ex_16_on_the_wire() {
    let got = Got::default();
    let listener = bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/a2a?x=1", listener.local_addr().unwrap());
    let receiver = {
        let got = Arc::clone(&got);
        service_fn(move |request| take(Arc::clone(&got), request))
    };
    let mut limits = Limits::default();
    limits.push.first_pause = Duration::from_millis(10);
    let server = |allow: fn(std::net::IpAddr) -> bool| {
        let client =
            HttpClientBuilder::new().build_guarded::<Full<Bytes>>(Guard::new(allow), Trust::none());
        let deliver =
            HttpDelivery::new(client).forbidden_if(|error| error.is::<ForbiddenAddress>());
        let push = Push::new(deliver).screening(Screening::Private);
        Server::builder(executor_fn(work), card())
            .push(push)
            .limits(limits.clone())
            .build()
    };
    let webhook = json!({"url": url, "token": "tok-1",
        "authentication": {"scheme": "Bearer", "credentials": "s3cret"}});
    let params = sending("go", &webhook).to_string();
    let send = async |server: &Server, count: u64| {
        let stats = server.push_stats().unwrap();
        server
            .handle(&Caller::new(), "SendMessage", Some(&params))
            .await
            .unwrap();
        for _ in 0..500 {
            if stats.delivered() + stats.given_up() == count {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{stats:?}");
    };
    let calls = async {
        let guarded = server(|address| !address.is_loopback());
        send(&guarded, 1).await;
        assert!(
            got.lock().unwrap().is_empty(),
            "the guard has the last word"
        );
        let open = server(|_| true);
        send(&open, 4).await;
        let got = got.lock().unwrap();
        let names: Vec<String> = got.iter().map(|(_, body)| named(body)).collect();
        assert_eq!(names, [ALL[0], ALL[1], ALL[1], ALL[2], ALL[3]]);
        for (headers, _) in got.iter() {
            assert_eq!(headers["content-type"], "application/a2a+json");
            assert_eq!(headers["authorization"], "Bearer s3cret");
            assert_eq!(headers["x-a2a-notification-token"], "tok-1");
            assert_eq!(headers["a2a-version"], "1.0");
        }
        assert_eq!(got[1].0["x-a2a-delivery-id"], got[2].0["x-a2a-delivery-id"]);
        assert_ne!(got[0].0["x-a2a-delivery-id"], got[1].0["x-a2a-delivery-id"]);
    };
    tokio::select! {
        () = portcullis_net::Server::new().serve(listener, receiver, std::future::pending()) => unreachable!("no stop"),
        () = calls => {}
    }
}
