use std::{
    error::Error,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, pem::PemObject},
};

/// Whose certificates a client accepts.
///
/// ```
/// use bytes::Bytes;
/// use http_body_util::Empty;
/// use portcullis_net::{HttpClientBuilder, Trust};
///
/// let client = HttpClientBuilder::new().build_tls::<Empty<Bytes>>(Trust::public());
/// # let _ = client;
/// ```
#[derive(Clone)]
pub struct Trust(RootCertStore);

impl Trust {
    /// The authorities that browsers trust, as Mozilla lists them. They are compiled in.
    #[must_use]
    pub fn public() -> Self {
        Self(RootCertStore {
            roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
        })
    }

    /// Nobody, yet.
    #[must_use]
    pub fn none() -> Self {
        Self(RootCertStore::empty())
    }

    /// The authorities of a PEM file as well: those of a private network. Blocks.
    ///
    /// # Errors
    /// When the file cannot be read, or holds no certificate that can be used.
    pub fn add_pem_file(mut self, path: impl AsRef<Path>) -> Result<Self, TrustError> {
        let path = path.as_ref();
        let wrong = |source| TrustError {
            path: path.to_owned(),
            source,
        };
        let certificates = CertificateDer::pem_file_iter(path)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|error| wrong(Some(error.into())))?;
        if certificates.is_empty() {
            return Err(wrong(None));
        }
        for certificate in certificates {
            self.0
                .add(certificate)
                .map_err(|error| wrong(Some(error.into())))?;
        }
        Ok(self)
    }

    pub(super) fn into_config(self) -> ClientConfig {
        // Passed by value: what the process has as its default is somebody else's choice.
        ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .expect("the provider knows them")
            .with_root_certificates(self.0)
            .with_no_client_auth()
    }
}

impl fmt::Debug for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trust")
            .field("authorities", &self.0.len())
            .finish()
    }
}

/// A file of authorities cannot be used.
#[derive(Debug)]
pub struct TrustError {
    path: PathBuf,
    source: Option<Box<dyn Error + Send + Sync>>,
}

impl fmt::Display for TrustError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.source {
            Some(_) => write!(f, "{path} cannot be used as a PEM file of certificates"),
            None => write!(f, "there is no certificate in {path}"),
        }
    }
}

impl Error for TrustError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.source.as_ref().map(|source| &**source as _)
    }
}
