use std::{
    convert::Infallible,
    fmt,
    sync::Arc,
    task::{Context, Poll},
};

use http::{Request, Response};
use http_body::Body;
use tower_service::Service;

#[cfg(feature = "grpc")]
use super::Grpc;
use super::{OnePort, ResponseBody, ResponseFuture};
use crate::server::Server;

/// Several agents on one port, each with a card, tasks and limits of its own (A2A-CARD-4). A clone
/// shares them.
///
/// The first has the origin: its card is at the well-known path, and what no other agent is for is its.
/// Each other one has a base path, with its bindings and its card below. gRPC has no such paths:
/// there, and at the addresses of the first agent on the other bindings too, the tenant of a request
/// is the name of the agent that it is for.
///
/// ```
/// # use portcullis_a2a::model::{AgentCard, TaskState};
/// use portcullis_a2a::{
///     binding::{Agents, Layout, OnePort},
///     server::{Server, executor_fn},
/// };
///
/// # let executor = executor_fn(async |ctx, out| { out.emit(ctx.status(TaskState::Completed)).await; });
/// # let docs = executor.clone();
/// let url = "https://agents.example.com";
/// let card = AgentCard::of_interfaces("Desk", "Helps.", Layout::new().interfaces(url));
/// let desk = OnePort::new(Server::new(executor, card));
///
/// let layout = Layout::new().named("docs");
/// let interfaces = layout.interfaces(url);
/// assert_eq!(interfaces[0].url, "https://agents.example.com/docs");
/// # #[cfg(feature = "grpc")]
/// assert_eq!(interfaces[2].tenant, "docs");
/// let card = AgentCard::of_interfaces("Docs", "Reads documents.", interfaces);
/// let docs = Server::builder(docs, card).name("docs").build();
///
/// let app = Agents::new(desk).agent(OnePort::with_layout(docs, &layout));
/// ```
///
/// Which agents there are is no secret. That of another name cannot be reached by a tenant that is none
/// of theirs: it is an unknown one of the first agent's.
#[derive(Clone)]
pub struct Agents {
    /// With the servers of the others beside its own.
    first: OnePort,
    /// A base that is within another one comes before it.
    others: Arc<Vec<OnePort>>,
}

impl Agents {
    /// The agent that has the origin.
    #[must_use]
    pub fn new(first: OnePort) -> Self {
        Self {
            first,
            others: Arc::default(),
        }
    }

    /// And this one, below the base of its [layout](super::Layout::named). Its server has a
    /// [name](crate::server::ServerBuilder::name).
    ///
    /// # Panics
    /// When it has no base or no name, or one that another agent has, or when its base hides what the
    /// first agent serves.
    #[must_use]
    pub fn agent(mut self, other: OnePort) -> Self {
        let base = other.base();
        assert!(!base.is_empty(), "the root is the first agent's");
        assert!(
            !self.first.has_below(base),
            "the first agent is at {base} too"
        );
        let taken = self.others.iter().any(|known| known.base() == base);
        assert!(!taken, "two agents are at {base}");
        let server = self.get_ref().clone().with_agent(other.get_ref().clone());
        self.first = self.first.serving(&server);
        let others = Arc::make_mut(&mut self.others);
        others.push(other);
        others.sort_by_key(|other| std::cmp::Reverse(other.base().len()));
        self
    }

    /// The server of the first agent, with the others beside it: to recover and to shut down all.
    #[must_use]
    pub const fn get_ref(&self) -> &Server {
        self.first.get_ref()
    }

    fn port<B>(&self, request: &Request<B>) -> Option<OnePort> {
        #[cfg(feature = "grpc")]
        if Grpc::is_for(request.headers()) {
            return None;
        }
        let path = request.uri().path();
        self.others.iter().find(|port| port.covers(path)).cloned()
    }
}

impl<B> Service<Request<B>> for Agents
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
        match self.port(&request) {
            Some(mut port) => port.call(request),
            None => self.first.call(request),
        }
    }
}

impl fmt::Debug for Agents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bases: Vec<_> = self.others.iter().map(OnePort::base).collect();
        f.debug_struct("Agents")
            .field("first", &self.first)
            .field("others", &bases)
            .finish()
    }
}
