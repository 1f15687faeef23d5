use std::sync::Arc;

use portcullis_session::session_key;
use tokio::{
    sync::{Mutex, mpsc, oneshot},
    time::timeout,
};

use crate::{
    log::{AppendError, Seq, Snapshot, TaskKey, Update, apply},
    model::{Error, ErrorKind, Message, SendMessageRequest, SendMessageResponse, Task, TaskState},
    server::{
        EVENTS_EXTENSION, Frames, IdKind, Limits, RequestContext, Server,
        admission::Admission,
        check,
        check::Standing,
        context::Asked,
        runner::{NotTaken, Opening, Opens, Recipient, Resumption, Turn},
        watch::{Ended, Watch, ends},
    },
};

use super::get::history_length;

/// What a message has led to.
enum Sent {
    /// A task that goes on.
    Task {
        key: TaskKey,
        seq: Seq,
        task: Arc<Task>,
        /// Whether it is over already, or waits for its caller.
        settled: bool,
    },
    /// The whole answer.
    Message(Message),
}

impl Server {
    /// A2A-OP-49..54.
    pub(in crate::server) async fn send_message(
        &self,
        standing: Standing,
        request: SendMessageRequest,
    ) -> Result<SendMessageResponse, Error> {
        let history = history_length(request.history_length());
        let immediately = request.returns_immediately();
        let mut task = match self.send(standing, request, immediately).await? {
            Sent::Message(message) => return Ok(SendMessageResponse::Message(message)),
            Sent::Task {
                key, seq, settled, ..
            } if !immediately && !settled => self.wait_for(key, seq).await?,
            Sent::Task { task, .. } => Arc::unwrap_or_clone(task),
        };
        task.limit_history(history);
        Ok(SendMessageResponse::Task(task))
    }

    /// A2A-OP-55..64.
    pub(in crate::server) async fn send_streaming_message(
        &self,
        standing: Standing,
        request: SendMessageRequest,
    ) -> Result<Frames, Error> {
        let history = history_length(request.history_length());
        let place = self.open_stream(&standing.owner)?;
        Ok(match self.send(standing, request, false).await? {
            Sent::Message(message) => Frames::message(message),
            Sent::Task {
                key,
                seq,
                task,
                settled,
            } => {
                let mut task = Arc::unwrap_or_clone(task);
                task.limit_history(history);
                let at_input = self.streams_end_at_input();
                let over = settled && ends(task.status.state, at_input);
                let lost = self.lost(&key);
                let watch = (!over).then(|| Watch::new(self.shared_core(), key, seq, lost));
                Frames::task(seq, task, watch.map(|watch| (watch, place)), at_input)
            }
        })
    }

    /// Waits until the task is over or waits for its caller, and answers with the task as
    /// it is then, or after a while as it is (A2A-OP-29, A2A-OP-32).
    async fn wait_for(&self, key: TaskKey, seq: Seq) -> Result<Task, Error> {
        let mut watch = Watch::new(self.shared_core(), key.clone(), seq, self.lost(&key));
        let settled = async {
            loop {
                let record = watch.next().await?;
                if record.state().is_some_and(is_settled) {
                    return Ok(());
                }
            }
        };
        match timeout(self.core().limits.blocking_wait, settled).await {
            Ok(Err(Ended::Broken(error))) => return Err(error),
            Ok(Ok(()) | Err(Ended::Closing)) | Err(_) => {}
        }
        match self.core().log.snapshot(&key).await {
            Ok(Some(snapshot)) => Ok(snapshot.into_task()),
            Ok(None) => Err(Error::task_not_found(key.id())),
            Err(error) => Err(check::internal(self.core(), error)),
        }
    }

    async fn send(
        &self,
        standing: Standing,
        request: SendMessageRequest,
        immediately: bool,
    ) -> Result<Sent, Error> {
        if request.message.task_id.is_empty() {
            self.open(standing, request, immediately).await
        } else {
            self.go_on(standing, request, immediately).await
        }
    }

    /// A message that opens a task, if its answer is not a message.
    async fn open(
        &self,
        standing: Standing,
        mut request: SendMessageRequest,
        immediately: bool,
    ) -> Result<Sent, Error> {
        check::context_of_new_task(&request.message, &standing)?;
        check::content(self.card(), &request)?;
        let context_id = Some(&*request.message.context_id).filter(|id| !id.is_empty());
        let admission = self.admit_task(&standing.owner, context_id).await?;
        let core = self.core();
        let task_id = core.ids.next(IdKind::Task);
        if request.message.context_id.is_empty() {
            request.message.context_id = core.ids.next(IdKind::Context);
        }
        request.message.task_id.clone_from(&task_id);
        let key = TaskKey::new(standing.owner.clone(), task_id.as_str());
        let webhook = self.inline_webhook(&key, &request, Seq::ZERO).await?;
        let begins = Begins::New(admission);
        let opening = self.start(key.clone(), standing, request, begins, immediately)?;
        if let Some(webhook) = webhook {
            webhook.begin(self.lost(&key));
        }
        opened(key, opening.await, true)
    }

