-- Budgets: accounts, and the leases of turns that run. Counts are decimal numbers in the order of
-- the meters, separated by spaces; of limits `-` is none. Times are microseconds on the ledger's clock.

CREATE TABLE ledger_accounts (
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    -- 0 and the empty text are none.
    window   INTEGER NOT NULL,
    currency TEXT    NOT NULL,
    used     TEXT    NOT NULL,
    carry    TEXT    NOT NULL,
    limits   TEXT    NOT NULL,
    at       INTEGER NOT NULL,
    -- When all has come back. NULL: never.
    forget   INTEGER,
    PRIMARY KEY (kind, id, window, currency)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_accounts_to_forget ON ledger_accounts (forget) WHERE forget IS NOT NULL;

CREATE TABLE ledger_claims (
    lease    INTEGER NOT NULL,
    place    INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    window   INTEGER NOT NULL,
    currency TEXT    NOT NULL,
    limits   TEXT    NOT NULL,
    slice    TEXT    NOT NULL,
    -- What the turn has used, and when the lease runs out.
    used     TEXT    NOT NULL,
    until    INTEGER NOT NULL,
    PRIMARY KEY (lease, place)
) STRICT, WITHOUT ROWID;

CREATE INDEX ledger_claims_of_account ON ledger_claims (kind, id, window, currency);
