use std::time::Duration;

use http::{Response, request::Parts};

use super::{ResponseBody, card::Card, parameters::Parameters};
use crate::{
    model::AgentCard,
    server::{ProtocolVersion, Server, built},
    wire::{OLD_CARD, WELL_KNOWN_CARD},
};

/// What the host decides about the wire.
#[derive(Clone, Debug)]
pub(in crate::binding) struct Settings {
    card: Card,
    /// The versions that the binding speaks.
    pub(in crate::binding) versions: Vec<ProtocolVersion>,
    /// Without a slash at the end; empty for the root.
    path: String,
    pub(in crate::binding) body_limit: usize,
    pub(in crate::binding) body_wait: Duration,
    pub(in crate::binding) keep_alive: Duration,
}

impl Settings {
    /// Of a binding that cards call so.
    pub(in crate::binding) fn new(server: &Server, binding: &'static str) -> Self {
        let mut versions = spoken(server.card(), binding);
        if versions.is_empty() {
            // A2A-GEN-5
            tracing::warn!(binding, "the card does not say that this binding is served");
            versions.push(ProtocolVersion::V1_0);
        }
        Self {
            versions,
            card: Card::new(server.card(), jiff::Timestamp::now()),
            path: String::new(),
            body_limit: server.limits().body_bytes,
            body_wait: server.limits().body_wait,
            keep_alive: Duration::from_secs(15),
        }
    }

    pub(in crate::binding) fn set_path(&mut self, path: &str) {
        let path = path.trim_matches('/');
        self.path = if path.is_empty() {
            String::new()
        } else {
            format!("/{path}")
        };
    }

    #[cfg(all(feature = "jsonrpc", feature = "rest"))]
    pub(in crate::binding) fn path(&self) -> &str {
        &self.path
    }

    pub(in crate::binding) fn set_card_cache_control(&mut self, value: http::HeaderValue) {
        self.card.cache_control(value);
    }

    /// The card, where it was asked for: at the origin, and below the endpoint for hosts of several
    /// agents (A2A-CARD-4).
    pub(in crate::binding) fn card(&self, head: &Parts) -> Option<Response<ResponseBody>> {
        let path = head.uri.path();
        let is_at = |place| path == place || self.below(path) == Some(place);
        // Where it was before 0.3, for those who never moved.
        let is_there = is_at(WELL_KNOWN_CARD) || (self.card.is_hybrid() && is_at(OLD_CARD));
        is_there.then(|| {
            let version = Parameters::of(head).version;
            self.card
                .answer(&head.method, &head.headers, version.as_deref())
        })
    }

    /// What follows the endpoint in a path: nothing, or segments with a slash before each.
    pub(in crate::binding) fn below<'a>(&self, path: &'a str) -> Option<&'a str> {
        path.strip_prefix(self.path.as_str())
            .filter(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

/// The versions of a binding that the card names, each once, newest first: what it lists is what is
/// accepted (O-V04).
fn spoken(card: &AgentCard, binding: &str) -> Vec<ProtocolVersion> {
    let listed = |version: ProtocolVersion| {
        card.supported_interfaces.iter().any(|interface| {
            interface.protocol_binding == binding
                && ProtocolVersion::parse(&interface.protocol_version) == Some(version)
        })
    };
    let built = built(binding).iter().copied();
    built.filter(|version| listed(*version)).collect()
}

/// The decisions of the host, for a binding that has `server` and `settings`.
macro_rules! settings_of {
    ($binding:ty) => {
        impl $binding {
            /// Serves at another path, as the host sees it. The card stays where it is, and is
            /// below the path too.
            #[must_use]
            pub fn path(self, path: &str) -> Self {
                self.with(|settings| settings.set_path(path))
            }

            /// The most bytes that a request may have here. The default is that of the
            /// [`Limits`]($crate::server::Limits) of the server.
            #[must_use]
            pub fn body_limit(self, bytes: usize) -> Self {
                self.with(|settings| settings.body_limit = bytes)
            }

            /// How long a stream may be silent before a comment is sent. The default is 15 s.
            #[must_use]
            pub fn keep_alive(self, interval: std::time::Duration) -> Self {
                self.with(|settings| settings.keep_alive = interval)
            }

            /// The `Cache-Control` of the card. The default is `public, max-age=3600`.
            #[must_use]
            pub fn card_cache_control(self, value: http::HeaderValue) -> Self {
                self.with(|settings| settings.set_card_cache_control(value))
            }

            /// The server.
            #[must_use]
            pub const fn get_ref(&self) -> &$crate::server::Server {
                &self.server
            }

            /// The same places for another server.
            #[cfg(all(feature = "jsonrpc", feature = "rest"))]
            pub(in $crate::binding) fn serving(self, server: $crate::server::Server) -> Self {
                Self { server, ..self }
            }

            /// Where it is, as the host sees it.
            #[cfg(all(feature = "jsonrpc", feature = "rest"))]
            pub(in $crate::binding) fn place(&self) -> &str {
                self.settings.path()
            }

            fn with(mut self, change: impl FnOnce(&mut $crate::binding::http::Settings)) -> Self {
                change(std::sync::Arc::make_mut(&mut self.settings));
                self
            }
        }

        impl<B> tower_service::Service<http::Request<B>> for $binding
        where
            B: http_body::Body + Send + 'static,
            B::Data: Send,
        {
            type Response = http::Response<$crate::binding::ResponseBody>;
            type Error = std::convert::Infallible;
            type Future = $crate::binding::ResponseFuture;

            fn poll_ready(
                &mut self,
                _: &mut std::task::Context<'_>,
            ) -> std::task::Poll<Result<(), Self::Error>> {
                // What a turn needs is admitted when it is known whose it is.
                std::task::Poll::Ready(Ok(()))
            }

            fn call(&mut self, request: http::Request<B>) -> Self::Future {
                $crate::binding::ResponseFuture::new(self.clone().answer(request))
            }
        }

        impl std::fmt::Debug for $binding {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($binding))
                    .field("settings", &self.settings)
                    .finish_non_exhaustive()
            }
        }
    };
}
pub(in crate::binding) use settings_of;
