use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{Server, check};
use crate::{
    log::{ListQuery, Owner},
    model::{Error, ErrorKind},
};

/// How many tasks are about to be opened.
///
/// The log knows how many there are that are not finished, but not those whose turn has yet to
/// store something. Whoever is admitted counts here until then, so that those who come at once
/// are no more than one after the other.
#[derive(Default)]
pub(super) struct Admissions(Mutex<HashMap<Group, usize>>);

/// The tasks of an owner, or of one context of theirs.
type Group = (Owner, Option<String>);

impl Server {
    /// Admits one more task, if its owner has not left too many unfinished, nor in the context,
    /// if that may be there.
    pub(super) async fn admit_task(
        &self,
        owner: &Owner,
        context_id: Option<&str>,
    ) -> Result<Admission, Error> {
        let core = self.core();
        let limits = &core.limits;
        let mut admission = Admission {
            admissions: Arc::clone(&core.admissions),
            groups: Vec::with_capacity(2),
        };
        let of_owner = (
            None,
            limits.owner_tasks,
            "Too many tasks of yours are not finished",
        );
        let of_context = context_id.map(|context_id| {
            let message = "Too many tasks of this context are not finished";
            (Some(context_id), limits.context_tasks, message)
        });
        for (context_id, most, message) in [of_owner].into_iter().chain(of_context) {
            // Before the log is asked: a task is missing in neither of the two counts.
            let opening = admission.enter((owner.clone(), context_id.map(str::to_owned)));
            let mut query = ListQuery::new(owner.clone(), 0).unfinished();
            if let Some(context_id) = context_id {
                query = query.in_context(context_id);
            }
            let page = core.log.list(query).await;
            let unfinished = page
                .map_err(|error| check::internal(core, error))?
                .total_size();
            if unfinished.saturating_add(opening) > most {
                return Err(limits.refusal(ErrorKind::ResourceExhausted, message));
            }
        }
        Ok(admission)
    }
}

impl Admissions {
    fn lock(&self) -> MutexGuard<'_, HashMap<Group, usize>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One that was admitted. To be dropped when its task is stored, or will not be.
pub(super) struct Admission {
    admissions: Arc<Admissions>,
    groups: Vec<Group>,
}

impl Admission {
    /// Counts as one more of a group, and says how many there are now.
    fn enter(&mut self, group: Group) -> usize {
        let mut admissions = self.admissions.lock();
        let count = admissions.entry(group.clone()).or_default();
        *count += 1;
        self.groups.push(group);
        *count
    }
}

impl Drop for Admission {
    fn drop(&mut self) {
        let mut admissions = self.admissions.lock();
        for group in &self.groups {
            if let Some(count) = admissions.get_mut(group) {
                *count -= 1;
                if *count == 0 {
                    admissions.remove(group);
                }
            }
        }
    }
}
