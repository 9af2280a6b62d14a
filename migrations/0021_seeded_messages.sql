-- A thread may be given messages that no run of it said: what was said elsewhere before. They have no run, so the column
-- that names it may be null, for which SQLite wants the table written anew.
CREATE TABLE new_thread_messages (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  thread_id     TEXT    NOT NULL,
  position      INTEGER NOT NULL, -- Counts from 1 within the thread.
  id            TEXT    NOT NULL, -- Of the message in its run, or its own.
  run_id        TEXT,             -- NULL for a message that was put in.
  message       TEXT    NOT NULL, -- JSON, as runs show it.
  prompt        TEXT    NOT NULL, -- JSON, as models read it.
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, thread_id, position),
  UNIQUE (project_id, environment, id),
  FOREIGN KEY (project_id, environment, thread_id) REFERENCES threads (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT;
INSERT INTO new_thread_messages SELECT * FROM thread_messages;
DROP TABLE thread_messages;
ALTER TABLE new_thread_messages RENAME TO thread_messages;
CREATE INDEX thread_messages_by_run ON thread_messages (project_id, environment, run_id) WHERE run_id IS NOT NULL;
