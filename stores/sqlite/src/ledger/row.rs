//! How the ledger's types stand in columns.

use std::time::Duration;

use portcullis_layers::budget::{Account, Amounts, Balance, Currency, Limits, Meter, Window};
use rusqlite::{Connection, OptionalExtension, Row, types::Type};

/// The key of an account in four columns: kind, id, window, currency.
pub(super) fn key(account: &Account) -> (&str, &str, i64, String) {
    let window = account.window().map_or(0, |window| signed(window.micros()));
    let currency = account.currency();
    let currency = currency.map_or(String::new(), |currency| currency.to_string());
    (account.kind(), account.id(), window, currency)
}

pub(super) fn account(row: &Row<'_>, column: usize) -> rusqlite::Result<Account> {
    let (kind, id): (String, String) = (row.get(column)?, row.get(column + 1)?);
    let mut account = Account::new(kind, id);
    let window = unsigned(row, column + 2)?;
    if window > 0 {
        let window = Window::new(Duration::from_micros(window));
        account = account.per(window.ok_or_else(|| damaged(column + 2, "no window"))?);
    }
    let currency: String = row.get(column + 3)?;
    if !currency.is_empty() {
        let currency: Currency = currency
            .parse()
            .map_err(|error| damaged(column + 3, error))?;
        account = account.in_currency(currency);
    }
    Ok(account)
}

/// Counts of all meters.
pub(super) fn amounts_text(amounts: &Amounts) -> String {
    let counts = Meter::ALL.map(|meter| amounts.of(meter).to_string());
    counts.join(" ")
}

/// A meter that the writer did not know has no count.
pub(super) fn amounts(row: &Row<'_>, column: usize) -> rusqlite::Result<Amounts> {
    let text = row.get_ref(column)?.as_str()?;
    let mut amounts = Amounts::ZERO;
    for (meter, count) in Meter::ALL.into_iter().zip(text.split(' ')) {
        amounts = amounts.with(meter, number(count, column)?);
    }
    Ok(amounts)
}

pub(super) fn limits_text(limits: &Limits) -> String {
    let limits = Meter::ALL.map(|meter| match limits.on(meter) {
        Some(limit) => limit.to_string(),
        None => "-".to_owned(),
    });
    limits.join(" ")
}

pub(super) fn limits(row: &Row<'_>, column: usize) -> rusqlite::Result<Limits> {
    let text = row.get_ref(column)?.as_str()?;
    let mut limits: Option<Limits> = None;
    for (meter, limit) in Meter::ALL.into_iter().zip(text.split(' ')) {
        if limit != "-" {
            let limit = number(limit, column)?;
            limits = Some(match limits {
                Some(limits) => limits.and(meter, limit),
                None => Limits::of(meter, limit),
            });
        }
    }
    limits.ok_or_else(|| damaged(column, "no limit"))
}

/// A balance of the columns used, carry, limits, at.
pub(super) fn balance(row: &Row<'_>, column: usize) -> rusqlite::Result<Balance> {
    let mut balance = Balance::new(limits(row, column + 2)?, unsigned(row, column + 3)?);
    balance.used = amounts(row, column)?;
    balance.carry = amounts(row, column + 1)?;
    Ok(balance)
}

pub(super) fn find(
    connection: &Connection,
    account: &Account,
) -> rusqlite::Result<Option<Balance>> {
    connection
        .prepare_cached(
            "SELECT used, carry, limits, at FROM ledger_accounts
             WHERE kind = ?1 AND id = ?2 AND window = ?3 AND currency = ?4",
        )?
        .query_row(key(account), |row| balance(row, 0))
        .optional()
}

/// Forgets accounts of which all has come back, and that no lease holds. Answers how many.
pub(super) fn forget(connection: &Connection, now: i64) -> rusqlite::Result<usize> {
    connection
        .prepare_cached(
            "DELETE FROM ledger_accounts AS account WHERE forget <= ?1 AND NOT EXISTS (
                 SELECT 1 FROM ledger_claims AS claim
                 WHERE claim.kind = account.kind AND claim.id = account.id
                   AND claim.window = account.window AND claim.currency = account.currency)",
        )?
        .execute([now])
}

pub(super) fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    let number: i64 = row.get(column)?;
    u64::try_from(number).map_err(|_| damaged(column, "a negative number"))
}

pub(super) fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn number(text: &str, column: usize) -> rusqlite::Result<u64> {
    text.parse().map_err(|error| damaged(column, error))
}

/// What no version of this program has written.
fn damaged<E>(column: usize, what: E) -> rusqlite::Error
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    rusqlite::Error::FromSqlConversionFailure(column, Type::Text, what.into())
}
