-- Runs after which facts of their user are to be learned. A row is written with its run, and goes in the write that creates the
-- run which learns: so a crash can neither lose one nor learn from one twice.
CREATE TABLE fact_work (
  project_id  TEXT NOT NULL,
  environment TEXT NOT NULL,
  run_id      TEXT NOT NULL,
  memory_id   TEXT NOT NULL, -- Where the facts go. No foreign key: the store may be deleted.
  PRIMARY KEY (project_id, environment, run_id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- Runs that learn. What one of them has found is written in the transaction that ends it.
CREATE TABLE fact_runs (
  project_id    TEXT NOT NULL,
  environment   TEXT NOT NULL,
  run_id        TEXT NOT NULL,
  source_run_id TEXT NOT NULL, -- The run that it learns from. No foreign key: it may be deleted.
  memory_id     TEXT NOT NULL,
  user_id       TEXT NOT NULL,
  known         TEXT NOT NULL, -- JSON: the entries that it was shown, in the order of their numbers.
  is_open       INTEGER CHECK (is_open = 1), -- NULL once it is over.
  PRIMARY KEY (project_id, environment, run_id),
  FOREIGN KEY (project_id, environment, run_id) REFERENCES runs (project_id, environment, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
-- One at a time for a user: two that know nothing of one another would note the same fact twice.
CREATE UNIQUE INDEX fact_runs_open ON fact_runs (project_id, environment, memory_id, user_id) WHERE is_open = 1;
