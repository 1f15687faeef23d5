use std::{
    convert::Infallible,
    fmt,
    future::{Ready, ready},
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use futures_core::Stream;
use http::Uri;
use portcullis::{AgentEvent, AgentExt, BoxEventStream, Prompt, Scope, agent_fn_with};
use tower_service::Service;

use super::{Format, Transport, farewell::Farewells, turn::turn};

/// A served agent as an agent. See the [module docs](super).
///
/// Clones share what is left to be cancelled.
#[derive(Clone)]
pub struct HttpAgent<T> {
    pub(super) transport: T,
    pub(super) url: Uri,
    pub(super) format: Format,
    pub(super) event_limit: usize,
    pub(super) idle: Duration,
    /// For how long a turn that was cut is resumed, and who tells the server of those that nobody
    /// wants any more.
    pub(super) resuming: Option<(Duration, Arc<Farewells>)>,
}

impl<T: Transport> HttpAgent<T> {
    /// The agent that is served at this address.
    #[must_use]
    pub const fn new(transport: T, url: Uri) -> Self {
        Self {
            transport,
            url,
            format: Format::Sse,
            event_limit: 8 << 20,
            idle: Duration::from_secs(60),
            resuming: None,
        }
    }

    /// Takes a turn up again whose connection was cut, for so long: the server is asked to keep it, see
    /// [`Detach`](crate::server#turns-that-outlive-their-connection). One that does not, or not any
    /// more, ends the turn as without this.
    ///
    /// Dropping such a turn tells the server that nobody comes back, from a task that the clones of
    /// this agent own; [`settle`](Self::settle) waits for it. If that fails, the server waits in
    /// vain for as long as it was asked to.
    #[must_use]
    pub fn resuming(mut self, grace: Duration) -> Self {
        self.resuming = Some((grace, Arc::default()));
        self
    }

    /// Waits until the servers of all turns that were dropped have been told, or given up. Only a
    /// [resuming](Self::resuming) agent has any.
    ///
    /// # Cancel safety
    /// Dropping it stops the waiting only.
    pub async fn settle(&self) {
        if let Some((_, farewells)) = &self.resuming {
            farewells.settle().await;
        }
    }

    /// How events are to come. The default is [`Format::Sse`].
    #[must_use]
    pub const fn format(mut self, format: Format) -> Self {
        self.format = format;
        self
    }

    /// The most bytes that an event may have, as JSON. The default is 8 MiB.
    #[must_use]
    pub const fn event_limit(mut self, bytes: usize) -> Self {
        self.event_limit = bytes;
        self
    }

    /// How long nothing may come, neither head nor event nor comment. The default is 60 s; a server
    /// sends a comment every 15 s if nobody says otherwise.
    #[must_use]
    pub const fn idle_timeout(mut self, limit: Duration) -> Self {
        self.idle = limit;
        self
    }

    /// The transport.
    #[must_use]
    pub const fn get_ref(&self) -> &T {
        &self.transport
    }
}

impl<T> fmt::Debug for HttpAgent<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpAgent")
            .field("url", &self.url)
            .field("format", &self.format)
            .field("event_limit", &self.event_limit)
            .field("idle", &self.idle)
            .field("resuming", &self.resuming.as_ref().map(|(grace, _)| grace))
            .finish_non_exhaustive()
    }
}

impl<T: Transport> Service<(Scope, Prompt)> for HttpAgent<T> {
    type Response = HttpStream;
    type Error = Infallible;
    type Future = Ready<Result<HttpStream, Infallible>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        // The transport is waited for within the turn.
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, (scope, prompt): (Scope, Prompt)) -> Self::Future {
        let turn = agent_fn_with(self.clone(), turn).invoke(scope, prompt);
        ready(Ok(HttpStream(BoxEventStream::new(turn))))
    }
}

/// The events of one turn.
///
/// # Cancel safety
/// Dropping it closes the connection, and that cancels the turn at the server.
#[must_use = "a turn does nothing unless polled"]
pub struct HttpStream(BoxEventStream);

impl Stream for HttpStream {
    type Item = AgentEvent;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<AgentEvent>> {
        Pin::new(&mut self.0).poll_next(cx)
    }
}

impl fmt::Debug for HttpStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStream").finish_non_exhaustive()
    }
}
