use crate::{
    log::ListQuery,
    model::{Error, ListTasksRequest, ListTasksResponse, TaskState},
    server::{Server, check, check::Standing, page_token},
};

use super::get::history_length;

impl Server {
    /// A2A-OP-72..82.
    pub(in crate::server) async fn list_tasks(
        &self,
        standing: &Standing,
        request: &ListTasksRequest,
    ) -> Result<ListTasksResponse, Error> {
        let owner = &standing.owner;
        let page_size = request.page_size.unwrap_or(DEFAULT_PAGE);
        // Small pages by default: no history unless it is asked for (A2A-OP-81).
        let history = history_length(request.history_length).unwrap_or(0);
        let limit = usize::try_from(page_size).unwrap_or(0);
        let mut query = ListQuery::new(owner.clone(), limit)
            .with_artifacts(request.include_artifacts.unwrap_or(false))
            .with_history(history > 0);
        if !request.context_id.is_empty() {
            query = query.in_context(request.context_id.as_str());
        }
        if request.status != TaskState::Unknown {
            query = query.in_state(request.status);
        }
        if let Some(since) = request.status_timestamp_after {
            query = query.changed_since(since);
        }
        if !request.page_token.is_empty() {
            let Some(cursor) = page_token::decode(&request.page_token, owner, request) else {
                let description = "is not a token of this list";
                return Err(Error::invalid_param("pageToken", description));
            };
            query = query.after(cursor);
        }
        let page = self
            .core()
            .log
            .list(query)
            .await
            .map_err(|error| check::internal(self.core(), error))?;
        let mut response = ListTasksResponse::new();
        response.page_size = page_size;
        response.total_size = i32::try_from(page.total_size()).unwrap_or(i32::MAX);
        if let Some(next) = page.next() {
            response.next_page_token = page_token::encode(next, owner, request);
        }
        response.tasks = page.into_tasks();
        for task in &mut response.tasks {
            task.limit_history(Some(history));
        }
        Ok(response)
    }
}

/// As many tasks as the protocol allows without being asked (A2A-OP-75).
const DEFAULT_PAGE: i32 = 50;
