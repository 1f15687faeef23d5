use std::{
    fs, io,
    path::{Path, PathBuf},
    time::SystemTime,
};

use rustls::{
    crypto::CryptoProvider,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    sign::CertifiedKey,
};

use super::TlsError;

/// Where a certificate and its key are.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) certificate: PathBuf,
    pub(super) key: PathBuf,
}

/// Tells whether the files were replaced. Nothing when one cannot be looked at.
pub(super) type Stamp = Option<[(SystemTime, u64); 2]>;

impl Files {
    pub(super) fn stamp(&self) -> Stamp {
        let of = |path: &Path| -> io::Result<_> {
            let found = fs::metadata(path)?;
            Ok((found.modified()?, found.len()))
        };
        Some([of(&self.certificate).ok()?, of(&self.key).ok()?])
    }

    pub(super) fn load(&self, provider: &CryptoProvider) -> Result<CertifiedKey, TlsError> {
        let unreadable =
            |path: &Path, source: rustls::pki_types::pem::Error| TlsError::Unreadable {
                path: path.to_owned(),
                source: source.into(),
            };
        let chain = CertificateDer::pem_file_iter(&self.certificate)
            .and_then(Iterator::collect::<Result<Vec<_>, _>>)
            .map_err(|source| unreadable(&self.certificate, source))?;
        if chain.is_empty() {
            return Err(TlsError::NoCertificate {
                path: self.certificate.clone(),
            });
        }
        let key = PrivateKeyDer::from_pem_file(&self.key)
            .map_err(|source| unreadable(&self.key, source))?;
        CertifiedKey::from_der(chain, key, provider).map_err(|source| TlsError::Unfit {
            certificate: self.certificate.clone(),
            key: self.key.clone(),
            source: source.into(),
        })
    }
}
