use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use portcullis_a2a::{
    client::{Binding, CallError, Client},
    model::{
        CancelTaskRequest, DeleteTaskPushNotificationConfigRequest, ErrorKind, GetTaskRequest,
        ListTaskPushNotificationConfigsRequest, ListTasksRequest, Message, Part,
        SendMessageConfiguration, SendMessageRequest, SendMessageResponse, SubscribeToTaskRequest,
        Task, TaskPushNotificationConfig, TaskState,
    },
    server::EVENTS_EXTENSION,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep, timeout},
};

use super::{
    Dice, Plan,
    book::{Book, End, Look, Sighting, Watching, Webhook},
    host::{BLOCKING_WAIT, PATIENCE},
    journal::Journal,
    plain,
    script::Script,
    watcher::{Habit, Watcher},
    wire::{Line, Road, client},
};

/// What all clients share.
pub(crate) struct Street {
    pub(crate) plan: Plan,
    pub(crate) road: Box<dyn Road>,
    pub(crate) book: Arc<Book>,
    pub(crate) journal: Arc<Journal>,
    /// Who watches beside what a client does.
    pub(crate) watchers: Mutex<JoinSet<()>>,
}

impl Street {
    pub(crate) fn client(&self, binding: Binding, who: &str) -> Client<Line> {
        client(&*self.road, binding, who)
    }

    pub(crate) fn units(&self, units: u32) -> Duration {
        self.plan.unit * units
    }

    /// A task that a call has shown to its owner.
    pub(crate) fn look(&self, who: &str, how: &'static str, begun: u64, task: &Task) {
        self.meet(who, &task.id, task.status.state);
        let ended = self.book.tick();
        let task = plain::task(task.clone());
        self.book.pages().looks.push(Look {
            task,
            how,
            begun,
            ended,
        });
    }

    /// A task is in this state, as its owner has read.
    pub(crate) fn meet(&self, who: &str, task: &str, state: TaskState) {
        self.book.meet(who, task, state.is_terminal());
        // First the work ends, then the word goes out that it is over (A2A-OP-89).
        assert!(
            !state.is_terminal() || !self.journal.works_on(task),
            "{task} is {state} and its turn lives"
        );
    }

    /// An error is one that the call may meet.
    pub(crate) fn bears(&self, what: &str, error: &CallError, kinds: &[ErrorKind]) {
        let down = self.plan.restarts > 0;
        let bearable = match error {
            CallError::Refused(refusal) => {
                kinds.contains(&refusal.kind())
                    || (down && refusal.kind() == ErrorKind::Unavailable)
            }
            // The body of a refusal may be cut off too.
            CallError::Status { status, body, .. } => down && (*status == 503 || body.is_empty()),
            CallError::Transport(_) | CallError::Cut { .. } => down,
            _ => false,
        };
        assert!(bearable, "{what}: {error:?}");
        let kind = error.as_refusal().map(|refusal| refusal.kind());
        let kind = kind.map_or("no answer".to_owned(), |kind| format!("{kind:?}"));
        self.book.count(format!("{what}: {kind}"));
    }
}

/// One client, who does this and that.
pub(crate) struct Resident {
    pub(crate) street: Arc<Street>,
    pub(crate) who: String,
    pub(crate) name: String,
    pub(crate) dice: Dice,
    pub(crate) sent: usize,
}

impl Resident {
    pub(crate) async fn live(mut self) {
        for _ in 0..self.street.plan.actions {
            let pause = self.dice.below(4);
            sleep(self.street.units(pause)).await;
            match self.dice.below(100) {
                0..20 => self.send().await,
                20..45 => self.stream().await,
                45..62 => self.subscribe().await,
                62..70 => self.cancel().await,
                70..76 => self.get().await,
                76..82 => self.list().await,
                82..90 => self.trespass().await,
                90..97 => self.leave_webhook().await,
                _ => self.remove_webhook().await,
            }
        }
    }

    fn binding(&mut self) -> Binding {
        self.dice.pick(Binding::ALL).expect("there are some")
    }

    fn client(&mut self) -> Client<Line> {
        let binding = self.binding();
        let client = self.street.client(binding, &self.who);
        if self.dice.percent(20) {
            client.extensions([EVENTS_EXTENSION])
        } else {
            client
        }
    }

    /// Waits for a call, or loses patience with it. One that never ends is a fault.
    async fn call<T>(&mut self, call: impl Future<Output = T>) -> Option<T> {
        if self.dice.percent(12) {
            let units = self.dice.below(8);
            return timeout(self.street.units(units), call).await.ok();
        }
        let answered = timeout(self.street.units(PATIENCE), call).await;
        Some(answered.expect("a call is answered"))
    }

