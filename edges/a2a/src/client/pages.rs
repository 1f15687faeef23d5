use std::{
    collections::{HashSet, VecDeque},
    fmt,
    hash::{BuildHasher, RandomState},
    pin::Pin,
    task::{Context, Poll, ready},
};

use futures_core::Stream;
use futures_util::future::BoxFuture;

use super::{connection::Client, error::CallError, transport::Transport};
use crate::model::{
    ListTaskPushNotificationConfigsRequest, ListTasksRequest, Task, TaskPushNotificationConfig,
};

/// Everything that a list has, page after page. A page is fetched when the one before is used up.
///
/// It ends after the first error, and where the server says that a page is the last: a page without
/// anything on it is not (A2A-OP-77). A server that leads in a circle is told so.
#[must_use]
pub struct Pages<I> {
    fetch: Box<dyn Fn(String) -> Fetching<I> + Send + Sync>,
    fetching: Option<Fetching<I>>,
    items: VecDeque<I>,
    /// Of the tokens so far, which a server may make as long as it likes.
    seen: HashSet<u64>,
    hasher: RandomState,
}

type Fetching<I> = BoxFuture<'static, Result<(Vec<I>, String), CallError>>;

impl<T: Transport> Client<T> {
    /// All tasks that the request is about, from its page on.
    ///
    /// ```no_run
    /// use futures_util::TryStreamExt;
    /// use portcullis_a2a::{client::{CallError, Client, Transport}, model::ListTasksRequest};
    ///
    /// # async fn doc(client: Client<impl Transport>) -> Result<(), CallError> {
    /// let mut tasks = client.list_all_tasks(ListTasksRequest::default());
    /// while let Some(task) = tasks.try_next().await? {
    ///     println!("{}", task.id);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list_all_tasks(&self, request: ListTasksRequest) -> Pages<Task> {
        let client = self.clone();
        Pages::new(request.page_token.clone(), move |token| {
            let (client, mut request) = (client.clone(), request.clone());
            request.page_token = token;
            Box::pin(async move {
                let page = client.list_tasks(&request).await?;
                Ok((page.tasks, page.next_page_token))
            })
        })
    }

    /// All webhooks of a task, from the request's page on.
    pub fn list_all_push_configs(
        &self,
        request: ListTaskPushNotificationConfigsRequest,
    ) -> Pages<TaskPushNotificationConfig> {
        let client = self.clone();
        Pages::new(request.page_token.clone(), move |token| {
            let (client, mut request) = (client.clone(), request.clone());
            request.page_token = token;
            Box::pin(async move {
                let page = client.list_push_configs(&request).await?;
                Ok((page.configs, page.next_page_token))
            })
        })
    }
}

impl<I> Pages<I> {
    fn new(first: String, fetch: impl Fn(String) -> Fetching<I> + Send + Sync + 'static) -> Self {
        Self {
            fetching: Some(fetch(first)),
            fetch: Box::new(fetch),
            items: VecDeque::new(),
            seen: HashSet::new(),
            hasher: RandomState::new(),
        }
    }

    fn turn(&mut self, token: String) -> Result<(), CallError> {
        if token.is_empty() {
            return Ok(());
        }
        if !self.seen.insert(self.hasher.hash_one(&token)) {
            return Err(CallError::protocol("the pages of the list go in a circle"));
        }
        self.fetching = Some((self.fetch)(token));
        Ok(())
    }
}

impl<I: Unpin> Stream for Pages<I> {
    type Item = Result<I, CallError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            if let Some(item) = self.items.pop_front() {
                return Poll::Ready(Some(Ok(item)));
            }
            let Some(fetching) = &mut self.fetching else {
                return Poll::Ready(None);
            };
            let page = ready!(fetching.as_mut().poll(cx));
            self.fetching = None;
            let turned = page.and_then(|(items, next)| {
                self.items = items.into();
                self.turn(next)
            });
            if let Err(error) = turned {
                self.items.clear();
                return Poll::Ready(Some(Err(error)));
            }
        }
    }
}

impl<I> fmt::Debug for Pages<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}
