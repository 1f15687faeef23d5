use std::{fmt, sync::Arc, time::Duration};

use futures_util::future::{join, join_all};
use portcullis::SessionControl;
use tokio::sync::watch;

use super::{
    Answer, Caller, Limits, Operation, ProtocolVersion, Request, Response, ServerBuilder, check,
    core::Core,
    executor::{Executor, Start},
    others::Others,
    push::{Couriers, Push, PushStats},
    runner::{Runs, Turn},
    streams::OpenStream,
    upkeep, version,
};
use crate::{
    log::{Owner, TaskKey},
    model::{AgentCard, Bounds, Error, ErrorKind},
};

/// An agent behind the eleven operations of A2A. It knows no wire: bindings decode, call
/// and encode.
///
/// Cloning is a reference count. When the last clone is dropped, turns that still run are
/// dropped with it; [`shut_down`](Self::shut_down) lets them finish.
///
/// Calls need a tokio runtime with time.
#[derive(Clone)]
pub struct Server(Arc<Inner>, Others);

struct Inner {
    core: Arc<Core>,
    runs: Runs,
    couriers: Option<Couriers>,
    settings: Settings,
}

/// What a builder has decided.
pub(super) struct Settings {
    pub(super) card: AgentCard,
    pub(super) executor: Box<dyn Start>,
    pub(super) serves_agent: bool,
    pub(super) tenants: Tenants,
    pub(super) session_control: Option<Arc<dyn SessionControl>>,
    pub(super) extended_card: Option<ExtendedCard>,
    #[cfg(feature = "sign")]
    pub(super) signer: Option<crate::signing::CardSigner>,
    pub(super) takes_messages: bool,
    pub(super) streams_end_at_input: bool,
    pub(super) missing_version: ProtocolVersion,
}

/// The card of a caller, if there is one.
pub(super) type ExtendedCard = Box<dyn Fn(&Caller) -> Option<AgentCard> + Send + Sync>;

/// Which tenants there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the ones that are named, or all")]
pub enum Tenants {
    /// Those that an interface of the card names. For the operations on tasks any other
    /// one has no tasks.
    #[default]
    OfCard,
    /// Any that a caller names. Only behind something that judges tenants.
    Any,
}

impl Server {
    /// An executor behind the operations, with tasks in memory and default limits.
    ///
    /// # Panics
    /// When the card [cannot be served](AgentCard::validate).
    #[must_use]
    pub fn new<E>(executor: E, card: AgentCard) -> Self
    where
        E: Executor + Clone + Send + Sync + 'static,
        E::Future: Send,
        E::Response: Send,
    {
        Self::builder(executor, card).build()
    }

    /// An agent behind the operations, with tasks in memory and default limits.
    ///
    /// # Panics
    /// When the card [cannot be served](AgentCard::validate).
    #[must_use]
    pub fn agent<A>(agent: A, card: AgentCard) -> Self
    where
        A: portcullis::Agent + Clone + Send + Sync + 'static,
        A::Future: Send,
        A::Response: Send,
    {
        Self::agent_builder(agent, card).build()
    }

    /// An executor, with settings to come.
    pub fn builder<E>(executor: E, card: AgentCard) -> ServerBuilder
    where
        E: Executor + Clone + Send + Sync + 'static,
        E::Future: Send,
        E::Response: Send,
    {
        ServerBuilder::of_executor(executor, card)
    }

    /// An agent, with settings to come.
    pub fn agent_builder<A>(agent: A, card: AgentCard) -> ServerBuilder
    where
        A: portcullis::Agent + Clone + Send + Sync + 'static,
        A::Future: Send,
        A::Response: Send,
    {
        ServerBuilder::of_agent(agent, card)
    }

    pub(super) fn assemble(core: Core, push: Option<Push>, settings: Settings) -> Self {
        let core = Arc::new(core);
        let runs = Runs::new(Arc::clone(&core));
        let couriers = push.map(|push| Couriers::new(Arc::clone(&core), push));
        let inner = Inner {
            core,
            runs,
            couriers,
            settings,
        };
        Self(Arc::new(inner), Others::default())
    }

    /// The public card, as it is to be served.
    #[must_use]
    pub fn card(&self) -> &AgentCard {
        &self.0.settings.card
    }

