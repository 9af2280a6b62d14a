-- Runs pinned as fixtures: each is replayed against its agent as it is now. Retention leaves them alone.
CREATE TABLE suites (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  name          TEXT    NOT NULL,
  description   TEXT,
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  updated_at_ms INTEGER NOT NULL,
  PRIMARY KEY (project_id, environment, id),
  UNIQUE (project_id, environment, name)
) STRICT;

-- The reference to the run has no action: whoever deletes runs is stopped here at the latest.
CREATE TABLE suite_cases (
  project_id  TEXT    NOT NULL,
  environment TEXT    NOT NULL,
  suite_id    TEXT    NOT NULL,
  run_id      TEXT    NOT NULL,
  position    INTEGER NOT NULL, -- Counts from 1.
  agent_id    TEXT    NOT NULL, -- What follows is the run's, which is over and does not change.
  status      TEXT    NOT NULL,
  output      TEXT,             -- Its head.
  PRIMARY KEY (project_id, environment, suite_id, run_id),
  FOREIGN KEY (project_id, environment, suite_id) REFERENCES suites (project_id, environment, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id)
) STRICT;
CREATE INDEX suite_cases_by_run ON suite_cases (project_id, environment, run_id);

-- One performance of a suite, with the cases that the suite had when it began.
CREATE TABLE suite_runs (
  project_id    TEXT    NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  environment   TEXT    NOT NULL CHECK (environment IN ('test', 'live')),
  id            TEXT    NOT NULL,
  suite_id      TEXT    NOT NULL,
  status        TEXT    NOT NULL CHECK (status IN ('in_progress', 'passed', 'diverged', 'failed', 'cancelled')),
  live          TEXT,             -- JSON, as asked; null: nothing goes on live.
  metadata      TEXT    NOT NULL,
  created_at_ms INTEGER NOT NULL,
  ended_at_ms   INTEGER,
  PRIMARY KEY (project_id, environment, id),
  FOREIGN KEY (project_id, environment, suite_id) REFERENCES suites (project_id, environment, id) ON DELETE CASCADE
) STRICT;
CREATE INDEX suite_runs_by_suite ON suite_runs (project_id, environment, suite_id, id);
CREATE INDEX suite_runs_in_progress ON suite_runs (project_id, environment, id) WHERE ended_at_ms IS NULL;

CREATE TABLE suite_run_cases (
  project_id   TEXT    NOT NULL,
  environment  TEXT    NOT NULL,
  suite_run_id TEXT    NOT NULL,
  position     INTEGER NOT NULL,
  run_id       TEXT    NOT NULL, -- No foreign key: the suite may have let it go since.
  agent_id     TEXT    NOT NULL,
  status       TEXT    NOT NULL CHECK (status IN ('pending', 'equal', 'diverged', 'failed')),
  result       TEXT,             -- JSON, as far as it is known.
  PRIMARY KEY (project_id, environment, suite_run_id, position),
  FOREIGN KEY (project_id, environment, suite_run_id) REFERENCES suite_runs (project_id, environment, id)
    ON DELETE CASCADE
) STRICT;
