use std::{error::Error, fmt};

use crate::{
    log::{Reply, Seq, TaskKey, Unavailable},
    model::TaskPushNotificationConfig,
    server::push::PushLimits,
};

/// The port to where webhooks live, with a cursor each.
///
/// Used as `Arc<dyn PushStore>`. The work of each method begins when it is called, whether or not its
/// reply is awaited, and is done in the order of the calls. What every backend promises is what
/// [`push_store_suite!`](crate::push_store_suite) checks:
///
/// - Limits hold exactly, however many put at once.
/// - A cursor never goes back.
/// - A webhook that was retired can be read and is not active; of those, the ones retired first go
///   when they become too many.
/// - Credentials are kept as they came, for delivery.
pub trait PushStore: Send + Sync + 'static {
    /// Stores a webhook. One of the same task and id is replaced, active again, and keeps its
    /// cursor if that is further. Answers with the webhook as it is stored now.
    fn put(
        &self,
        registration: Registration,
        limits: &PushLimits,
    ) -> Reply<Result<Registration, PutError>>;

    /// A webhook of a task.
    fn get(
        &self,
        key: &TaskKey,
        id: &str,
    ) -> Reply<Result<Option<TaskPushNotificationConfig>, Unavailable>>;

    /// Every webhook of a task, the oldest first.
    fn list(&self, key: &TaskKey) -> Reply<Result<Vec<TaskPushNotificationConfig>, Unavailable>>;

    /// Removes a webhook. Answers whether there was one.
    fn remove(&self, key: &TaskKey, id: &str) -> Reply<Result<bool, Unavailable>>;

    /// Moves the cursor of a webhook on to `after`, and retires it if there is a reason to. A
    /// webhook that is gone stays so.
    fn advance(
        &self,
        key: &TaskKey,
        id: &str,
        after: Seq,
        retired: Option<Retired>,
    ) -> Reply<Result<(), Unavailable>>;

    /// Up to `limit` active webhooks of all owners, in some order that lasts, behind one that was
    /// answered before.
    fn active(
        &self,
        behind: Option<(&TaskKey, &str)>,
        limit: usize,
    ) -> Reply<Result<Vec<Registration>, Unavailable>>;
}

/// A webhook, and how far it has come.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Registration {
    /// The task.
    pub key: TaskKey,
    /// The webhook. Its id is set.
    pub config: TaskPushNotificationConfig,
    /// The last update that needs no delivery any more.
    pub after: Seq,
    /// Why nothing is delivered to it, if so.
    pub retired: Option<Retired>,
}

impl Registration {
    /// An active webhook that wants what comes after `after`.
    #[must_use]
    pub const fn new(key: TaskKey, config: TaskPushNotificationConfig, after: Seq) -> Self {
        Self {
            key,
            config,
            after,
            retired: None,
        }
    }

    /// The same, retired.
    #[must_use]
    pub const fn retired(mut self, why: Retired) -> Self {
        self.retired = Some(why);
        self
    }
}

/// Why nothing is delivered to a webhook any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Retired {
    /// Its task is over, and that was delivered.
    Finished,
    /// It failed too often.
    Failed,
}

impl Retired {
    /// The number that stores write for it. It never changes.
    #[must_use]
    pub const fn code(self) -> u8 {
        match self {
            Self::Finished => 1,
            Self::Failed => 2,
        }
    }

    /// The reason with this number.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Finished),
            2 => Some(Self::Failed),
            _ => None,
        }
    }
}

/// A webhook was not stored.
#[derive(Debug)]
#[non_exhaustive]
pub enum PutError {
    /// The task has as many as it may have.
    TooManyOfTask,
    /// All tasks together have as many as they may have.
    TooMany,
    /// The store failed.
    Unavailable(Unavailable),
}

impl From<Unavailable> for PutError {
    fn from(error: Unavailable) -> Self {
        Self::Unavailable(error)
    }
}

impl fmt::Display for PutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TooManyOfTask => "the task has too many webhooks",
            Self::TooMany => "there are too many webhooks",
            Self::Unavailable(_) => "the webhook could not be stored",
        })
    }
}

impl Error for PutError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Unavailable(source) => Some(source),
            Self::TooManyOfTask | Self::TooMany => None,
        }
    }
}