    /// The limits.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.core.limits
    }

    /// The extensions that a call of this caller activates, to be named in the head of the
    /// answer (A2A-EXT-7).
    #[must_use]
    pub fn active_extensions(&self, caller: &Caller) -> Vec<String> {
        check::active(self.in_tenant(caller.tenant()).card(), caller)
    }

    /// Another agent behind the same bindings: requests in the tenant of its
    /// [name](ServerBuilder::name) are its own, whatever is asked. It keeps its card, its tasks and its
    /// limits; only the bounds of what a request may hold are those of this one.
    ///
    /// [`recover`](Self::recover) and [`shut_down`](Self::shut_down) are for both.
    ///
    /// # Panics
    /// When the other one has no name, or one that is taken.
    #[must_use]
    pub fn with_agent(mut self, other: Self) -> Self {
        let name = other
            .name()
            .expect("an agent beside another one has a name");
        let taken = self.name() == Some(name) || self.1.named(name).is_some();
        assert!(!taken, "two agents have the name {name:?}");
        self.1.add(name.to_owned(), other);
        self
    }

    /// What it is called among several agents.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        Some(self.0.core.holder.namespace()).filter(|name| !name.is_empty())
    }

    /// Whether requests of some tenants are for other agents.
    #[cfg(any(feature = "jsonrpc", feature = "grpc"))]
    pub(crate) fn has_others(&self) -> bool {
        self.1.iter().next().is_some()
    }

    /// The agent that requests in this tenant are for.
    fn in_tenant(&self, tenant: Option<&str>) -> &Self {
        tenant
            .and_then(|tenant| self.1.named(tenant))
            .unwrap_or(self)
    }

    /// The version that a caller speaks, of those that a binding speaks.
    ///
    /// # Errors
    /// `VersionNotSupported`, with those that are.
    pub fn version(
        &self,
        caller: &Caller,
        spoken: &[ProtocolVersion],
    ) -> Result<ProtocolVersion, Error> {
        version::judge(caller, self.0.settings.missing_version, spoken)
    }

    /// Answers a call as a binding has it: checks the version, finds the operation, reads
    /// its parameters, and [calls](Self::call) it.
    ///
    /// # Errors
    /// The refusal, in the order of A2A-OP-11.
    pub async fn handle(
        &self,
        caller: &Caller,
        method: &str,
        params: Option<&str>,
    ) -> Result<Response, Error> {
        self.handle_with(caller, |bounds| {
            let operation = Operation::from_name(method).ok_or(ErrorKind::MethodNotFound)?;
            let params = params.unwrap_or("{}");
            // Positional parameters are none of the protocol's (A2A-RPC-5).
            if !params.trim_start().starts_with('{') {
                return Err(ErrorKind::InvalidParams.into());
            }
            Request::decode(operation, params, bounds)
        })
        .await
    }

    /// Answers a call as a binding has it that reads parameters in its own way: checks the
    /// version, lets the binding read, and [calls](Self::call).
    ///
    /// # Errors
    /// The refusal, in the order of A2A-OP-11.
    pub async fn handle_with(
        &self,
        caller: &Caller,
        read: impl FnOnce(&Bounds) -> Result<Request, Error>,
    ) -> Result<Response, Error> {
        self.version(caller, &[ProtocolVersion::V1_0])?;
        let request = read(&self.limits().bounds)?;
        self.call(caller, request).await
    }

    /// Answers a call whose parameters are read. The version, capabilities, extensions,
    /// owner, context, state and content are all checked here.
    ///
    /// # Errors
    /// The refusal, or that something failed. Nothing of another owner is ever told.
    ///
    /// # Cancel safety
    /// A call that is dropped stops no task.
    pub async fn call(&self, caller: &Caller, request: Request) -> Result<Response, Error> {
        let tenant = caller.tenant().or(Some(request.tenant()));
        self.in_tenant(tenant).answer(caller, request).await
    }

    async fn answer(&self, caller: &Caller, request: Request) -> Result<Response, Error> {
        let settings = &self.0.settings;
        self.version(caller, &[ProtocolVersion::V1_0])?;
        let standing = check::standing(
            &settings.card,
            settings.extended_card.is_some(),
            settings.tenants,
            self.name(),
            caller,
            &request,
        )?;
        Ok(match request {
            Request::SendMessage(request) => {
                Answer::Sent(self.send_message(standing, request).await?).into()
            }
            Request::SendStreamingMessage(request) => {
                Response::Stream(self.send_streaming_message(standing, request).await?)
            }
            Request::GetTask(request) => {
                Answer::Task(self.get_task(&standing, &request).await?).into()
            }
            Request::ListTasks(request) => {
                Answer::Tasks(self.list_tasks(&standing, &request).await?).into()
            }
            Request::CancelTask(request) => {
                Answer::Task(self.cancel_task(&standing, &request).await?).into()
            }
            Request::SubscribeToTask(request) => {
                Response::Stream(self.subscribe_to_task(&standing, caller, &request).await?)
            }
            Request::CreateTaskPushNotificationConfig(config) => {
                Answer::PushConfig(self.create_push_config(&standing, config).await?).into()
            }
            Request::GetTaskPushNotificationConfig(request) => {
                Answer::PushConfig(self.get_push_config(&standing, &request).await?).into()
            }
            Request::ListTaskPushNotificationConfigs(request) => {
                Answer::PushConfigs(self.list_push_configs(&standing, &request).await?).into()
            }
            Request::DeleteTaskPushNotificationConfig(request) => {
                self.delete_push_config(&standing, &request).await?;
                Answer::Deleted.into()
            }
            Request::GetExtendedAgentCard(_) => Answer::Card(self.extended_card(caller)?).into(),
        })
    }

    fn extended_card(&self, caller: &Caller) -> Result<AgentCard, Error> {
        let settings = &self.0.settings;
        let card_for = settings.extended_card.as_ref();
        let card_for = card_for.expect("checked to be there");
        let card = card_for(caller).ok_or(match caller.principal() {
            Some(_) => ErrorKind::PermissionDenied,
            None => ErrorKind::Unauthenticated,
        })?;
        #[cfg(feature = "sign")]
        if let Some(signer) = &settings.signer {
            let mut card = card;
            return match signer.sign(&mut card) {
                Ok(()) => Ok(card),
                Err(error) => Err(check::internal(self.core(), error)),
            };
        }
        Ok(card)
    }

    /// Takes up what an earlier process has left: runs tasks again of which nothing was
    /// shown yet, fails the others (A2A-OP-117), and goes on delivering to webhooks. To be called once, before the first
    /// call; later it happens by itself.
    ///
    /// Answers how many tasks were taken up.
    ///
    /// # Errors
    /// When the log fails.
    pub async fn recover(&self) -> Result<usize, Error> {
        let mut taken_up = self.recover_own().await?;
        for other in self.1.iter() {
            taken_up += other.recover_own().await?;
        }
        Ok(taken_up)
    }

    async fn recover_own(&self) -> Result<usize, Error> {
        // First, so that the count is of this call; the upkeep waits for it.
        let taken_up = upkeep::recover(self).await;
        self.keep_up();
        if let Some(couriers) = &self.0.couriers {
            let sent = couriers.recover().await;
            sent.map_err(|error| check::internal(self.core(), error))?;
        }
        taken_up
    }

    /// Refuses new turns, ends all streams, lets turns run on for `grace`, and fails those
    /// that still run then (O-D04). Deliveries to webhooks that are under way get as much; what
    /// is not delivered then stays in the store.
    pub async fn shut_down(&self, grace: Duration) {
        let others = self.1.iter().map(|other| other.shut_down_own(grace));
        join(self.shut_down_own(grace), join_all(others)).await;
    }

    async fn shut_down_own(&self, grace: Duration) {
        self.0.core.closing.send_replace(true);
        self.0.runs.shut_down(grace).await;
        if let Some(couriers) = &self.0.couriers {
            couriers.shut_down(grace).await;
        }
    }

    /// What became of deliveries to webhooks. Nothing where there are none.
    #[must_use]
    pub fn push_stats(&self) -> Option<Arc<PushStats>> {
        let couriers = self.0.couriers.as_ref()?;
        Some(Arc::clone(couriers.stats()))
    }

    pub(super) fn couriers_or_refuse(&self) -> Result<&Couriers, Error> {
        let couriers = self.0.couriers.as_ref();
        couriers.ok_or_else(|| ErrorKind::PushNotificationNotSupported.into())
    }

    pub(super) fn spawn(&self, turn: Turn) -> Result<(), Error> {
        self.keep_up();
        self.0.runs.spawn(turn)
    }

    fn keep_up(&self) {
        if !self.0.runs.is_kept_up() {
            self.0.runs.keep_up(upkeep::run(self.downgrade()));
        }
    }

    fn downgrade(&self) -> WeakServer {
        WeakServer {
            inner: Arc::downgrade(&self.0),
            pause: self.0.core.limits.lease / 3,
        }
    }

    /// A place for one more stream of this owner.
    pub(super) fn open_stream(&self, owner: &Owner) -> Result<OpenStream, Error> {
        let core = self.core();
        core.streams.open(&core.limits, owner)
    }

    pub(super) fn core(&self) -> &Core {
        &self.0.core
    }

    pub(super) fn shared_core(&self) -> Arc<Core> {
        Arc::clone(&self.0.core)
    }

    pub(super) fn runs(&self) -> &Runs {
        &self.0.runs
    }

    pub(super) fn executor(&self) -> &dyn Start {
        &*self.0.settings.executor
    }

    pub(super) fn serves_agent(&self) -> bool {
        self.0.settings.serves_agent
    }

    pub(super) fn takes_messages(&self) -> bool {
        self.0.settings.takes_messages
    }

    pub(super) fn session_control(&self) -> Option<Arc<dyn SessionControl>> {
        self.0.settings.session_control.clone()
    }

    /// Whether a message to a running task can go anywhere.
    pub(super) fn reaches_running(&self) -> bool {
        self.takes_messages() || self.0.settings.session_control.is_some()
    }

    pub(super) fn streams_end_at_input(&self) -> bool {
        self.0.settings.streams_end_at_input
    }

    /// Says when the turn of a task can no longer write.
    pub(super) fn lost(&self, key: &TaskKey) -> Option<watch::Receiver<bool>> {
        self.runs().of(key).map(|running| running.lost())
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("card", &self.card().name)
            .finish_non_exhaustive()
    }
}

/// A server that may be gone.
pub(super) struct WeakServer {
    inner: std::sync::Weak<Inner>,
    pub(super) pause: Duration,
}

impl WeakServer {
    pub(super) fn upgrade(&self) -> Option<Server> {
        // Its agents beside it look after themselves.
        let inner = self.inner.upgrade()?;
        Some(Server(inner, Others::default()))
    }
}