    /// A message to a task that is there.
    async fn go_on(
        &self,
        standing: Standing,
        mut request: SendMessageRequest,
        immediately: bool,
    ) -> Result<Sent, Error> {
        let core = self.core();
        let task_id = request.message.task_id.clone();
        for _ in 0..ATTEMPTS {
            let (key, snapshot) = check::task(core, &standing.owner, &task_id).await?;
            check::context_of_task(&request.message, &snapshot)?;
            check::not_over(&snapshot, "The task is finished and accepts no messages")?;
            let running = self.runs().of(&key);
            let waits = match snapshot.task().status.state {
                // A turn that answers the question may not have said so yet.
                TaskState::InputRequired => running.is_none_or(|running| running.asks()),
                // Who waits for a credential may go on without a message (A2A-OP-111).
                TaskState::AuthRequired => running.is_none(),
                _ => false,
            };
            if !waits && !self.reaches_running() {
                return Err(busy(&snapshot));
            }
            check::content(self.card(), &request)?;
            let context_id = &snapshot.task().context_id;
            request.message.context_id.clone_from(context_id);
            let webhook = self.inline_webhook(&key, &request, snapshot.seq()).await?;
            if !waits {
                let reached = self.reach(&key, &snapshot, request.message).await?;
                if let Some(webhook) = webhook {
                    webhook.begin(None);
                }
                return Ok(reached);
            }
            if snapshot.seq().number() >= core.limits.task_updates {
                return Err(too_long(&snapshot));
            }
            let message = request.message.clone();
            let continued = Continued::by(&snapshot, Resumption { message, webhook });
            let (standing, request) = (standing.clone(), request.clone());
            let begins = Begins::Continued(continued);
            let opening = self.start(key.clone(), standing, request, begins, immediately)?;
            match opening.await {
                Ok(Ok(Opening::NotResumed(error))) => match error {
                    // Somebody else was faster: look again.
                    AppendError::Conflict { .. } | AppendError::Finished => {}
                    AppendError::NotFound => return Err(Error::task_not_found(task_id)),
                    AppendError::Held => return Err(busy(&snapshot)),
                    AppendError::Full => return Err(too_long(&snapshot)),
                    error => return Err(check::internal(core, error)),
                },
                // What the task waited for before this turn says nothing of it.
                opening => return opened(key, opening, false),
            }
        }
        let message = "The task changes too fast to take a message";
        Err(core.limits.refusal(ErrorKind::Unavailable, message))
    }

    /// Runs a turn.
    pub(in crate::server) fn start(
        &self,
        key: TaskKey,
        standing: Standing,
        request: SendMessageRequest,
        begins: Begins,
        immediately: bool,
    ) -> Result<oneshot::Receiver<Result<Opening, Error>>, Error> {
        let (continued, admission) = match begins {
            Begins::New(admission) => (None, Some(admission)),
            Begins::Continued(continued) => (Some(continued), None),
        };
        let (outbox, inbox) = if self.takes_messages() {
            let (sender, receiver) = mpsc::channel(self.core().limits.waiting_messages.max(1));
            (Some(sender), Some(Mutex::new(receiver)))
        } else {
            (None, None)
        };
        let mut extensions = standing.extensions;
        if let Some(continued) = &continued {
            // What a task shows was fixed when it was opened (ruling in design 5).
            let shows = continued.before.metadata.get(EVENTS_EXTENSION).is_some();
            extensions.retain(|uri| uri != EVENTS_EXTENSION);
            if shows {
                extensions.push(EVENTS_EXTENSION.to_owned());
            }
        }
        let SendMessageRequest {
            message,
            configuration,
            metadata,
            ..
        } = request;
        // Two agents may keep their sessions in one place.
        let session = session_key(
            Some(standing.owner.tenant()).filter(|tenant| !tenant.is_empty()),
            standing.principal.as_ref(),
            &message.context_id,
        );
        let cx = RequestContext(Arc::new(Asked {
            core: self.shared_core(),
            owner: standing.owner,
            task_id: message.task_id.clone(),
            context_id: message.context_id.clone(),
            session,
            message,
            task: continued
                .as_ref()
                .map(|continued| Arc::clone(&continued.before)),
            tenant: standing.tenant,
            principal: standing.principal,
            trace: standing.trace,
            peer: standing.peer,
            extensions,
            metadata,
            accepted_output_modes: configuration
                .map(|wishes| wishes.accepted_output_modes)
                .unwrap_or_default(),
            inbox,
        }));
        let (opening, opened) = oneshot::channel();
        let opens = match () {
            () if immediately => Opens::AtOnce,
            () if self.serves_agent() => Opens::AfterFirstPoll,
            () => Opens::AtFirstEmission,
        };
        let (existing, resumption) = match continued {
            Some(continued) => (Some((continued.seq, continued.task)), continued.resumption),
            None => (None, None),
        };
        let turn = Turn {
            key,
            emissions: self.executor().start(cx.clone()),
            cx,
            existing,
            resumption,
            opens,
            opening,
            admission,
            inbox: outbox,
        };
        self.spawn(turn)?;
        Ok(opened)
    }