    fn own_task(&mut self) -> Option<String> {
        self.dice.pick(&self.street.book.of(&self.who))
    }

    /// A message that opens a task, or continues one.
    async fn message(&mut self) -> (SendMessageRequest, bool) {
        let script = Script::roll(&mut self.dice).to_string();
        self.sent += 1;
        let id = format!("m-{}-{}", self.name, self.sent);
        let mut message = Message::user(id, [Part::text(script)]);
        if self.dice.percent(20) {
            message.context_id = "shared".to_owned();
        }
        let continued = match self.dice.below(100) {
            0..30 => self.waiting_task().await,
            30..36 => self.own_task(),
            _ => None,
        };
        let continues = continued.is_some();
        if let Some(task) = continued {
            message.context_id.clear();
            message.task_id = task;
        }
        (SendMessageRequest::new(message), continues)
    }

    /// A task that waits for its user, if the server knows one.
    async fn waiting_task(&mut self) -> Option<String> {
        let client = self.client();
        let mut request = ListTasksRequest::new();
        request.status = TaskState::InputRequired;
        let listed = self.call(client.list_tasks(&request)).await?;
        match listed {
            Ok(listed) => {
                let ids: Vec<_> = listed.tasks.into_iter().map(|task| task.id).collect();
                self.dice.pick(&ids)
            }
            Err(error) => {
                self.street.bears("list", &error, &[]);
                None
            }
        }
    }

    /// What may become of a message.
    const SENDING: &[ErrorKind] = &[ErrorKind::Unavailable];
    const CONTINUING: &[ErrorKind] = &[
        ErrorKind::Unavailable,
        ErrorKind::UnsupportedOperation,
        ErrorKind::ResourceExhausted,
    ];

    async fn send(&mut self) {
        let client = self.client();
        let (mut request, continues) = self.message().await;
        let immediately = self.dice.percent(40);
        let mut wishes = SendMessageConfiguration::new();
        wishes.return_immediately = immediately;
        let webhook = self.inline_webhook(&mut wishes, continues);
        request.configuration = Some(wishes);
        let (begun, began) = (self.street.book.tick(), Instant::now());
        let Some(sent) = self.call(client.send_message(&request)).await else {
            return self.street.book.count("send: dropped");
        };
        match sent {
            Ok(SendMessageResponse::Message(_)) => self.street.book.count("send: a message"),
            Ok(SendMessageResponse::Task(task)) => {
                self.street.look(&self.who, "send", begun, &task);
                let state = task.status.state;
                self.street.book.count(format!("send: {state}"));
                let settled = state.is_terminal() || state.is_interrupted();
                let waited = began.elapsed() >= self.street.units(BLOCKING_WAIT);
                assert!(
                    immediately || settled || waited || self.street.plan.restarts > 0,
                    "{} is {state} for a call that waits",
                    task.id
                );
                self.has_webhook(webhook, &task.id);
            }
            Err(error) => self.bears_refusal(&error, continues),
            Ok(_) => unreachable!("two kinds"),
        }
    }

    fn bears_refusal(&self, error: &CallError, continues: bool) {
        if continues {
            self.street.bears("continue", error, Self::CONTINUING);
        } else {
            self.street.bears("send", error, Self::SENDING);
        }
    }

    async fn stream(&mut self) {
        let client = self.client();
        let (mut request, continues) = self.message().await;
        let mut wishes = SendMessageConfiguration::new();
        let webhook = self.inline_webhook(&mut wishes, continues);
        request.configuration = Some(wishes);
        let watching = self.watching(client.binding(), true, None);
        let Some(stream) = self.call(client.send_streaming_message(&request)).await else {
            return self.street.book.count("stream: dropped");
        };
        match stream {
            Ok(stream) => {
                let watcher = self.watcher(watching, webhook);
                self.watch(watcher.follow(stream)).await;
            }
            Err(error) => self.bears_refusal(&error, continues),
        }
    }

    async fn subscribe(&mut self) {
        let Some(task) = self.own_task() else { return };
        let client = self.client();
        let place = if self.dice.percent(40) {
            let places = self.street.book.pages().tasks[&task].places.clone();
            self.dice.pick(&places)
        } else {
            None
        };
        let watching = self.watching(client.binding(), false, place);
        let request = SubscribeToTaskRequest::new(&*task);
        let id = place.map(|place| place.to_string());
        let subscribed = client.subscribe_to_task(&request, id.as_deref());
        let Some(stream) = self.call(subscribed).await else {
            return self.street.book.count("subscribe: dropped");
        };
        match stream {
            Ok(stream) => {
                let watcher = self.watcher(watching, None);
                self.watch(watcher.follow(stream)).await;
            }
            Err(error) => {
                let kinds = &[ErrorKind::UnsupportedOperation];
                self.street.bears("subscribe", &error, kinds);
            }
        }
    }

