-- Conversations over several runs. Which run is in the way of the next is asked of the runs themselves.
CREATE TABLE threads (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  title         TEXT,
  user_id       TEXT,
  session_id    TEXT,
  message_count INTEGER NOT NULL DEFAULT 0,
  last_run_id   TEXT, -- No foreign key: it may be deleted.
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id)
) STRICT;
CREATE INDEX threads_by_user ON threads (project_id, environment, user_id, id) WHERE user_id IS NOT NULL;
CREATE INDEX threads_by_session ON threads (project_id, environment, session_id, id) WHERE session_id IS NOT NULL;

-- What was said in a thread, written in the transaction that ends a run: the next one reads it, and people page it.
CREATE TABLE thread_messages (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL,
  thread_id     TEXT    NOT NULL,
  position      INTEGER NOT NULL, -- Counts from 1 within the thread.
  id            TEXT    NOT NULL, -- Of the message in its run.
  run_id        TEXT    NOT NULL,
  message       TEXT    NOT NULL, -- JSON, as runs show it.
  prompt        TEXT    NOT NULL, -- JSON, as models read it.
  created_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, thread_id, position),
  UNIQUE (project_id, environment, id),
  FOREIGN KEY (project_id, environment, thread_id) REFERENCES threads (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX thread_messages_by_run ON thread_messages (project_id, environment, run_id);

-- The runs of a thread that are not over: who is at work in it, and who waits for that.
CREATE INDEX runs_in_thread ON runs (project_id, environment, thread_id, id)
  WHERE thread_id IS NOT NULL AND ended_at_ms IS NULL;
-- One run at a time, whatever the code believes.
CREATE UNIQUE INDEX runs_one_in_thread ON runs (project_id, environment, thread_id)
  WHERE thread_id IS NOT NULL AND status IN ('in_progress', 'requires_action');
