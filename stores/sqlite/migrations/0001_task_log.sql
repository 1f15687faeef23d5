-- The logs of tasks. An update is the JSON that a stream sends; a task is their fold.

CREATE TABLE tasks (
    task       INTEGER PRIMARY KEY,
    tenant     TEXT    NOT NULL,
    account    TEXT    NOT NULL,
    id         TEXT    NOT NULL,
    context_id TEXT    NOT NULL,
    -- Where the log ends, the state and its time (milliseconds since 1970), the length of the JSON.
    seq        INTEGER NOT NULL,
    state      INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    bytes      INTEGER NOT NULL,
    finished   INTEGER NOT NULL,
    holder     TEXT,
    UNIQUE (tenant, account, id)
) STRICT;

-- ListTasks: newest status first, the id breaks ties.
CREATE INDEX tasks_by_change ON tasks (tenant, account, changed DESC, id);
CREATE INDEX tasks_by_context ON tasks (tenant, account, context_id, changed DESC, id);
-- Retention and orphans.
CREATE INDEX tasks_finished ON tasks (changed, task) WHERE finished = 1;
CREATE INDEX tasks_running ON tasks (holder) WHERE finished = 0;

CREATE TABLE updates (
    task  INTEGER NOT NULL REFERENCES tasks (task) ON DELETE CASCADE,
    seq   INTEGER NOT NULL,
    kind  INTEGER NOT NULL,
    state INTEGER,
    json  TEXT    NOT NULL,
    PRIMARY KEY (task, seq)
) STRICT, WITHOUT ROWID;

-- All but artifacts: what a list needs.
CREATE INDEX updates_of_status ON updates (task, seq) WHERE kind IN (1, 2, 5);

-- Which artifacts a task has, so that an append to none is refused.
CREATE TABLE artifacts (
    task INTEGER NOT NULL REFERENCES tasks (task) ON DELETE CASCADE,
    id   TEXT    NOT NULL,
    PRIMARY KEY (task, id)
) STRICT, WITHOUT ROWID;

-- A long log folded up to a place, so that reading the task does not fold it all again.
CREATE TABLE folds (
    task INTEGER PRIMARY KEY REFERENCES tasks (task) ON DELETE CASCADE,
    seq  INTEGER NOT NULL,
    json TEXT    NOT NULL
) STRICT;

-- Until when each holder lives (milliseconds since 1970).
CREATE TABLE holders (
    name  TEXT    PRIMARY KEY,
    until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
