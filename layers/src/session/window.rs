use std::{
    future::poll_fn,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use futures_core::Stream;
use portcullis::{
    Agent, AgentEvent, Completed, Emitter, Failure, FailureCode, Finish, Inbox, InboxSender, Next,
    Prompt, Run, Scope, Script, Scripted, views::FollowUp,
};
use tower_layer::Layer;

use super::{
    SessionDesk,
    book::{After, Key, Leftover},
    live::Live,
};

/// Lets a desk reach the turns. See the [module docs](super#the-window).
#[derive(Clone, Debug)]
pub struct WindowLayer {
    desk: SessionDesk,
}

/// An agent whose turns a desk reaches. See the [module docs](super#the-window).
pub type Window<S> = Scripted<S, WindowLayer>;

impl WindowLayer {
    pub(super) const fn new(desk: SessionDesk) -> Self {
        Self { desk }
    }

    /// The desk.
    #[must_use]
    pub const fn desk(&self) -> &SessionDesk {
        &self.desk
    }
}

impl<S> Layer<S> for WindowLayer {
    type Service = Window<S>;

    fn layer(&self, inner: S) -> Window<S> {
        Scripted::new(inner, self.clone())
    }
}

impl<S> Script<S> for WindowLayer
where
    S: Agent<Future: Send, Response: Send> + Clone + Send + Sync + 'static,
{
    async fn run(
        self,
        scope: Scope,
        mut prompt: Prompt,
        mut next: Next<S>,
        out: Emitter,
    ) -> Result<Finish<S>, Failure> {
        // Declared before the runs, so that they are gone when it is dropped.
        let mut window = Open::new(self.desk, scope.session());
        for number in 2_u64.. {
            let Some(inbox) = window.begin() else {
                return Err(window.fail(None));
            };
            let mut scope = scope.clone();
            if let Some(inbox) = inbox {
                InboxSender::offer(inbox, &mut scope);
            }
            let mut run = next.invoke(scope, prompt);
            let end = loop {
                match poll_fn(|cx| window.poll_run(&mut run, cx)).await {
                    Heard::Said(event) => {
                        window.live.ring.tell(&event);
                        out.emit(event).await;
                    }
                    end => break end,
                }
            };
            let completed = match end {
                Heard::Completed(completed) => completed,
                Heard::Ended => {
                    // As it came: to repair it is not for this layer.
                    return match window.close() {
                        true => Err(window.fail(None)),
                        false => Ok(run.into()),
                    };
                }
                Heard::Failed(failure) => {
                    drop(run);
                    return Err(window.fail(Some(failure)));
                }
                Heard::Stopped | Heard::Said(_) => {
                    drop(run);
                    return Err(window.fail(None));
                }
            };
            // What is below is free before another run begins.
            drop(run);
            match window.next() {
                After::Over { aborted: true } => return Err(window.fail(None)),
                After::Over { aborted: false } => return Ok(window.complete(completed).into()),
                After::Run(next) => {
                    let boundary = boundary(number, &next, completed);
                    prompt = next;
                    window.live.ring.tell(&boundary);
                    out.emit(boundary).await;
                }
            }
        }
        unreachable!("there are fewer runs than numbers")
    }
}

/// The event between two runs, which has what the end of the first would have had.
fn boundary(number: u64, prompt: &Prompt, completed: Completed) -> AgentEvent {
    let mut boundary = FollowUp::new(number);
    boundary.text = Some(prompt.as_text().to_owned());
    for (name, _) in completed.extra().iter() {
        if let Some(value) = completed.extra().get(&name) {
            // A member that the boundary has itself gives way.
            let _known = boundary.extra_mut().insert(&name, &value);
        }
    }
    boundary.data = completed.into_data();
    boundary.into()
}

/// What was heard of a run.
enum Heard {
    Said(AgentEvent),
    Completed(Completed),
    Failed(Failure),
    /// It has ended without a terminal event.
    Ended,
    /// Somebody has stopped the turn.
    Stopped,
}

/// The window of a turn. Dropping it closes it.
struct Open {
    desk: SessionDesk,
    key: Key,
    live: Arc<Live>,
    closed: bool,
}

impl Open {
    fn new(desk: SessionDesk, session: &str) -> Self {
        let mut book = desk.book();
        let live = Arc::new(Live::new(book.limits()));
        let key = book.open(session, Arc::clone(&live));
        drop(book);
        Self {
            desk,
            key,
            live,
            closed: false,
        }
    }

    fn begin(&self) -> Option<Option<Inbox>> {
        self.desk.book().begin(&self.key)
    }

    fn poll_run<S: Agent>(&self, run: &mut Run<S>, cx: &mut Context<'_>) -> Poll<Heard> {
        if self.live.is_aborted() {
            return Poll::Ready(Heard::Stopped);
        }
        match Pin::new(run).poll_next(cx) {
            Poll::Ready(Some(AgentEvent::Completed(completed))) => {
                Poll::Ready(Heard::Completed(completed))
            }
            Poll::Ready(Some(AgentEvent::Failed(failure))) => Poll::Ready(Heard::Failed(failure)),
            Poll::Ready(Some(event)) => Poll::Ready(Heard::Said(event)),
            Poll::Ready(None) => Poll::Ready(Heard::Ended),
            Poll::Pending => self.live.poll_aborted(cx).map(|()| Heard::Stopped),
        }
    }

    /// A run is over. Takes the next prompt, or closes the window.
    fn next(&mut self) -> After {
        let (after, leftover) = self.desk.book().next(&self.key);
        drop(leftover);
        self.closed = matches!(after, After::Over { .. });
        after
    }

    /// Closes the window. Answers whether somebody had stopped the turn.
    fn close(&mut self) -> bool {
        if self.closed {
            return false;
        }
        self.closed = true;
        let mut leftover = Leftover::default();
        let aborted = self.desk.book().close(&self.key, &mut leftover);
        drop(leftover);
        aborted
    }

    /// Observers see the end, which comes now.
    fn complete(&self, completed: Completed) -> Completed {
        self.live
            .ring
            .tell(&AgentEvent::Completed(completed.clone()));
        completed
    }

    /// The turn fails: as somebody has ordered, or by itself.
    fn fail(&mut self, failure: Option<Failure>) -> Failure {
        let aborted = self.close();
        let failure = failure
            .filter(|_| !aborted)
            .unwrap_or_else(|| Failure::with_code(FailureCode::ABORTED, "the turn was stopped"));
        self.live.ring.tell(&AgentEvent::Failed(failure.clone()));
        failure
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.close();
        self.live.ring.end();
    }
}
