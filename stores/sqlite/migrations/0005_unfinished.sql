-- How many tasks of an owner, and of a context, are not finished is counted before another one is
-- opened, from this index alone.
CREATE INDEX tasks_unfinished ON tasks (tenant, account, context_id, finished)
    WHERE finished = 0;