    /// A message to a turn that runs: to its session where there is a control plane, else into
    /// the executor's inbox (A2A-OP-25).
    async fn reach(
        &self,
        key: &TaskKey,
        snapshot: &Snapshot,
        message: Message,
    ) -> Result<Sent, Error> {
        let Some(running) = self.runs().of(key) else {
            return Err(busy(snapshot));
        };
        let to = match self.session_control() {
            // It knows sessions, and this one's turn may be that of another task.
            Some(_) if !self.runs().is_reached(key) => return Err(busy(snapshot)),
            Some(control) => Recipient::Session(control),
            None => Recipient::Executor,
        };
        match running.message(message, to).await {
            Ok(()) => {}
            Err(NotTaken::Busy) => return Err(busy(snapshot)),
            Err(NotTaken::Full) => return Err(full(&self.core().limits, snapshot)),
        }
        match self.core().log.snapshot(key).await {
            Ok(Some(snapshot)) => Ok(Sent::Task {
                key: key.clone(),
                seq: snapshot.seq(),
                settled: is_settled(snapshot.task().status.state),
                task: Arc::new(snapshot.into_task()),
            }),
            Ok(None) => Err(Error::task_not_found(key.id())),
            Err(error) => Err(check::internal(self.core(), error)),
        }
    }
}

/// Whether a call that waits for a task is answered.
const fn is_settled(state: TaskState) -> bool {
    state.is_terminal() || state.is_interrupted()
}

/// What a turn begins with.
fn opened(
    key: TaskKey,
    opening: Result<Result<Opening, Error>, oneshot::error::RecvError>,
    is_new: bool,
) -> Result<Sent, Error> {
    match opening {
        Ok(Ok(Opening::Task(seq, task))) => Ok(Sent::Task {
            key,
            seq,
            settled: is_new && is_settled(task.status.state),
            task,
        }),
        Ok(Ok(Opening::Message(message))) => Ok(Sent::Message(message)),
        Ok(Ok(Opening::NotResumed(error))) => Err(Error::internal(error)),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::internal("the turn is gone")),
    }
}

/// What a turn begins with.
pub(in crate::server) enum Begins {
    /// A task that is yet to be opened.
    New(Admission),
    /// One that is there.
    Continued(Continued),
}

/// A task that goes on.
pub(in crate::server) struct Continued {
    /// As it was before the message.
    pub(in crate::server) before: Arc<Task>,
    /// With the message in its history.
    pub(in crate::server) task: Arc<Task>,
    /// Where its log ends.
    pub(in crate::server) seq: Seq,
    /// What the log does not have yet.
    pub(in crate::server) resumption: Option<Box<Resumption>>,
}

impl Continued {
    /// A message that the log does not have yet.
    fn by(snapshot: &Snapshot, resumption: Resumption) -> Self {
        let before = snapshot.task();
        let mut task = before.clone();
        apply(&mut task, Update::Message(resumption.message.clone()));
        Self {
            before: Arc::new(before.clone()),
            task: Arc::new(task),
            seq: snapshot.seq(),
            resumption: Some(Box::new(resumption)),
        }
    }
}

fn busy(snapshot: &Snapshot) -> Error {
    check::refusal_of_state(
        ErrorKind::UnsupportedOperation,
        "The task is running and takes no messages now",
        &snapshot.task().id,
        snapshot.task().status.state,
    )
}

fn too_long(snapshot: &Snapshot) -> Error {
    check::refusal_of_state(
        ErrorKind::UnsupportedOperation,
        "The task has become too long and takes no more messages",
        &snapshot.task().id,
        snapshot.task().status.state,
    )
}

fn full(limits: &Limits, snapshot: &Snapshot) -> Error {
    check::refusal_of_state(
        ErrorKind::ResourceExhausted,
        "Too many messages wait for the task",
        &snapshot.task().id,
        snapshot.task().status.state,
    )
    .retry_after(Some(limits.retry_after))
}

/// Who loses a race so often has other problems.
const ATTEMPTS: usize = 8;
