-- What somebody thinks of a run: a person who chats, a program that evaluates, a member at the dashboard. Each has one score
-- of a name for a run and may change it, so whoever clicks without end writes one row.
CREATE TABLE scores (
  project_id    TEXT    NOT NULL,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  run_id        TEXT    NOT NULL,
  agent_id      TEXT    NOT NULL, -- Of the run, as the next one is: lists are narrowed by both.
  thread_id     TEXT,
  name          TEXT    NOT NULL,
  source        TEXT    NOT NULL CHECK (source IN ('client', 'api_key', 'user')),
  author_id     TEXT    NOT NULL, -- Empty for API keys, which share a score, and for a client of nobody in particular.
  value         REAL    NOT NULL,
  comment       TEXT,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, run_id, name, source, author_id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX scores_by_thread ON scores (project_id, environment, thread_id, id) WHERE thread_id IS NOT NULL;
