//! Calling.

use std::{
    error::Error,
    future::pending,
    net::{IpAddr, SocketAddr},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use bytes::Bytes;
use http::Request;
use http_body_util::{BodyExt, Full};
use portcullis_net::{
    ClientError, ForbiddenAddress, Guard, HttpClient, HttpClientBuilder, Server, Trust, bind,
};
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

fn is_forbidden(error: &ClientError) -> bool {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<ForbiddenAddress>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// O-P02: the address that is dialled is the one that was judged, on every attempt, by whatever name or
/// form it is called. Here 127.0.0.2 plays the public address, and 127.0.0.1 the private one.
#[tokio::test]
async fn a_guard_judges_what_is_dialled() {
    let open = bind("127.0.0.2:0").await.unwrap();
    let port = open.local_addr().unwrap().port();
    let secret = bind(&format!("127.0.0.1:{port}")).await.unwrap();
    let hits = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&hits);
    let private = service_fn(move |request| {
        counted.fetch_add(1, Ordering::SeqCst);
        hello(request)
    });
    let allowed: IpAddr = [127, 0, 0, 2].into();
    let answers = Arc::new(AtomicUsize::new(0));
    // First the public address, then another one: rebinding.
    let guard = Guard::new(move |address| address == allowed).resolver(move |host, port| {
        let public = answers.fetch_add(1, Ordering::SeqCst) == 0;
        let addresses: Vec<SocketAddr> = match &*host {
            "both.example" => vec![([127, 0, 0, 1], port).into(), ([127, 0, 0, 2], port).into()],
            _ if public => vec![([127, 0, 0, 2], port).into()],
            _ => vec![([127, 0, 0, 1], port).into()],
        };
        Box::pin(async { Ok(addresses) })
    });
    let ask = async |url: String| {
        let client = HttpClientBuilder::new()
            .idle_timeout(std::time::Duration::ZERO)
            .build_guarded::<Full<Bytes>>(guard.clone(), Trust::none());
        client.oneshot(get(&url)).await
    };
    let calls = async {
        let response = ask(format!("http://name.example:{port}/")).await.unwrap();
        assert_eq!(response.status(), 200);
        for url in [
            format!("http://name.example:{port}/"),
            format!("http://127.0.0.1:{port}/"),
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            format!("http://[::1]:{port}/"),
            format!("http://127.1:{port}/"),
            format!("http://2130706433:{port}/"),
            format!("https://127.0.0.1:{port}/"),
        ] {
            let error = ask(url.clone()).await.unwrap_err();
            assert!(is_forbidden(&error), "{url}: {error:?}");
        }
        // Of several addresses only those that are allowed are tried.
        let response = ask(format!("http://both.example:{port}/")).await.unwrap();
        assert_eq!(response.status(), 200);
        assert_eq!(hits.load(Ordering::SeqCst), 0);
    };
    tokio::select! {
        () = Server::new().serve(open, service_fn(hello), pending()) => unreachable!("no stop"),
        () = Server::new().serve(secret, private, pending()) => unreachable!("no stop"),
        () = calls => {}
    }
}
