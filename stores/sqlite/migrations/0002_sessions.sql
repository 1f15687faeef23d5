-- What engines remember of their sessions. `used` is a counter: the highest was used last.

CREATE TABLE sessions (
    key  TEXT    PRIMARY KEY,
    note TEXT    NOT NULL,
    used INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_by_use ON sessions (used);
