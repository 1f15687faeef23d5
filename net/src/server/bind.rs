use std::{error::Error, fmt, io, net::SocketAddr};

use tokio::net::{TcpListener, lookup_host};

/// Listens on `address`, which is `host:port`; port 0 takes a free one.
///
/// # Errors
/// The address cannot be resolved, is in use, is not ours or is not allowed. The error says which
/// address it was and what can be done.
pub async fn bind(address: &str) -> Result<TcpListener, BindError> {
    let fail = |source| BindError {
        address: address.to_owned(),
        source,
    };
    let candidates: Vec<SocketAddr> = lookup_host(address).await.map_err(fail)?.collect();
    TcpListener::bind(candidates.as_slice()).await.map_err(fail)
}

/// A listener could not be opened.
#[derive(Debug)]
pub struct BindError {
    address: String,
    source: io::Error,
}

impl BindError {
    /// The address that was asked for.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Whether somebody else listens there.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.source.kind() == io::ErrorKind::AddrInUse
    }
}

impl fmt::Display for BindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let address = &self.address;
        match self.source.kind() {
            io::ErrorKind::AddrInUse => {
                write!(
                    f,
                    "{address} is in use by another program; choose another port, or 0 for a free one"
                )
            }
            io::ErrorKind::AddrNotAvailable => {
                write!(f, "{address} is not an address of this machine")
            }
            io::ErrorKind::PermissionDenied => {
                write!(
                    f,
                    "not allowed to listen on {address}; ports under 1024 need a privilege"
                )
            }
            io::ErrorKind::InvalidInput => {
                write!(
                    f,
                    "{address:?} is not an address to listen on; write host:port"
                )
            }
            _ => write!(f, "cannot listen on {address}"),
        }
    }
}

impl Error for BindError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&self.source)
    }
}
