use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64},
    },
    time::Duration,
};

use http::{HeaderValue, Uri};
use portcullis::TraceContext;
use tower_layer::Layer;

use super::{
    binding::Binding,
    interface::{self, NoInterface},
    limits::Limits,
    retry::Retries,
    transport::Transport,
};
use crate::model::{AgentCard, AgentInterface};

/// A client of one agent, over one of the [bindings](Binding). A clone shares the transport.
///
/// See the module docs.
#[derive(Clone)]
pub struct Client<T> {
    pub(super) transport: T,
    pub(super) binding: Binding,
    pub(super) url: Uri,
    pub(super) tenant: Option<String>,
    pub(super) extensions: Option<HeaderValue>,
    pub(super) trace: Option<TraceContext>,
    pub(super) shared: Arc<Shared>,
    pub(super) limits: Limits,
    pub(super) retries: Option<Retries>,
}

/// What all clones know of the server.
pub(super) struct Shared {
    pub(super) next_id: AtomicU64,
    /// It takes no `application/a2a+json` (A2A-REST-15).
    pub(super) plain_json: AtomicBool,
    /// It has `GET` for `SubscribeToTask` and no `POST` (A2A-REST-3).
    pub(super) subscribes_by_get: AtomicBool,
}

impl<T: Transport> Client<T> {
    /// A client of the JSON-RPC interface at `url`, which is used as it is.
    #[must_use]
    pub fn new(transport: T, url: Uri) -> Self {
        Self::over(Binding::JsonRpc, transport, url)
    }

    /// A client of the interface at `url` that speaks a binding. The routes of HTTP+JSON are below
    /// the URL; of that of gRPC, scheme, host and port count.
    #[must_use]
    pub fn over(binding: Binding, transport: T, url: Uri) -> Self {
        Self {
            transport,
            binding,
            url,
            tenant: None,
            extensions: None,
            trace: None,
            shared: Arc::new(Shared {
                next_id: AtomicU64::new(1),
                plain_json: AtomicBool::new(false),
                subscribes_by_get: AtomicBool::new(false),
            }),
            limits: Limits::DEFAULT,
            retries: None,
        }
    }

    /// A client of the first interface of the card that every transport carries, JSON-RPC or
    /// HTTP+JSON, and of its tenant. For gRPC, name it to [`of_card_over`](Self::of_card_over).
    ///
    /// The card is taken at its word, wherever it points to;
    /// [`Discovered::client`](super::Discovered::client) judges that.
    ///
    /// # Errors
    /// When the card offers none.
    pub fn of_card(transport: T, card: &AgentCard) -> Result<Self, NoInterface> {
        Self::of_card_over(Binding::PLAIN, transport, card)
    }

    /// A client of the first interface of the card that speaks one of these bindings, and of its
    /// tenant.
    ///
    /// A gRPC interface is a `host:port`: it is taken to have TLS, except on this very machine, where
    /// the other interfaces of the port say so. [`over`](Self::over) takes what it is given.
    ///
    /// # Errors
    /// When the card offers none.
    pub fn of_card_over(
        bindings: &[Binding],
        transport: T,
        card: &AgentCard,
    ) -> Result<Self, NoInterface> {
        let (binding, interface) = interface::choose(card, bindings)?;
        let url = interface::address(card, binding, &interface.url)
            .ok_or_else(|| NoInterface::at(binding, &interface.url))?;
        Ok(Self::over(binding, transport, url).tenant_of(interface))
    }

    /// Of the tenant that an interface names (A2A-CARD-19).
    pub(super) fn tenant_of(self, interface: &AgentInterface) -> Self {
        if interface.tenant.is_empty() {
            return self;
        }
        self.tenant(&interface.tenant)
    }

    /// Puts a tenant into every request.
    #[must_use]
    pub fn tenant(mut self, tenant: impl Into<String>) -> Self {
        self.tenant = Some(tenant.into());
        self
    }

