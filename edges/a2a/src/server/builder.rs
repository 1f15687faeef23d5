use std::{error::Error, fmt, sync::Arc};

use portcullis::{Agent, BoxAgent, SessionControl};
use tokio::sync::watch;

use super::{
    BuildError, Caller, Clock, Coalescing, EVENTS_EXTENSION, IdKind, IdSource, Limits,
    ProtocolVersion, RandomIds, Server, SystemClock, Tenants,
    agent::AgentExecutor,
    core::Core,
    executor::{Executor, Plain, Start},
    push::Push,
    server::{ExtendedCard, Settings},
    version,
};
use crate::{
    log::{Holder, MemoryLog, TaskLog},
    model::{AgentCard, AgentExtension},
};

/// How a [`Server`] is to be. Made by [`Server::builder`] and [`Server::agent_builder`].
#[must_use]
pub struct ServerBuilder {
    card: AgentCard,
    behind: Behind,
    log: Option<Arc<dyn TaskLog>>,
    ids: Box<dyn IdSource>,
    clock: Box<dyn Clock>,
    limits: Limits,
    coalescing: Coalescing,
    tenants: Tenants,
    session_control: Option<Arc<dyn SessionControl>>,
    extended_card: Option<ExtendedCard>,
    push: Option<Push>,
    #[cfg(feature = "sign")]
    signer: Option<crate::signing::CardSigner>,
    takes_messages: bool,
    streams_end_at_input: bool,
    missing_version: ProtocolVersion,
    name: String,
}

/// Who answers.
enum Behind {
    Executor(Box<dyn Start>),
    Agent(BoxAgent),
}

impl ServerBuilder {
    pub(super) fn of_executor<E>(executor: E, card: AgentCard) -> Self
    where
        E: Executor + Clone + Send + Sync + 'static,
        E::Future: Send,
        E::Response: Send,
    {
        Self::new(Behind::Executor(Box::new(Plain(executor))), card)
    }

    pub(super) fn of_agent<A>(agent: A, mut card: AgentCard) -> Self
    where
        A: Agent + Clone + Send + Sync + 'static,
        A::Future: Send,
        A::Response: Send,
    {
        if !card.extensions().any(|known| known.uri == EVENTS_EXTENSION) {
            let mut extension = AgentExtension::new(EVENTS_EXTENSION);
            extension.description = "Shows what the agent does beside answering.".to_owned();
            card.capabilities.extensions.push(extension);
        }
        Self::new(Behind::Agent(BoxAgent::new(agent)), card)
    }

    fn new(behind: Behind, card: AgentCard) -> Self {
        Self {
            card,
            behind,
            log: None,
            ids: Box::new(RandomIds::new()),
            clock: Box::new(SystemClock::new()),
            limits: Limits::default(),
            coalescing: Coalescing::default(),
            tenants: Tenants::default(),
            session_control: None,
            extended_card: None,
            push: None,
            #[cfg(feature = "sign")]
            signer: None,
            takes_messages: false,
            streams_end_at_input: true,
            missing_version: ProtocolVersion::V0_3,
            name: String::new(),
        }
    }

    /// Where tasks live. In memory by default.
    pub fn log(mut self, log: Arc<dyn TaskLog>) -> Self {
        self.log = Some(log);
        self
    }

    /// Where ids come from. [`RandomIds`] by default.
    pub fn ids(mut self, ids: impl IdSource) -> Self {
        self.ids = Box::new(ids);
        self
    }

