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
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    sync::oneshot,
    task::JoinHandle,
};
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

// A2A-SEC-15: over TLS, where the host wants it, and never in the clear.
#[tokio::test]
async fn browsers_are_told_to_stay_with_tls() {
    let pair = Pair::new();
    let asked = Server::new().hsts(Duration::from_secs(3_600));
    let told = async |server: Server, scheme: &str| {
        let (url, _stop, _served) = start(server).await;
        let trust = Trust::none().add_pem_file(pair.certificate()).unwrap();
        let client = HttpClientBuilder::new().build_tls::<Full<Bytes>>(trust);
        let url = url.replace("https", scheme);
        let request = Request::get(url).body(Full::default()).unwrap();
        let response = client.oneshot(request).await.unwrap();
        let told = response.headers().get("strict-transport-security").cloned();
        told.map(|told| told.to_str().unwrap().to_owned())
    };
    let over_tls = told(asked.clone().tls(pair.tls()), "https").await;
    assert_eq!(over_tls.as_deref(), Some("max-age=3600"));
    assert_eq!(told(asked, "http").await, None);
    assert_eq!(told(Server::new().tls(pair.tls()), "https").await, None);
}

/// The first record of a handshake of TLS up to 1.`minor - 1`, which offers what that takes.
fn client_hello(minor: u8) -> Vec<u8> {
    // The version, 32 random bytes, no session, one suite of 1.2 and one that is older, no compression.
    let mut hello = vec![3, minor];
    hello.extend([7; 32]);
    hello.extend([0, 0, 4, 0xc0, 0x2b, 0xc0, 0x09, 1, 0]);
    // Groups, forms of points, ways to sign.
    let extensions = [
        &[0, 10, 0, 4, 0, 2, 0, 23][..],
        &[0, 11, 0, 2, 1, 0],
        &[0, 13, 0, 4, 0, 2, 4, 3],
    ]
    .concat();
    hello.extend([0, u8::try_from(extensions.len()).unwrap()]);
    hello.extend(extensions);
    let length = u8::try_from(hello.len()).unwrap();
    let mut record = vec![22, 3, 1, 0, length + 4, 1, 0, 0, length];
    record.extend(hello);
    record
}

// A2A-SEC-15, A2A-GEN-7: who speaks TLS 1.1 at most is told in an alert that nobody does here.
#[tokio::test]
async fn old_versions_of_tls_are_refused() {
    let pair = Pair::new();
    let (url, _stop, _served) = start(Server::new().tls(pair.tls())).await;
    let address = url.trim_start_matches("https://").trim_end_matches('/');
    let first_of_answer = async |minor: u8| {
        let mut socket = tokio::net::TcpStream::connect(address).await.unwrap();
        socket.write_all(&client_hello(minor)).await.unwrap();
        let mut said = [0; 7];
        socket.read_exact(&mut said).await.unwrap();
        said
    };
    let [alert, .., fatal, protocol_version] = first_of_answer(2).await;
    assert_eq!([alert, fatal, protocol_version], [21, 2, 70], "TLS 1.1");
    let [handshake, ..] = first_of_answer(3).await;
    assert_eq!(handshake, 22, "TLS 1.2");
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
