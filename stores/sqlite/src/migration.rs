use rusqlite::{Connection, TransactionBehavior};

/// The steps from one version of the schema to the next, the oldest first. A step that
/// has been released never changes.
const STEPS: [&str; 5] = [
    include_str!("../migrations/0001_task_log.sql"),
    include_str!("../migrations/0002_sessions.sql"),
    include_str!("../migrations/0003_ledger.sql"),
    include_str!("../migrations/0004_webhooks.sql"),
    include_str!("../migrations/0005_unfinished.sql"),
];

/// Marks a file as ours: `Port` in ASCII.
const APPLICATION_ID: i64 = 0x506f_7274;

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    /// Ours, or empty: the steps that are missing begin here.
    Ours(usize),
    Foreign,
    Newer(i64),
}

/// The version that this program knows.
pub(crate) const KNOWN: i64 = STEPS.len() as i64;

/// Looks without touching.
pub(crate) fn inspect(connection: &Connection) -> rusqlite::Result<Found> {
    let number = |pragma: &str| connection.pragma_query_value(None, pragma, |row| row.get(0));
    let version: i64 = number("user_version")?;
    let application: i64 = number("application_id")?;
    let objects: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let fresh = application == 0 && version == 0 && objects == 0;
    Ok(match usize::try_from(version) {
        _ if !fresh && application != APPLICATION_ID => Found::Foreign,
        Ok(version) if version <= STEPS.len() => Found::Ours(version),
        _ => Found::Newer(version),
    })
}

/// Brings the schema up to date, in one transaction.
pub(crate) fn migrate(connection: &mut Connection, version: usize) -> rusqlite::Result<()> {
    let steps = &STEPS[version..];
    if steps.is_empty() {
        return Ok(());
    }
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    for step in steps {
        transaction.execute_batch(step)?;
    }
    transaction.pragma_update(None, "user_version", KNOWN)?;
    transaction.commit()
}