    /// What time it is. [`SystemClock`] by default.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Box::new(clock);
        self
    }

    /// How much the server takes, waits and keeps.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How the text of an agent is gathered. What an executor emits never is.
    pub const fn coalescing(mut self, coalescing: Coalescing) -> Self {
        self.coalescing = coalescing;
        self
    }

    /// Which tenants there are.
    pub const fn tenants(mut self, tenants: Tenants) -> Self {
        self.tenants = tenants;
        self
    }

    /// Lets messages to a running task reach its session: as a steer where the engine can
    /// be steered, else as a follow-up.
    ///
    /// The message is in the history of the task, before all that it leads to. Where the turn takes
    /// none it is refused: with `UnsupportedOperation`, or with `ResourceExhausted` when too many wait
    /// for it. So is one to a task whose session has another task's turn in it: a control plane knows
    /// sessions, and the message is not that task's.
    pub fn session_control(mut self, control: Arc<dyn SessionControl>) -> Self {
        self.session_control = Some(control);
        self
    }

    /// Posts the updates of tasks to webhooks. The card says so.
    pub fn push(mut self, push: Push) -> Self {
        self.push = Some(push);
        self
    }

    /// The card for those who authenticate: what `card` answers for a caller (A2A-OP-105). Where it
    /// answers nothing, a caller without a principal is told to authenticate, and any other
    /// one that it may not see this. The public card says that there is one.
    ///
    /// The caller is whom the layers in front of the binding have verified. Answer for
    /// everybody only what everybody may read.
    ///
    /// ```
    /// use portcullis_a2a::{
    ///     model::{AgentCard, AgentInterface, AgentSkill},
    ///     server::{Caller, Server, executor_fn},
    /// };
    ///
    /// # let executor = executor_fn(async |_ctx, _out| Ok(()));
    /// let public = AgentCard::new("a", "What all may know.", AgentInterface::json_rpc("https://a.example/"));
    /// let mut extended = public.clone();
    /// extended.skills.push(AgentSkill::new("deploy", "deploy", "Deploys."));
    /// let server = Server::builder(executor, public)
    ///     .extended_card(move |caller: &Caller| caller.principal().map(|_| extended.clone()))
    ///     .build();
    /// assert_eq!(server.card().capabilities.extended_agent_card, Some(true));
    /// ```
    pub fn extended_card(
        mut self,
        card: impl Fn(&Caller) -> Option<AgentCard> + Send + Sync + 'static,
    ) -> Self {
        self.card.capabilities.extended_agent_card = Some(true);
        self.extended_card = Some(Box::new(card));
        self
    }

    /// Signs the cards that are served, as they are served (section 8.4).
    #[cfg(feature = "sign")]
    #[cfg_attr(docsrs, doc(cfg(feature = "sign")))]
    pub fn sign_cards(mut self, signer: crate::signing::CardSigner) -> Self {
        self.signer = Some(signer);
        self
    }

    /// The executor reads messages that come while it works, by
    /// [`next_message`](super::RequestContext::next_message). By default they are refused
    /// (A2A-OP-25).
    pub const fn takes_messages_while_working(mut self) -> Self {
        self.takes_messages = true;
        self
    }

    /// Whether `SendStreamingMessage` ends its stream at INPUT_REQUIRED. It does by
    /// default; `SubscribeToTask` never does (A2A-OP-60).
    pub const fn streams_end_at_input(mut self, yes: bool) -> Self {
        self.streams_end_at_input = yes;
        self
    }

    /// What a request means that says no version. 0.3 by default, as the protocol has it, so that a
    /// server that speaks 1.0 only refuses it. With 1.0 it is taken as such, for closed deployments
    /// whose callers send no header (A2A-SVC-7).
    pub const fn missing_version(mut self, version: ProtocolVersion) -> Self {
        self.missing_version = version;
        self
    }

    /// What the agent is called among [several](Server::with_agent): the tenant that requests reach it
    /// by, and what its tasks are kept under where several share a log. Its tasks and sessions are
    /// apart from those of any other name, and none of them takes over what another one left behind.
    ///
    /// # Panics
    /// When the name is empty or holds a control character.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        let is_name = !self.name.is_empty() && !self.name.contains(char::is_control);
        assert!(is_name, "no name of an agent: {:?}", self.name);
        self
    }

    /// The server.
    ///
    /// # Panics
    /// Where [`try_build`](Self::try_build) has an error, and says the same. For cards that the
    /// program itself has made.
    #[must_use]
    pub fn build(self) -> Server {
        self.try_build().unwrap_or_else(|error| {
            let because = error.source().map(ToString::to_string).unwrap_or_default();
            panic!("{error}: {because}")
        })
    }

    /// The server. What is unwise about its card goes to the log.
    ///
    /// # Errors
    /// When the card [cannot be served](AgentCard::validate). With `sign_cards`, when it cannot be
    /// signed: it holds a number in the parameters of an extension that has no canonical form, or
    /// the system gives no random numbers.
    pub fn try_build(mut self) -> Result<Server, BuildError> {
        self.promise_what_there_is();
        self.card.validate().map_err(BuildError::Card)?;
        for advice in self.card.advice() {
            tracing::warn!(card = self.card.name, "{advice}");
        }
        #[cfg(feature = "sign")]
        if let Some(signer) = &self.signer {
            signer.sign(&mut self.card).map_err(BuildError::Signing)?;
        }
        let serves_agent = matches!(self.behind, Behind::Agent(_));
        let executor = match self.behind {
            Behind::Executor(executor) => executor,
            Behind::Agent(agent) => {
                Box::new(Plain(AgentExecutor::new(agent, self.coalescing))) as Box<dyn Start>
            }
        };
        // Never the same name twice, whatever the source of the other ids is.
        let holder = Holder::new(RandomIds::new().next(IdKind::Task)).in_namespace(self.name);
        let core = Core {
            log: self.log.unwrap_or_else(|| Arc::new(MemoryLog::new())),
            ids: self.ids,
            clock: self.clock,
            limits: self.limits,
            streams: Arc::default(),
            admissions: Arc::default(),
            holder,
            closing: watch::Sender::new(false),
            recovering: tokio::sync::Mutex::default(),
            left_behind: std::sync::Mutex::default(),
        };
        let settings = Settings {
            card: self.card,
            executor,
            serves_agent,
            tenants: self.tenants,
            session_control: self.session_control,
            extended_card: self.extended_card,
            #[cfg(feature = "sign")]
            signer: self.signer,
            takes_messages: self.takes_messages,
            streams_end_at_input: self.streams_end_at_input,
            missing_version: self.missing_version,
        };
        Ok(Server::assemble(core, self.push, settings))
    }

    /// The capabilities of the card are those of the server.
    fn promise_what_there_is(&mut self) {
        let capabilities = &mut self.card.capabilities;
        if self.push.is_some() {
            capabilities.push_notifications = Some(true);
        } else if capabilities.push_notifications == Some(true) {
            tracing::warn!("this server delivers no webhooks; the card says so now");
            capabilities.push_notifications = Some(false);
        }
        if self.extended_card.is_none() && capabilities.extended_agent_card == Some(true) {
            tracing::warn!("the card promises an extended one, and there is none");
        }
        for interface in &self.card.supported_interfaces {
            let (url, version) = (&interface.url, &interface.protocol_version);
            let spoken = version::built(&interface.protocol_binding);
            if !ProtocolVersion::parse(version).is_some_and(|version| spoken.contains(&version)) {
                tracing::warn!(
                    url,
                    version,
                    "this server does not speak what the card promises"
                );
            }
        }
    }
}

impl fmt::Debug for ServerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerBuilder")
            .field("card", &self.card.name)
            .finish_non_exhaustive()
    }
}
