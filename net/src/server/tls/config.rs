use std::{
    fmt,
    path::PathBuf,
    sync::{Arc, PoisonError, RwLock},
    time::Duration,
};

use rustls::{
    ServerConfig,
    crypto::CryptoProvider,
    server::{ClientHello, ResolvesServerCert},
    sign::CertifiedKey,
};
use tokio::{task::spawn_blocking, time::sleep};
use tokio_rustls::TlsAcceptor;

use super::{TlsError, files::Files};

/// TLS with a certificate and its key, two PEM files that are read again when they change.
///
/// TLS 1.2 and 1.3; a client chooses between HTTP/2 and HTTP/1.1 in the handshake. While a server
/// serves with it, the files are looked at every ten seconds, see
/// [`reload_every`](Self::reload_every). What cannot be used is logged, and the certificate of
/// before stays: a half-written file takes no server down. Connections that are open stay as
/// they are.
///
/// ```no_run
/// # async fn doc() -> Result<(), Box<dyn std::error::Error>> {
/// # let service = tower::service_fn(|_: http::Request<hyper::body::Incoming>| async {
/// #     Ok::<_, std::convert::Infallible>(http::Response::new(http_body_util::Empty::<bytes::Bytes>::new()))
/// # });
/// use portcullis_net::{Server, Tls, bind};
///
/// let tls = Tls::from_files("server.crt", "server.key")?;
/// let listener = bind("127.0.0.1:8443").await?;
/// Server::new().tls(tls).serve(listener, service, std::future::pending()).await;
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Tls {
    files: Files,
    every: Duration,
    provider: Arc<CryptoProvider>,
    current: Arc<Current>,
    config: Arc<ServerConfig>,
}

impl Tls {
    /// Reads a certificate, with the chain up to its root, and the key. Blocks.
    ///
    /// # Errors
    /// When a file cannot be read, or the two do not belong together.
    ///
    /// # Panics
    /// Never: the provider of this crate knows both versions of TLS.
    pub fn from_files(
        certificate: impl Into<PathBuf>,
        key: impl Into<PathBuf>,
    ) -> Result<Self, TlsError> {
        let files = Files {
            certificate: certificate.into(),
            key: key.into(),
        };
        // Passed by value: what the process has as its default is somebody else's choice.
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let current = Arc::new(Current(RwLock::new(Arc::new(files.load(&provider)?))));
        let mut config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .expect("the provider knows them")
            .with_no_client_auth()
            .with_cert_resolver(Arc::clone(&current) as Arc<dyn ResolvesServerCert>);
        config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
        Ok(Self {
            files,
            every: Duration::from_secs(10),
            provider,
            current,
            config: Arc::new(config),
        })
    }

    /// How often the files are looked at.
    #[must_use]
    pub const fn reload_every(mut self, interval: Duration) -> Self {
        self.every = interval;
        self
    }

    pub(in crate::server) fn acceptor(&self) -> TlsAcceptor {
        TlsAcceptor::from(Arc::clone(&self.config))
    }

    /// Takes up new files for ever. Dropping the future ends that.
    pub(in crate::server) async fn watch(&self) {
        let mut seen = self.files.stamp();
        loop {
            sleep(self.every).await;
            let (files, provider) = (self.files.clone(), Arc::clone(&self.provider));
            let known = seen;
            let looked = spawn_blocking(move || {
                let stamp = files.stamp();
                (stamp != known).then(|| (stamp, files.load(&provider)))
            });
            let Ok(Some((stamp, loaded))) = looked.await else {
                continue;
            };
            // What could not be used is not tried again until it changes once more.
            seen = stamp;
            match loaded {
                Ok(key) => {
                    self.current.replace(key);
                    tracing::info!(
                        certificate = %self.files.certificate.display(),
                        "a new certificate is in use"
                    );
                }
                Err(error) => tracing::error!(
                    error = &error as &dyn std::error::Error,
                    "the new certificate cannot be used; the one of before stays"
                ),
            }
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls")
            .field("certificate", &self.files.certificate)
            .finish_non_exhaustive()
    }
}

/// The certificate of now.
#[derive(Debug)]
struct Current(RwLock<Arc<CertifiedKey>>);

impl Current {
    fn replace(&self, key: CertifiedKey) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(key);
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let key = self.0.read().unwrap_or_else(PoisonError::into_inner);
        Some(Arc::clone(&key))
    }
}
