-- Webhooks, and how far each has come in the log of its task.

CREATE TABLE webhooks (
    webhook  INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant   TEXT    NOT NULL,
    account  TEXT    NOT NULL,
    task     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    -- The configuration as JSON, credentials included.
    json     TEXT    NOT NULL,
    after    INTEGER NOT NULL,
    -- Why nothing is delivered any more, and the place in the order of retiring.
    retired  INTEGER,
    ordinal  INTEGER,
    UNIQUE (tenant, account, task, id)
) STRICT;

CREATE INDEX webhooks_active ON webhooks (tenant, account, task, id) WHERE retired IS NULL;
CREATE INDEX webhooks_retired ON webhooks (ordinal) WHERE retired IS NOT NULL;
