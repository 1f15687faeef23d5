use std::{
    convert::Infallible,
    fmt,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use http::{Request, Response, request::Parts};
use http_body::Body;
use portcullis::{Agent, BoxAgent, Scope};
use tower_service::Service;

use super::{
    Detach, ResponseBody,
    answer::{Host, answer},
    detach::Turns,
    settings::Settings,
};

/// An agent as a service of HTTP requests. See the [module docs](super).
///
/// Cloning is two reference counts. It is always ready: what a turn needs is admitted when it is known
/// whose it is.
#[derive(Clone)]
pub struct TurnService(Host);

impl TurnService {
    /// Serves an agent.
    #[must_use]
    pub fn new<A>(agent: A) -> Self
    where
        A: Agent + Clone + Send + Sync + 'static,
        A::Future: Send,
        A::Response: Send,
    {
        Self(Host {
            agent: BoxAgent::new(agent),
            settings: Arc::new(Settings::new()),
            turns: None,
        })
    }

    fn with(mut self, change: impl FnOnce(&mut Settings)) -> Self {
        change(Arc::make_mut(&mut self.0.settings));
        self
    }

    /// The most bytes that a request may have. The default is 10 MiB.
    #[must_use]
    pub fn body_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.body_limit = bytes)
    }

    /// How long a caller may take to send the body. The default is 30 s.
    #[must_use]
    pub fn body_timeout(self, limit: Duration) -> Self {
        self.with(|settings| settings.body_timeout = limit)
    }

    /// The most images that a prompt may have. The default is 64.
    #[must_use]
    pub fn image_limit(self, count: usize) -> Self {
        self.with(|settings| settings.image_limit = count)
    }

    /// The most bytes that an event may have, as JSON. The default is 8 MiB.
    #[must_use]
    pub fn event_limit(self, bytes: usize) -> Self {
        self.with(|settings| settings.event_limit = bytes)
    }

    /// The most that a turn may take, whatever the caller says. There is no such limit by default.
    #[must_use]
    pub fn turn_limit(self, limit: Duration) -> Self {
        self.with(|settings| settings.turn_limit = Some(limit))
    }

    /// How long the response may be silent before a comment is sent. The default is 15 s.
    #[must_use]
    pub fn keep_alive(self, interval: Duration) -> Self {
        self.with(|settings| settings.keep_alive = interval)
    }

    /// How long the status waits for the first event, which may make it an error. The default is 10 s.
    #[must_use]
    pub fn status_wait(self, limit: Duration) -> Self {
        self.with(|settings| settings.status_wait = limit)
    }

    /// Puts into the scope what layers in front have left in the head of the request, such as a tenant
    /// or credentials. The scope has the principal by then; the session is still what the caller
    /// calls it, and becomes a key of tenant and principal after.
    ///
    /// The deadline that comes out is never later than what the caller asked for. With
    /// [`detach`](Self::detach), who reads a turn on or cancels it is found out in the same way, from a
    /// scope that is empty.
    ///
    /// ```
    /// # use portcullis::{Emitter, Prompt, Scope, agent_fn};
    /// use portcullis_http::server::TurnService;
    ///
    /// #[derive(Clone)]
    /// struct Tenant(String);
    ///
    /// # let agent = agent_fn(async |_: Scope, _: Prompt, _: Emitter| Ok(()));
    /// let service = TurnService::new(agent).scope_with(|head, scope| {
    ///     if let Some(Tenant(name)) = head.extensions.get() {
    ///         *scope = scope.clone().with_tenant(name);
    ///     }
    /// });
    /// ```
    #[must_use]
    pub fn scope_with(self, prepare: impl Fn(&Parts, &mut Scope) + Send + Sync + 'static) -> Self {
        self.with(|settings| settings.prepare = Some(Arc::new(prepare)))
    }

    /// Lets a caller ask for a turn that outlives its connection for a while, see the
    /// [module docs](super). By default, and for whoever does not ask, the turn ends with the connection.
    ///
    /// Such turns run in tasks that all clones of this service own: they end with the last one, and
    /// the last response.
    #[must_use]
    pub fn detach(mut self, policy: Detach) -> Self {
        self.0.turns = Some(Arc::new(Turns::new(policy)));
        self
    }

    /// The agent.
    #[must_use]
    pub const fn get_ref(&self) -> &BoxAgent {
        &self.0.agent
    }
}

impl<B> Service<Request<B>> for TurnService
where
    B: Body + Send + 'static,
    B::Data: Send,
{
    type Response = Response<ResponseBody>;
    type Error = Infallible;
    type Future = ResponseFuture;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> ResponseFuture {
        ResponseFuture(Box::pin(answer(self.0.clone(), request)))
    }
}

impl fmt::Debug for TurnService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TurnService")
            .field("settings", &self.0.settings)
            .finish_non_exhaustive()
    }
}

/// The response of a [`TurnService`].
///
/// # Cancel safety
/// Dropping it cancels the turn.
#[must_use = "futures do nothing unless polled"]
pub struct ResponseFuture(Pin<Box<dyn Future<Output = Response<ResponseBody>> + Send>>);

impl Future for ResponseFuture {
    type Output = Result<Response<ResponseBody>, Infallible>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        self.0.as_mut().poll(cx).map(Ok)
    }
}

impl fmt::Debug for ResponseFuture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResponseFuture").finish_non_exhaustive()
    }
}
