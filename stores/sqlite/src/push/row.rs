use portcullis_a2a::{
    log::{Owner, Seq, TaskKey},
    model::TaskPushNotificationConfig,
    server::push::{Registration, Retired},
};
use rusqlite::{Row, types::Type};

/// The columns of [`registration`], in its order.
pub(super) const COLUMNS: &str = "tenant, account, task, json, after, retired";

pub(super) fn registration(row: &Row<'_>) -> rusqlite::Result<Registration> {
    let (tenant, account, task): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
    let key = TaskKey::new(Owner::from_parts(&tenant, &account), task);
    let after = Seq::new(u64::try_from(row.get::<_, i64>(4)?).unwrap_or(0));
    let mut registration = Registration::new(key, config(row, 3)?, after);
    registration.retired = row
        .get::<_, Option<u8>>(5)?
        .map(|code| Retired::from_code(code).unwrap_or(Retired::Failed));
    Ok(registration)
}

pub(super) fn config(row: &Row<'_>, column: usize) -> rusqlite::Result<TaskPushNotificationConfig> {
    let json: String = row.get(column)?;
    serde_json::from_str(&json).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(column, Type::Text, error.into())
    })
}

pub(super) fn signed(seq: Seq) -> i64 {
    i64::try_from(seq.number()).unwrap_or(i64::MAX)
}