    fn watching(&self, binding: Binding, sent: bool, resumed_after: Option<u64>) -> Watching {
        let book = Arc::clone(&self.street.book);
        let sighting = Sighting {
            binding,
            sent,
            resumed_after,
            begun: book.tick(),
            events: Vec::new(),
            end: End::Left,
        };
        Watching::new(book, sighting)
    }

    fn watcher(&mut self, watching: Watching, webhook: Option<usize>) -> Watcher {
        Watcher {
            street: Arc::clone(&self.street),
            who: self.who.clone(),
            watching,
            habit: Habit::roll(&mut self.dice),
            dice: self.dice.branch(),
            webhook,
        }
    }

    /// Watches, or lets somebody else watch.
    async fn watch(&mut self, watches: impl Future<Output = ()> + Send + 'static) {
        if self.dice.percent(60) {
            let mut watchers = self.street.watchers.lock().expect("not poisoned");
            watchers.spawn(watches);
        } else {
            let units = self.dice.between(5, 100);
            // Who gives up leaves.
            let _left = timeout(self.street.units(units), watches).await;
        }
    }

    async fn cancel(&mut self) {
        let Some(task) = self.own_task() else { return };
        let client = self.client();
        let begun = self.street.book.tick();
        if let Some(known) = self.street.book.pages().tasks.get_mut(&task) {
            known.cancel_asked = true;
        }
        let request = CancelTaskRequest::new(&*task);
        match self.call(client.cancel_task(&request)).await {
            None => self.street.book.count("cancel: dropped"),
            Some(Ok(task)) => {
                self.street.look(&self.who, "cancel", begun, &task);
                // Each of these turns can stop at once (A2A-OP-84).
                let state = task.status.state;
                let stops = state == TaskState::Canceled || !self.street.plan.paused;
                assert!(stops, "{} was to be canceled and is {state}", task.id);
                self.street
                    .book
                    .count(format!("cancel: {}", task.status.state));
            }
            Some(Err(error)) => {
                let kinds = &[ErrorKind::TaskNotCancelable];
                self.street.bears("cancel", &error, kinds);
                let kind = error.as_refusal().map(|refusal| refusal.kind());
                if kind == Some(ErrorKind::TaskNotCancelable) {
                    self.street.book.pages().not_cancelable.push(task);
                }
            }
        }
    }

    async fn get(&mut self) {
        let Some(task) = self.own_task() else { return };
        let client = self.client();
        let begun = self.street.book.tick();
        match self
            .call(client.get_task(&GetTaskRequest::new(&*task)))
            .await
        {
            None => {}
            Some(Ok(task)) => self.street.look(&self.who, "get", begun, &task),
            Some(Err(error)) => self.street.bears("get", &error, &[]),
        }
    }

    /// Turns the pages of one's list while tasks arrive.
    async fn list(&mut self) {
        let client = self.client();
        let mut request = ListTasksRequest::new();
        request.page_size = Some(self.dice.between(1, 6).cast_signed());
        request.history_length = Some(1_000);
        request.include_artifacts = Some(true);
        let over = self.street.book.over_of(&self.who);
        let mut seen = Vec::new();
        loop {
            let begun = self.street.book.tick();
            let page = match self.call(client.list_tasks(&request)).await {
                None => return,
                Some(Ok(page)) => page,
                Some(Err(error)) => return self.street.bears("list", &error, &[]),
            };
            for task in &page.tasks {
                self.street.look(&self.who, "list", begun, task);
                seen.push(task.id.clone());
            }
            request.page_token = page.next_page_token;
            if request.page_token.is_empty() {
                break;
            }
        }
        self.street.book.count("list: whole");
        // What cannot change any more stands on one page, whatever arrives meanwhile.
        for task in over {
            let times = seen.iter().filter(|seen| **seen == task).count();
            assert_eq!(times, 1, "{task} in the list of {}: {seen:?}", self.who);
        }
    }

