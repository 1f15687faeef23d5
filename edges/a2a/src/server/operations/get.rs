use crate::{
    model::{Error, GetTaskRequest, Task},
    server::{Server, check, check::Standing},
};

impl Server {
    /// A2A-OP-69, A2A-OP-70.
    pub(in crate::server) async fn get_task(
        &self,
        standing: &Standing,
        request: &GetTaskRequest,
    ) -> Result<Task, Error> {
        let (_, snapshot) = check::task(self.core(), &standing.owner, &request.id).await?;
        let mut task = snapshot.into_task();
        task.limit_history(history_length(request.history_length));
        Ok(task)
    }
}

/// How many messages an answer may carry: all, unless the caller says otherwise.
pub(in crate::server) fn history_length(asked: Option<i32>) -> Option<usize> {
    asked.map(|length| usize::try_from(length).unwrap_or(0))
}
