//! Calling.

use std::future::pending;

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis_net::{HttpClient, Server, bind};
use tower::{ServiceExt, service_fn};

use crate::support::hello;

fn get(url: &str) -> Request<Full<Bytes>> {
    Request::get(url).body(Full::default()).unwrap()
}

#[tokio::test]
async fn nobody_there_is_said_plainly() {
    let address = bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let error = HttpClient::new()
        .oneshot(get(&format!("http://{address}/secret?token=1")))
        .await
        .unwrap_err();
    assert!(error.is_refused() && error.is_connect());
    assert_eq!(
        error.to_string(),
        format!("nobody listens at http://{address}")
    );
}

#[tokio::test]
async fn a_redirect_is_an_answer() {
    let listener = bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let calls = async {
        let client = HttpClient::new();
        let response = client
            .clone()
            .oneshot(get(&format!("http://{address}/away")))
            .await
            .unwrap();
        assert_eq!(response.status(), 302);
        let response = client
            .oneshot(get(&format!("http://{address}/")))
            .await
            .unwrap();
        assert_eq!(
            response.into_body().collect().await.unwrap().to_bytes(),
            "hello"
        );
    };
    tokio::select! {
        () = Server::new().serve(listener, service_fn(hello), pending()) => unreachable!("no stop"),
        () = calls => {}
    }
}
