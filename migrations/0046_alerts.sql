-- What somebody should look at. A row is open until it is well again; each opening is told of once, also by the server's next start.
CREATE TABLE alerts (
  id           TEXT    PRIMARY KEY,
  rule         TEXT    NOT NULL,
  project_id   TEXT    REFERENCES projects (id) ON DELETE CASCADE, -- NULL: it concerns the whole server.
  environment  TEXT    CHECK (environment IN ('test', 'live')),
  subject      TEXT,             -- Which of several: the id of a webhook. NULL where there is one alone.
  detail       TEXT    NOT NULL, -- How it stood when it was opened.
  opened_at_ms INTEGER NOT NULL,
  closed_at_ms INTEGER
) STRICT;
CREATE INDEX alerts_open ON alerts (opened_at_ms) WHERE closed_at_ms IS NULL;
CREATE INDEX alerts_closed ON alerts (closed_at_ms) WHERE closed_at_ms IS NOT NULL;
CREATE INDEX alerts_by_project ON alerts (project_id) WHERE project_id IS NOT NULL;