    /// Asks for these extensions with every request. What no header can hold is left out.
    #[must_use]
    pub fn extensions<'a>(mut self, uris: impl IntoIterator<Item = &'a str>) -> Self {
        let line = uris.into_iter().collect::<Vec<_>>().join(",");
        self.extensions = HeaderValue::from_str(&line)
            .ok()
            .filter(|line| !line.is_empty());
        self
    }

    /// Asks for one more extension with every request.
    #[cfg(feature = "remote")]
    pub(crate) fn asking_also(mut self, uri: &str) -> Self {
        let known = self.extensions.as_ref().and_then(|line| line.to_str().ok());
        let line = match known {
            Some(known) if known.split(',').any(|known| known.trim() == uri) => return self,
            Some(known) => format!("{known},{uri}"),
            None => uri.to_owned(),
        };
        if let Ok(line) = HeaderValue::from_str(&line) {
            self.extensions = Some(line);
        }
        self
    }

    /// Says with every request where it stands in a distributed trace, in the headers
    /// `traceparent` and `tracestate`. A clone for one turn is cheap:
    ///
    /// ```
    /// # use portcullis::{Scope, TraceContext};
    /// # use portcullis_a2a::client::{Client, Transport};
    /// # fn doc(client: Client<impl Transport>, scope: &Scope) {
    /// let client = client.clone().in_trace(scope.extensions().get::<TraceContext>());
    /// # }
    /// ```
    #[must_use]
    pub fn in_trace(mut self, trace: Option<&TraceContext>) -> Self {
        self.trace = trace.cloned();
        self
    }

    /// Makes calls again that failed and may be made again. Without it, none is.
    ///
    /// A stream that was cut is another matter: see [`resuming`](Self::resuming).
    #[must_use]
    pub fn retrying(mut self, retries: Retries) -> Self {
        self.retries = Some(retries);
        self
    }

    /// The most bytes that a reply or an event may have. The default is 8 MiB.
    #[must_use]
    pub const fn limit(mut self, bytes: usize) -> Self {
        self.limits.piece = bytes;
        self
    }

    /// The most bytes that a stream may have, comments and all. The default is 1 GiB. gRPC has no
    /// such limit: there every message is an event.
    #[must_use]
    pub const fn stream_limit(mut self, bytes: u64) -> Self {
        self.limits.stream = bytes;
        self
    }

    /// How long the server may be silent: before its reply begins, and on a stream, where a comment
    /// counts as well. The default is five minutes.
    ///
    /// A stream of gRPC has no comments, and nothing comes while the agent thinks: there it counts
    /// only if it was set here. Let the transport send pings of HTTP/2.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.limits.idle = Some(limit);
        self
    }

    /// How long a reply that is no stream may take from its head to its end. The default is a
    /// minute.
    #[must_use]
    pub const fn body_timeout(mut self, limit: Duration) -> Self {
        self.limits.body = limit;
        self
    }
}

impl<T> Client<T> {
    /// Puts a layer around the transport: whatever has to see each request or response, from the
    /// inside of this client. What a retry sends again passes it again.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use http::{HeaderValue, Request};
    /// use http_body_util::Full;
    /// use portcullis_a2a::client::{Client, Transport};
    /// use tower::util::MapRequestLayer;
    ///
    /// # fn doc(client: Client<impl Transport>) {
    /// let client = client.layer(&MapRequestLayer::new(|mut request: Request<Full<Bytes>>| {
    ///     request.headers_mut().insert("x-region", HeaderValue::from_static("north"));
    ///     request
    /// }));
    /// # let _ = client;
    /// # }
    /// ```
    pub fn layer<L: Layer<T>>(self, layer: &L) -> Client<L::Service> {
        Client {
            transport: layer.layer(self.transport),
            binding: self.binding,
            url: self.url,
            tenant: self.tenant,
            extensions: self.extensions,
            trace: self.trace,
            shared: self.shared,
            limits: self.limits,
            retries: self.retries,
        }
    }

    /// Where the agent is.
    #[must_use]
    pub const fn url(&self) -> &Uri {
        &self.url
    }

    /// What it speaks.
    #[must_use]
    pub const fn binding(&self) -> Binding {
        self.binding
    }

    /// What carries the requests.
    #[must_use]
    pub const fn get_ref(&self) -> &T {
        &self.transport
    }
}

impl<T> fmt::Debug for Client<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("binding", &self.binding)
            .field("url", &self.url)
            .field("tenant", &self.tenant)
            .finish_non_exhaustive()
    }
}