    /// What belongs to somebody else is not there.
    async fn trespass(&mut self) {
        let others = self.street.book.not_of(&self.who);
        let Some(task) = self.dice.pick(&others) else {
            return;
        };
        let client = self.client();
        let how = self.dice.below(8);
        let tried = async {
            match how {
                0 => client
                    .get_task(&GetTaskRequest::new(&*task))
                    .await
                    .map(drop),
                1 => client
                    .cancel_task(&CancelTaskRequest::new(&*task))
                    .await
                    .map(drop),
                2 | 3 => {
                    let request = SubscribeToTaskRequest::new(&*task);
                    let place = (how == 3).then_some("1");
                    client.subscribe_to_task(&request, place).await.map(drop)
                }
                4 => {
                    let mut message = Message::user("m-trespass", [Part::text("complete")]);
                    message.task_id.clone_from(&task);
                    let request = SendMessageRequest::new(message);
                    client.send_message(&request).await.map(drop)
                }
                5 => {
                    let config = TaskPushNotificationConfig::new(&*task, "https://a.example.com/x");
                    client.create_push_config(&config).await.map(drop)
                }
                6 => {
                    let request = ListTaskPushNotificationConfigsRequest::new(&*task);
                    client.list_push_configs(&request).await.map(drop)
                }
                _ => {
                    let request = DeleteTaskPushNotificationConfigRequest::new(&*task, "p-1");
                    client.delete_push_config(&request).await
                }
            }
        };
        match self.call(tried).await {
            None => {}
            Some(Ok(())) => panic!("{} reached {task} of somebody else, way {how}", self.who),
            Some(Err(error)) => {
                let kinds = &[ErrorKind::TaskNotFound];
                self.street.bears("trespass", &error, kinds);
            }
        }
    }

    /// A webhook that nobody else has.
    fn webhook(&self, task: Option<String>, inline: bool) -> (usize, TaskPushNotificationConfig) {
        let mut pages = self.street.book.pages();
        let number = pages.webhooks.len();
        let url = format!("https://hooks.example.net/{number}");
        let config = TaskPushNotificationConfig::new(task.clone().unwrap_or_default(), &*url);
        pages.webhooks.push(Webhook {
            url,
            task,
            id: None,
            inline,
            since: None,
            removing: None,
            gone: None,
        });
        (number, config)
    }

    /// Lets a webhook come with a message that opens a task.
    fn inline_webhook(
        &mut self,
        wishes: &mut SendMessageConfiguration,
        continues: bool,
    ) -> Option<usize> {
        if !self.dice.percent(30) {
            return None;
        }
        let (number, config) = self.webhook(None, !continues);
        wishes.task_push_notification_config = Some(config);
        Some(number)
    }

    fn has_webhook(&self, webhook: Option<usize>, task: &str) {
        self.street.has_webhook(webhook, task);
    }

    async fn leave_webhook(&mut self) {
        let Some(task) = self.own_task() else { return };
        let client = self.client();
        let (number, config) = self.webhook(Some(task), false);
        match self.call(client.create_push_config(&config)).await {
            None => {}
            Some(Ok(config)) => {
                let now = self.street.book.tick();
                let mut pages = self.street.book.pages();
                pages.webhooks[number].id = Some(config.id);
                pages.webhooks[number].since = Some(now);
            }
            Some(Err(error)) => self.street.bears("leave a webhook", &error, &[]),
        }
    }

    async fn remove_webhook(&mut self) {
        let number = {
            let pages = self.street.book.pages();
            let removable = pages.webhooks.iter().enumerate().filter(|(_, webhook)| {
                let task = webhook.task.as_ref().and_then(|task| pages.tasks.get(task));
                webhook.id.is_some()
                    && webhook.removing.is_none()
                    && task.is_some_and(|known| known.who == self.who)
            });
            let removable: Vec<_> = removable.map(|(number, _)| number).collect();
            self.dice.pick(&removable)
        };
        let Some(number) = number else { return };
        let client = self.client();
        let now = self.street.book.tick();
        let (task, id) = {
            let webhook = &mut self.street.book.pages().webhooks[number];
            webhook.removing = Some(now);
            let (task, id) = (webhook.task.clone(), webhook.id.clone());
            (task.expect("chosen by it"), id.expect("chosen by it"))
        };
        let request = DeleteTaskPushNotificationConfigRequest::new(task, id);
        match self.call(client.delete_push_config(&request)).await {
            None => {}
            Some(Ok(())) => {
                let now = self.street.book.tick();
                self.street.book.pages().webhooks[number].gone = Some(now);
            }
            Some(Err(error)) => self.street.bears("remove a webhook", &error, &[]),
        }
    }
}

impl Street {
    /// The message that brought a webhook was taken.
    pub(crate) fn has_webhook(&self, webhook: Option<usize>, task: &str) {
        let Some(number) = webhook else { return };
        let now = self.book.tick();
        let mut pages = self.book.pages();
        pages.webhooks[number].task = Some(task.to_owned());
        pages.webhooks[number].since = Some(now);
    }
}
