//! What has to happen beside the turns: saying that this process lives, taking up what
//! dead ones have left, failing what could not be failed before, and letting go of old
//! tasks.

use std::{sync::Arc, time::SystemTime};

use portcullis::Principal;

use super::{
    EVENTS_EXTENSION, Server,
    check::{self, Standing},
    operations::{Begins, Continued},
    runner::fail_at_log,
    server::WeakServer,
};
use crate::{
    log::{Orphan, Owner, Snapshot},
    model::{Error, Role, SendMessageRequest},
};

/// Runs as long as there is a server.
pub(super) async fn run(server: WeakServer) {
    loop {
        let Some(live) = server.upgrade() else { return };
        // What failed is logged where it failed, and comes again.
        let _again = recover(&live).await;
        retry_left_behind(&live).await;
        drop(live);
        tokio::time::sleep(server.pause).await;
        let Some(live) = server.upgrade() else { return };
        retain(&live).await;
    }
}

/// Renews the lease and takes up orphans.
pub(super) async fn recover(server: &Server) -> Result<usize, Error> {
    let core = server.core();
    // The log hands each orphan over once, to whoever asks first.
    let _alone = core.recovering.lock().await;
    let now = SystemTime::now();
    core.log
        .renew(&core.holder, now + core.limits.lease)
        .await
        .map_err(|error| check::internal(core, error))?;
    let mut count = 0;
    loop {
        let orphans = core
            .log
            .orphans(&core.holder, now, ORPHANS_AT_ONCE)
            .await
            .map_err(|error| check::internal(core, error))?;
        let last = orphans.len() < ORPHANS_AT_ONCE;
        for orphan in orphans {
            if server.runs().of(orphan.key()).is_none() {
                take_up(server, &orphan).await;
                count += 1;
            }
        }
        if last {
            return Ok(count);
        }
    }
}

/// Runs a task again of which nobody has seen anything; fails any other one (critique B7).
async fn take_up(server: &Server, orphan: &Orphan) {
    let core = server.core();
    let key = orphan.key();
    if orphan.is_untouched()
        && let Ok(Some(snapshot)) = core.log.snapshot(key).await
        && snapshot.seq() == orphan.seq()
        && run_again(server, orphan, snapshot).is_ok()
    {
        tracing::info!(task = key.id(), "a task that nobody had begun is run again");
        return;
    }
    tracing::warn!(task = key.id(), state = %orphan.state(), "a task lost its process and fails");
    if !fail_at_log(core, key, "The server stopped while the task was running.").await {
        core.leave_behind(key.clone());
    }
}

fn run_again(server: &Server, orphan: &Orphan, snapshot: Snapshot) -> Result<(), Error> {
    let task = snapshot.into_task();
    let message = task
        .history
        .iter()
        .rfind(|message| message.role == Role::User)
        .cloned()
        .ok_or_else(|| Error::internal("the task holds no message"))?;
    let owner = orphan.key().owner();
    let extensions = if task.metadata.get(EVENTS_EXTENSION).is_some() {
        vec![EVENTS_EXTENSION.to_owned()]
    } else {
        Vec::new()
    };
    let standing = Standing {
        owner: owner.clone(),
        tenant: Some(owner.tenant_in_namespace().to_owned()).filter(|tenant| !tenant.is_empty()),
        principal: principal_of(owner),
        extensions,
        trace: None,
        peer: None,
    };
    let task = Arc::new(task);
    let continued = Continued {
        before: Arc::clone(&task),
        task,
        seq: orphan.seq(),
        resumption: None,
    };
    let request = SendMessageRequest::new(message);
    // Nobody waits, so a refusal has to become a state of the task.
    server
        .start(
            orphan.key().clone(),
            standing,
            request,
            Begins::Continued(continued),
            true,
        )
        .map(drop)
}

/// The principal that an owner was made of.
fn principal_of(owner: &Owner) -> Option<Principal> {
    let [kind, issuer, subject]: [String; 3] = serde_json::from_str(owner.account()).ok()?;
    Some(Principal::new(kind, issuer, subject))
}

/// Tasks that could not be failed when their log did not work (O-L15).
async fn retry_left_behind(server: &Server) {
    let core = server.core();
    for key in core.take_left_behind() {
        if !fail_at_log(core, &key, "The task could not be stored.").await {
            core.leave_behind(key);
        }
    }
}

async fn retain(server: &Server) {
    // By the clock that the statuses were stamped with.
    let now = SystemTime::from(server.core().clock.now());
    if let Err(error) = server.core().log.retain(now).await {
        tracing::warn!(%error, "old tasks could not be let go");
    }
}

const ORPHANS_AT_ONCE: usize = 64;
