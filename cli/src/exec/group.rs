use rustix::process::{Pid, Signal, kill_process_group};

/// A process group that is killed when this is dropped.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<Pid>,
}

impl Group {
    /// The group that a child leads. Made while the child is not yet waited for.
    pub(super) fn of(leader: Option<u32>) -> Self {
        let leader = leader
            .and_then(|pid| i32::try_from(pid).ok())
            .and_then(Pid::from_raw);
        Self { leader }
    }

    /// Kills whoever is left in the group.
    ///
    /// As long as anybody is, the kernel gives the number to nobody else. When nobody is,
    /// this comes right after the leader was waited for, before numbers have gone round.
    pub(super) fn kill(&mut self) {
        if let Some(leader) = self.leader.take()
            && let Err(error) = kill_process_group(leader, Signal::KILL)
            && error != rustix::io::Errno::SRCH
        {
            tracing::warn!(%error, "a program's process group cannot be killed");
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
