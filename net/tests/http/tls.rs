//! TLS: the handshake, the choice of HTTP, replaced certificates, clients that dawdle.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Version};
use http_body_util::{BodyExt, Full};
use portcullis_net::{HttpClientBuilder, Server, Tls, TlsError, Trust, bind};
use tempfile::TempDir;
use tokio::{sync::oneshot, task::JoinHandle};
use tower::{ServiceExt, service_fn};

use crate::support::{hello, pipes};

struct Pair {
    directory: TempDir,
}

impl Pair {
    fn new() -> Self {
        let pair = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        pair.renew();
        pair
    }

    fn certificate(&self) -> PathBuf {
        self.directory.path().join("server.crt")
    }

    fn key(&self) -> PathBuf {
        self.directory.path().join("server.key")
    }

    /// Another certificate, with another key.
    fn renew(&self) {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(self.key(), made.signing_key.serialize_pem()).unwrap();
        fs::write(self.certificate(), made.cert.pem()).unwrap();
    }

    fn tls(&self) -> Tls {
        Tls::from_files(self.certificate(), self.key()).unwrap()
    }
}

async fn start(server: Server) -> (String, oneshot::Sender<()>, JoinHandle<()>) {
    let listener = bind("localhost:0").await.unwrap();
    let url = format!(
        "https://localhost:{}/",
        listener.local_addr().unwrap().port()
    );
    let (stop, stopped) = oneshot::channel();
    let served = server.serve(listener, service_fn(hello), async {
        drop(stopped.await);
    });
    #[expect(clippy::disallowed_methods, reason = "the test awaits the handle")]
    let handle = tokio::spawn(served);
    (url, stop, handle)
}

/// A client of its own, so that no connection of before is used.
async fn get(url: &str, trusted: &Path) -> Result<(Version, Bytes), portcullis_net::ClientError> {
    let trust = Trust::none().add_pem_file(trusted).unwrap();
    let client = HttpClientBuilder::new().build_tls::<Full<Bytes>>(trust);
    let request = Request::get(url).body(Full::default()).unwrap();
    let response = client.oneshot(request).await?;
    let version = response.version();
    let body = response.into_body().collect().await.unwrap().to_bytes();
    Ok((version, body))
}

#[tokio::test]
async fn the_handshake_chooses_http_2() {
    let pair = Pair::new();
    let (url, stop, served) = start(Server::new().tls(pair.tls())).await;
    let (version, body) = get(&url, &pair.certificate()).await.unwrap();
    assert_eq!(version, Version::HTTP_2);
    assert_eq!(body, "hello");
    stop.send(()).unwrap();
    served.await.unwrap();
}

#[tokio::test]
async fn a_stranger_is_not_trusted() {
    let (pair, other) = (Pair::new(), Pair::new());
    let (url, _stop, _served) = start(Server::new().tls(pair.tls())).await;
    let error = get(&url, &other.certificate()).await.unwrap_err();
    assert!(error.is_connect(), "{error:?}");
    // And plain HTTP on that port is no way round.
    let plain = url.replace("https", "http");
    get(&plain, &pair.certificate()).await.unwrap_err();
}

/// New files are taken up while it serves; broken ones are not.
#[tokio::test]
async fn a_new_certificate_is_taken_up() {
    let pair = Pair::new();
    let old = pair.directory.path().join("old.crt");
    fs::copy(pair.certificate(), &old).unwrap();
    let tls = pair.tls().reload_every(Duration::from_millis(20));
    let (url, _stop, _served) = start(Server::new().tls(tls)).await;
    get(&url, &old).await.unwrap();

    let good = fs::read(pair.certificate()).unwrap();
    fs::write(pair.certificate(), &good[..good.len() / 2]).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    get(&url, &old).await.expect("what was there before stays");

    pair.renew();
    for attempt in 0.. {
        if get(&url, &pair.certificate()).await.is_ok() {
            break;
        }
        assert!(attempt < 100, "it was never taken up");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    get(&url, &old).await.unwrap_err();
}

#[test]
fn files_that_do_not_fit_are_told() {
    let (pair, other) = (Pair::new(), Pair::new());
    let missing = pair.directory.path().join("missing");
    let error = Tls::from_files(&missing, pair.key()).unwrap_err();
    assert!(matches!(error, TlsError::Unreadable { .. }), "{error:?}");
    assert!(error.to_string().contains("missing"), "{error}");

    let error = Tls::from_files(pair.key(), pair.key()).unwrap_err();
    assert!(matches!(error, TlsError::NoCertificate { .. }), "{error:?}");

    let error = Tls::from_files(pair.certificate(), other.key()).unwrap_err();
    assert!(matches!(error, TlsError::Unfit { .. }), "{error:?}");
    let key = fs::read_to_string(other.key()).unwrap();
    let secret = key.lines().nth(1).unwrap();
    let said = format!("{error} {error:?} {:?}", pair.tls());
    assert!(!said.contains(secret), "{said}");

    let error = Trust::none().add_pem_file(pair.key()).unwrap_err();
    assert!(error.to_string().contains("no certificate"), "{error}");
}

/// O-M06, for what comes before the head.
#[tokio::test(start_paused = true)]
async fn a_handshake_that_does_not_end_is_closed() {
    let pair = Pair::new();
    let (dial, listener) = pipes();
    let server = Server::new()
        .tls(pair.tls())
        .handshake_timeout(Duration::from_secs(3));
    let served = server.serve(listener, service_fn(hello), std::future::pending());
    let client = async {
        let began = tokio::time::Instant::now();
        let mut io = dial.connect().await;
        let mut rest = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut io, &mut rest)
            .await
            .unwrap();
        assert!(rest.is_empty());
        assert_eq!(began.elapsed().as_secs(), 3);
    };
    tokio::select! {
        () = served => unreachable!("it has no end"),
        () = client => {}
    }
}
