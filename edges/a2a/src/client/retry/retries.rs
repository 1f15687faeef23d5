use std::{sync::Arc, time::Duration};

use tokio::time::sleep;

use super::{budget::Budget, unsent::is_unsent};
use crate::{
    client::{backoff::Backoff, error::CallError},
    model::{ErrorKind, Operation},
};

/// Which calls are made again, and how often.
///
/// | what went wrong | reading calls | others |
/// |---|---|---|
/// | nothing was sent: connection refused, [`Unsent`](super::Unsent) | again | again |
/// | refused with `Retry-After`, status 429 or 503 | again | again |
/// | connection broken, no reply in time, a reply that does not end | again | error |
/// | status 408, 425, 429, 502, 503, 504; `Unavailable`, `ResourceExhausted` | again | error |
/// | every other status, refusal or fault | error | error |
///
/// Reading are `GetTask`, `ListTasks`, `SubscribeToTask`, both reads of webhooks and
/// `GetExtendedAgentCard`. A message that may have arrived is not sent again: the agent would do the
/// work twice.
///
/// All clones of a client share a budget, which grows by one retry for every ten calls: when an agent
/// is down, it gets little more than the calls themselves. Put no other retry around this one:
/// their tries would multiply.
#[derive(Clone, Debug)]
#[must_use]
pub struct Retries {
    tries: u32,
    backoff: Backoff,
    budget: Arc<Budget>,
}

impl Retries {
    /// Up to three tries in all, from a tenth of a second to ten seconds apart.
    pub fn new() -> Self {
        Self {
            tries: 3,
            backoff: Backoff {
                first: Duration::from_millis(100),
                most: Duration::from_secs(10),
            },
            budget: Arc::new(Budget::new()),
        }
    }

    /// How often a call is made at most, the first time counted.
    pub const fn tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// How long to wait before the second try, and at most before any. Each waits up to twice as
    /// long as the one before, or as long as the server asks for; one that asks for more than
    /// `most` is not waited for.
    pub const fn waits(mut self, first: Duration, most: Duration) -> Self {
        self.backoff = Backoff { first, most };
        self
    }
}

impl Default for Retries {
    fn default() -> Self {
        Self::new()
    }
}

/// The tries of one call.
pub(in crate::client) struct Attempts<'a> {
    retries: Option<&'a Retries>,
    operation: Operation,
    made: u32,
}

impl<'a> Attempts<'a> {
    pub(in crate::client) fn new(retries: Option<&'a Retries>, operation: Operation) -> Self {
        if let Some(retries) = retries {
            retries.budget.pay_in();
        }
        Self {
            retries,
            operation,
            made: 0,
        }
    }

    /// Waits until it is time for another try.
    ///
    /// # Errors
    /// The one of the call, when no try is left or may be made.
    pub(in crate::client) async fn after(&mut self, error: CallError) -> Result<(), CallError> {
        self.made += 1;
        let Some(retries) = self.retries else {
            return Err(error);
        };
        let asked = error.retry_after();
        let wait = retries.backoff.delay_after(self.made - 1, asked);
        let (Some(wait), true) = (wait, self.may_be_made_again(&error)) else {
            return Err(error);
        };
        if self.made >= retries.tries || !retries.budget.take_out() {
            return Err(error);
        }
        tracing::debug!(%error, operation = %self.operation, made = self.made, "a call is made again");
        sleep(wait).await;
        Ok(())
    }

    fn may_be_made_again(&self, error: &CallError) -> bool {
        let said = match error {
            CallError::Transport(cause) if is_unsent(&**cause) => return true,
            CallError::Transport(_) | CallError::NoReply | CallError::Slow => true,
            CallError::Status { status, .. } => {
                matches!(status.as_u16(), 408 | 425 | 429 | 502 | 503 | 504)
            }
            CallError::Refused(refusal) => matches!(
                refusal.kind(),
                ErrorKind::Unavailable | ErrorKind::ResourceExhausted
            ),
            _ => false,
        };
        said && (reads(self.operation) || error.retry_after().is_some() && is_refusal(error))
    }
}

/// Whether a call changes nothing.
const fn reads(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::GetTask
            | Operation::ListTasks
            | Operation::SubscribeToTask
            | Operation::GetTaskPushNotificationConfig
            | Operation::ListTaskPushNotificationConfigs
            | Operation::GetExtendedAgentCard
    )
}

/// Whether the server has taken nothing on.
fn is_refusal(error: &CallError) -> bool {
    match error {
        CallError::Status { status, .. } => matches!(status.as_u16(), 429 | 503),
        CallError::Refused(_) => true,
        _ => false,
    }
}
