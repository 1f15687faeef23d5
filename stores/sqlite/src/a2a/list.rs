use portcullis_a2a::{
    log::{Cursor, ListPage, ListQuery, status_millis},
    model::Task,
};
use rusqlite::{Connection, ToSql};

use super::fold;

pub(super) fn list(connection: &Connection, query: &ListQuery) -> rusqlite::Result<ListPage> {
    let mut filters = String::from("tenant = :tenant AND account = :account");
    let owner = query.owner();
    let (tenant, account) = (owner.tenant(), owner.account());
    let mut parameters: Vec<(&str, &dyn ToSql)> =
        vec![(":tenant", &tenant), (":account", &account)];
    let context = query.context_id();
    if context.is_some() {
        filters.push_str(" AND context_id = :context");
        parameters.push((":context", &context));
    }
    let state = query.state().map(|state| state.number());
    if state.is_some() {
        filters.push_str(" AND state = :state");
        parameters.push((":state", &state));
    }
    if query.wants_unfinished() {
        filters.push_str(" AND finished = 0");
    }
    let since = query.since().map(|time| status_millis(Some(time)));
    if since.is_some() {
        filters.push_str(" AND changed >= :since");
        parameters.push((":since", &since));
    }
    let total: i64 = connection
        .prepare_cached(&format!("SELECT count(*) FROM tasks WHERE {filters}"))?
        .query_row(&*parameters, |row| row.get(0))?;
    let total = usize::try_from(total).unwrap_or_default();
    if query.limit() == 0 {
        return Ok(ListPage::new(Vec::new(), None, total));
    }

    let changed = query.cursor().map(Cursor::millis);
    let id = query.cursor().map(Cursor::id);
    if query.cursor().is_some() {
        filters.push_str(" AND changed <= :changed AND (changed < :changed OR id > :id)");
        parameters.push((":changed", &changed));
        parameters.push((":id", &id));
    }
    let limit = i64::try_from(query.limit())
        .unwrap_or(i64::MAX)
        .saturating_add(1);
    parameters.push((":limit", &limit));
    let mut rows: Vec<(i64, i64, String)> = connection
        .prepare_cached(&format!(
            "SELECT task, changed, id FROM tasks WHERE {filters}
             ORDER BY changed DESC, id LIMIT :limit"
        ))?
        .query_map(&*parameters, |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<Result<_, _>>()?;
    let more = rows.len() > query.limit();
    rows.truncate(query.limit());
    let next = rows
        .last()
        .filter(|_| more)
        .map(|(_, changed, id)| Cursor::new(*changed, id.as_str()));
    let tasks = rows
        .into_iter()
        .map(|(task, ..)| shown(connection, task, query))
        .collect::<Result<_, _>>()?;
    Ok(ListPage::new(tasks, next, total))
}

/// As much of a task as the list asks for.
fn shown(connection: &Connection, task: i64, query: &ListQuery) -> rusqlite::Result<Task> {
    let mut shown = if query.wants_artifacts() {
        fold::whole(connection, task)?.0
    } else {
        fold::without_artifacts(connection, task)?
    };
    if !query.wants_history() {
        shown.history = Vec::new();
    }
    Ok(shown)
}
